"""Listing of what is installed: as plain values, as tables, and as a page about one solver."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.errors import UsageError, unknown
from orthobench.registry.plugins import Plugin, Provided, Registry
from orthobench.report.origins import origins
from orthobench.tools import toml

Facts = Mapping[str, Any]
"""Plain values by name, which JSON can hold."""


def facts(registry: Registry) -> dict[str, list[dict[str, Any]]]:
    """Return what is installed as plain values: a list for each kind."""
    return {
        "solvers": [s for name in sorted(registry.solvers) for s in _solvers(registry, name)],
        "problems": [_problem(name, p) for name, p in sorted(registry.problems.items())],
        "suites": [_suite(name, p) for name, p in sorted(registry.suites.items())],
        "plugins": [
            *(
                {"name": p.name, "summary": f"{p.distribution} {p.version}", **_brought_by(p)}
                for p in registry.plugins
            ),
            *(
                {"name": name, "summary": f"broken: {why}", "broken": why}
                for name, why in registry.broken.items()
            ),
        ],
    }


def details(registry: Registry, name: str) -> dict[str, Any]:
    """Return the facts about the solver, problem or suite of this name.

    Raises
    ------
    UsageError
        On an unknown name; suggests the nearest one.
    """
    if name in registry.solvers:
        first, *others = ({"kind": "solver", **s} for s in _solvers(registry, name))
        return {**first, "others": others} if others else first
    if name in registry.problems:
        return {"kind": "problem", **_problem(name, registry.problems[name])}
    if name in registry.suites:
        suite = registry.suites[name]
        text = toml.text_of(suite.item)
        return {"kind": "suite", **_suite(name, suite), "documentation": text}
    for kind in ("solver", "problem", "suite"):
        if why := registry.broken.get(f"{kind} {name}"):
            raise UsageError(why)
    known = [*registry.solvers, *registry.problems, *registry.suites]
    raise unknown("solver, problem or suite", name, known)


def tables(facts: Facts) -> Iterator[str]:
    """Yield the lines of a table for each kind and family, with a title."""
    for kind, rows in facts.items():
        for family in sorted({_family(row) for row in rows}):
            yield click.style(f"{kind}{family and ': '}{family}", bold=True, underline=True)
            yield from _columns([(r["name"], r["summary"]) for r in rows if _family(r) == family])
            yield ""
    yield "orthobench show NAME tells more of each"


def page(facts: Facts) -> Iterator[str]:
    """Yield the lines of a page about one solver, problem or suite."""
    origin = " ".join([facts["distribution"], facts["version"]]).strip() or facts["plugin"]
    yield f"{click.style(facts['name'], bold=True)}, a {facts['kind']} from {origin}"
    if _family(facts):
        yield f"Family: {_family(facts)}"
    labels = {"source": "Source", "doi": "DOI", "code": "Code", "licence": "Licence"}
    yield from (f"{label}: {facts[key]}" for key, label in labels.items() if facts.get(key))
    yield from _wrapped(facts.get("record", ""))
    yield ""
    if facts["kind"] == "suite":
        yield facts["documentation"]
        return
    for paragraph in _without_repeated_sections(facts["documentation"]).split("\n\n"):
        lines = paragraph.splitlines()
        if set("".join(lines[1:2])) == {"-"}:  # the title of a section
            yield from lines[:2]
            del lines[:2]
        laid_out = any(line.startswith((" ", "-", "|")) for line in lines)
        yield from lines if laid_out else _wrapped(" ".join(lines))
        yield ""
    if facts["parameters"]:
        yield click.style("parameters", bold=True, underline=True)
        yield from _columns([(p["name"], _meaning(p)) for p in facts["parameters"]])
    for other in facts.get("others", ()):  # of this name, for another family
        yield ""
        yield from page(other)


def _without_repeated_sections(documentation: str) -> str:
    """Leave out the sections that the table of parameters and the source line repeat."""
    sections = re.split(r"\n\n(?=\w[\w ]*\n---)", documentation)
    return "\n\n".join(s for s in sections if not s.startswith(("Parameters", "References")))


def _meaning(p: Facts) -> str:
    default = "none" if p["default"] is None else p["default"]
    kind = " ".join(filter(None, (p["type"], p["range"])))
    unit = f"unit: {p['unit']}" if p["unit"] else ""
    needed = "required" if p["required"] else f"default {default}"
    return f"{p['help']} ({'; '.join(filter(None, (kind, unit, needed)))})"


def _columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max(len(name) for name, _ in rows) + 2
    for name, text in rows:
        first, *more = _wrapped(text, width) or [""]
        yield click.style(f"{name:<{width}}", bold=True) + first
        yield from (" " * width + line for line in more)


def _wrapped(text: str, indent: int = 0) -> list[str]:
    columns = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return textwrap.wrap(text, max(columns - indent, 30))


def _solvers(registry: Registry, name: str) -> Iterator[dict[str, Any]]:
    problems = [p.item for p in registry.problems.values()]
    for provided in registry.solvers[name].all:
        families = {p.family for p in problems if issubclass(p.offers, provided.item.needs)}
        yield {**_class(name, provided), "needs": provided.item.needs.__name__,
               "families": sorted(families), **origins(provided.item)}  # fmt: skip


def _family(row: Facts) -> str:
    """Return the family of a problem, those of the problems that a solver takes, or nothing."""
    return ", ".join(_families(row))


def _families(row: Facts) -> list[str]:
    return [row["family"]] if row.get("family") else list(row.get("families", ()))


def _problem(name: str, provided: Provided[Any]) -> dict[str, Any]:
    return {**_class(name, provided), "family": provided.item.family,
            "source": provided.item.source,
            "offers": provided.item.offers.__name__}  # fmt: skip


def _class(name: str, provided: Provided[Any]) -> dict[str, Any]:
    return {
        "name": name,
        "summary": (inspect.getdoc(provided.item) or "").partition("\n")[0],
        "parameters": [_parameter(p) for p in parameters_of(provided.item)],
        **_brought_by(provided.plugin),
        "documentation": inspect.getdoc(provided.item) or "",
    }


def _suite(name: str, provided: Provided[Path]) -> dict[str, Any]:
    table = toml.loads(toml.text_of(provided.item))
    return {"name": name, "summary": table.get("description", ""), "path": str(provided.item),
            **_brought_by(provided.plugin)}  # fmt: skip


def _brought_by(plugin: Plugin) -> dict[str, str]:
    return {"plugin": plugin.name, "distribution": plugin.distribution, "version": plugin.version}


def _parameter(p: Parameter) -> dict[str, Any]:
    return {
        "name": p.name,
        "type": p.type_name,
        "required": p.required,
        "default": None if p.required else p.default,
        "range": p.bounds,
        "unit": p.unit,
        "help": p.help,
    }
