"""Facts about solvers for their pages: from their classes, docstrings and the registry."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orthobench_stiefel import ProductOracle, StiefelOracle
from plain import LITERAL

from orthobench.contract import Oracle
from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.registry.plugins import catalogue
from orthobench.tools.places import place_of

PAGES = Path(__file__).parents[1] / "methods"
COST = re.compile(r"^## Cost\n(.*?)^## ", re.DOTALL | re.MULTILINE)
MEMORY = re.compile(r"^Memory: (.+?)\.$", re.DOTALL | re.MULTILINE)
YEAR = re.compile(r".*?\b(?:18|19|20)\d\d\b")  # the names and the year of a reference
DOT = re.compile(r"(?<=\w)\.(?=[A-Za-z])")  # of a dotted name, after which a line may break
PLACES = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "cupy": "CuPy",
    "blocks": "NumPy on blocks of samples",
    "dask:1": "Dask",
}
"""Places at which solvers may compute, with the words for them."""

WITHIN = {"orthogonal group": "Stiefel manifold"}
"""Families of which another one's solvers take every problem too."""

MARKUP = re.compile(r"[\\|*_<\[\]]")


def built_in(kind: str) -> dict[str, type[Any]]:
    """Return the solvers or the problems that come with orthobench, by name."""
    found = getattr(catalogue(), kind)
    return {n: f.item for n, f in found.items() if f.plugin.distribution == "orthobench"}


def namesakes(name: str) -> list[type[Any]]:
    """Return the solvers of a name, of which each is for another family."""
    return [one.item for one in catalogue().solvers[name].all]


def sections(docstring: str) -> dict[str, list[str]]:
    """Return the lines of a numpydoc docstring by section; those before the first under ``""``."""
    found: dict[str, list[str]] = {"": []}
    lines, current = docstring.splitlines(), ""
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line and len(below) >= 3 and set(below) == {"-"}:
            current = line
            found[current] = []
        elif not (line and set(line) == {"-"}):
            found[current].append(line)
    return found


def references(cls: type[Any]) -> str:
    """Return the references of a solver's docstring, or its one-line source."""
    listed = " ".join(sections(inspect.getdoc(cls) or "").get("References", [])).strip()
    return listed or cls.source


def computes(cls: type[Any]) -> str:
    """Return the places of a solver, a sentence; empty if only NumPy will do."""
    able = [words for name, words in PLACES.items() if cls.computes_on(place_of(name))]
    if len(able) < 2 or hasattr(cls, "library"):  # a peer of one library
        return ""
    waits = "" if getattr(cls, "readings", 0) == 0 else " On a device steps wait for values."
    return f"Computes with {', '.join(able)} ([`on`](../guide/devices.md)).{waits}"


def memory(name: str) -> str:
    """Return the memory that a solver needs: the sentence ``Memory: ...`` of its page.

    Raises
    ------
    ValueError
        If the section on its cost has no such line.
    """
    cost = COST.search((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    found = MEMORY.search(cost[1]) if cost else None
    if found is None:
        raise ValueError(f"docs/methods/{name}.md: section Cost has no line 'Memory: ... .'")
    return " ".join(found[1].split())


def families() -> dict[str, set[type[Any]]]:
    """Return the kinds of oracle that the problems of each family offer.

    Batches of matrices do not count: they are further problems for some solvers of their family.
    """
    found: dict[str, set[type[Any]]] = {}
    for problem in built_in("problems").values():
        offers = problem.offers
        if issubclass(offers, StiefelOracle) or not issubclass(offers, ProductOracle):
            found.setdefault(problem.family, set()).add(offers)
    return found


def homes(cls: type[Any]) -> list[str]:
    """Return the families of a solver: those it takes entirely, or else those it takes in part.

    Samples of a moment are offered by symmetric Tucker problems too, but not by all of them, so a
    solver of stochastic PCA is listed under stochastic PCA only.
    """
    takes = {f: [issubclass(o, cls.needs) for o in offers] for f, offers in families().items()}
    entirely = [family for family, taken in takes.items() if all(taken)]
    return entirely or [family for family, taken in takes.items() if any(taken)]


def solvers_of(family: str) -> dict[str, type[Any]]:
    """Return the solvers of a family: reference solvers first, then those of other libraries."""
    known = ((n, c) for n in built_in("solvers") for c in namesakes(n))
    found = [(n, c) for n, c in known if family in homes(c)]
    return dict(sorted(found, key=lambda pair: bool(pair[1].packages)))


def summary(name: str, cls: type[Any]) -> str:
    """Return a phrase about a solver: its page's first sentence, or its docstring's.

    A page of solvers for several families describes the first of them.
    """
    if len(namesakes(name)) > 1:
        return markdown((inspect.getdoc(cls) or "").partition("\n")[0].rstrip("."))
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return " ".join(text.split("\n\n")[1].split()).rstrip(".")


def solver_rows(family: str) -> Iterator[str]:
    """Yield the lines of the table of a family's solvers, in Markdown."""
    yield "| solver | method | memory | source |"
    yield "|---|---|---|---|"
    listed_elsewhere = solvers_of(WITHIN[family]) if family in WITHIN else {}
    for name, cls in solvers_of(family).items():
        if name not in listed_elsewhere:
            until = YEAR.match(cls.source)
            source = until[0] if until else cls.source.rpartition(": ")[2]
            source = DOT.sub(".\u200b", markdown(source))
            yield f"| [{name}]({name}.md) | {summary(name, cls)} | {memory(name)} | {source} |"


def oracle_rows() -> Iterator[str]:
    """Yield the lines of the table of the oracles that problems offer, in Markdown.

    Oracles of a family that show a black box the same have one row.
    """
    yield "| family | `needs` | all of these have | a black box sees |"
    yield "|---|---|---|---|"
    rows: dict[tuple[str, str], list[type[Oracle]]] = {}
    offered = {p.offers: p.family for p in built_in("problems").values()}
    for cls, family in sorted(offered.items(), key=lambda one: (one[1], one[0].__name__)):
        shown = "; ".join(f"`{name}`: {markdown(text)}" for name, text in cls.shows.items())
        rows.setdefault((family, shown or "`X`: the samples so far"), []).append(cls)
    for (family, shown), classes in rows.items():
        names = ", ".join(f"`{_importable(cls)}`" for cls in classes)
        common = set.intersection(*map(_offers, classes))
        offers = ", ".join(f"`{name}`" for name in sorted(common))
        yield f"| {family} | {names} | {offers} | {shown} |"


def _importable(cls: type[Oracle]) -> str:
    package = cls.__module__.partition(".")[0]
    return f"{'orthobench.contract' if package == 'orthobench' else package}.{cls.__name__}"


def _offers(cls: type[Oracle]) -> set[str]:
    """Return the public names of an oracle beyond those that each oracle has."""
    own = {name for base in cls.__mro__[:-3] for name in vars(base) if name[0] != "_"}
    return own - {*vars(Oracle), "shows"}


def default(parameter: Parameter) -> str:
    """Return the default as users would write it."""
    if parameter.required:
        return "required"
    return "none" if parameter.default is None else f"`{str(parameter.default).lower()}`"


def parameter_rows(cls: type[Any]) -> Iterator[str]:
    """Yield the lines of the table of a solver's parameters, without `on` if `computes` has it."""
    own = [p for p in parameters_of(cls) if p.name != "on" or not computes(cls)]
    if own:
        yield "| parameter | type | default | |"
        yield "|---|---|---|---|"
    for p in own:
        kind = f"{p.type_name} {p.bounds}".strip().replace("|", "or")
        help_ = f"{p.help} ({p.unit})" if p.unit else p.help
        yield f"| `{p.name}` | {kind} | {default(p)} | {help_.replace('|', chr(92) + '|')} |"


def markdown(text: str) -> str:
    """Return a line in which nothing but literals is markup of Markdown."""
    literals = LITERAL.findall(text)
    plain = [MARKUP.sub(r"\\\g<0>", part) for part in LITERAL.split(text)]
    return "".join(a + b for a, b in zip(plain, [*literals, ""], strict=True))
