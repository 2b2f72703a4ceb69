"""Listing of what is installed: as plain values, as tables, and as a page about one solver."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.errors import UsageError, unknown
from orthobench.registry.plugins import Plugin, Provided, Registry
from orthobench.report.origins import origins
from orthobench.tools import toml
from orthobench.tools.collections import grouped

Facts = Mapping[str, Any]
"""Plain values by name, which JSON can hold."""


def facts(registry: Registry) -> dict[str, list[dict[str, Any]]]:
    """Return what is installed, as a list for each kind."""
    return {
        "solvers": [s for name in sorted(registry.solvers) for s in _solvers(registry, name)],
        "problems": [_problem(name, p) for name, p in sorted(registry.problems.items())],
        "suites": [_suite(name, p) for name, p in sorted(registry.suites.items())],
        "plugins": [
            *({"name": p.name, "summary": f"{p.distribution} {p.version}", **_brought_by(p)}
              for p in registry.plugins),
            *({"name": name, "summary": f"broken: {why}", "broken": why}
              for name, why in registry.broken.items()),
        ],
    }  # fmt: skip


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
        return {"kind": "suite", **_suite(name, suite), "documentation": toml.text_of(suite.item)}
    for kind in ("solver", "problem", "suite"):
        if why := registry.broken.get(f"{kind} {name}"):
            raise UsageError(why)
    known = [*registry.solvers, *registry.problems, *registry.suites]
    raise unknown("solver, problem or suite", name, known)


def tables(facts: Facts) -> list[str]:
    """Return the lines of a table for each kind and family."""
    text = _formatter()
    for kind, rows in facts.items():
        for family, own in sorted(grouped(rows, _family).items()):
            title = f"{kind}: {family}" if family else kind
            _write_table(text, title, [(row["name"], row["summary"]) for row in own])
            text.write("\n")
    return [*text.getvalue().splitlines(), "orthobench show NAME tells more of each"]


def page(facts: Facts) -> list[str]:
    """Return the lines of a page about one solver, problem or suite."""
    text = _formatter()
    origin = " ".join([facts["distribution"], facts["version"]]).strip() or facts["plugin"]
    text.write(f"{click.style(facts['name'], bold=True)}, a {facts['kind']} from {origin}\n")
    told = {"Family": _family(facts), "Source": facts.get("source"), "DOI": facts.get("doi"),
            "Code": facts.get("code"), "Licence": facts.get("licence")}  # fmt: skip
    text.write("".join(f"{label}: {value}\n" for label, value in told.items() if value))
    if facts.get("record"):
        text.write_text(facts["record"])
    if facts["kind"] == "suite":
        return [*text.getvalue().splitlines(), "", facts["documentation"]]
    text.write(f"\n{_laid_out(facts['documentation'], text.width)}\n")
    if facts["parameters"]:
        text.write("\n")
        rows = [(one["name"], _meaning(one)) for one in facts["parameters"]]
        _write_table(text, "parameters", rows)
    others = (line for other in facts.get("others", ()) for line in ("", *page(other)))
    return [*text.getvalue().splitlines(), *others]


def _formatter() -> click.HelpFormatter:
    return click.HelpFormatter(width=min(shutil.get_terminal_size((100, 24)).columns, 100))


def _write_table(text: click.HelpFormatter, title: str, rows: Sequence[tuple[str, str]]) -> None:
    text.write(click.style(title, bold=True, underline=True) + "\n")
    text.write_dl([(click.style(name, bold=True), said) for name, said in rows], col_max=40)


def _laid_out(documentation: str, width: int) -> str:
    """Return documentation in lines of a width, without what parameters and source repeat."""
    sections = re.split(r"\n\n(?=\w[\w ]*\n---)", documentation)
    kept = [s for s in sections if not s.startswith(("Parameters", "References"))]
    titled = re.sub(r"(?m)^(-+)$", r"\1\n", "\n\n".join(kept))
    # click leaves paragraphs that begin with a backspace as they are
    marked = (f"\b\n{p}" if re.search(r"(?m)^[ |-]", p) else p for p in titled.split("\n\n"))
    return click.wrap_text("\n\n".join(marked), width, preserve_paragraphs=True)


def _meaning(p: Facts) -> str:
    default = "none" if p["default"] is None else p["default"]
    kind = " ".join(filter(None, (p["type"], p["range"])))
    unit = f"unit: {p['unit']}" if p["unit"] else ""
    needed = "required" if p["required"] else f"default {default}"
    return f"{p['help']} ({'; '.join(filter(None, (kind, unit, needed)))})"


def _solvers(registry: Registry, name: str) -> Iterator[dict[str, Any]]:
    problems = [p.item for p in registry.problems.values()]
    for provided in registry.solvers[name].all:
        families = {p.family for p in problems if issubclass(p.offers, provided.item.needs)}
        yield {**_class(name, provided), "needs": provided.item.needs.__name__,
               "families": sorted(families), **origins(provided.item)}  # fmt: skip


def _family(row: Facts) -> str:
    return ", ".join([row["family"]] if row.get("family") else row.get("families", ()))


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
    default = None if p.required else p.default
    return {"name": p.name, "type": p.type_name, "required": p.required, "default": default,
            "range": p.bounds, "unit": p.unit, "help": p.help}  # fmt: skip
