"""What is installed, as plain facts and as tables for the terminal."""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.errors import unknown
from orthobench.parameters import Parameter, parameters_of, summary
from orthobench.registry import Plugin, Provided, Registry

if TYPE_CHECKING:
    from rich.console import RenderableType

Facts = Mapping[str, Any]


def facts(registry: Registry) -> dict[str, list[dict[str, Any]]]:
    """Return what is installed: kind to rows of plain values."""
    return {
        "solvers": [_solver(name, p) for name, p in sorted(registry.solvers.items())],
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
    """Return all about the solver, problem or suite of this name.

    Raises
    ------
    UsageError
        Where nothing has that name; suggests the nearest.
    """
    if name in registry.solvers:
        return {"kind": "solver", **_solver(name, registry.solvers[name])}
    if name in registry.problems:
        return {"kind": "problem", **_problem(name, registry.problems[name])}
    if name in registry.suites:
        suite = registry.suites[name]
        text = suite.item.read_text(encoding="utf-8")
        return {"kind": "suite", **_suite(name, suite), "documentation": text}
    known = [*registry.solvers, *registry.problems, *registry.suites]
    raise unknown("solver, problem or suite", name, known)


def tables(facts: Facts) -> Iterator[RenderableType]:
    """Yield a title and a table for each kind that has anything."""
    from rich.markup import escape
    from rich.table import Table

    for kind, rows in facts.items():
        if not rows:
            continue
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for row in rows:
            table.add_row(escape(row["name"]), escape(row["summary"]))
        yield f"[bold underline]{kind}[/]"
        yield table
        yield ""
    yield "orthobench show NAME tells more of each"


def page(facts: Facts) -> Iterator[RenderableType]:
    """Yield a page about one solver, problem or suite."""
    from rich.markup import escape
    from rich.table import Table

    origin = " ".join([facts["distribution"], facts["version"]]).strip() or facts["plugin"]
    yield f"[bold]{escape(facts['name'])}[/bold], a {facts['kind']} from {escape(origin)}"
    if facts.get("source"):
        yield f"Source: {escape(facts['source'])}"
    yield ""
    yield escape(facts["documentation"])
    if not facts.get("parameters"):
        return
    table = Table(box=None, pad_edge=False)
    for column in ("parameter", "default", "type", "range", "meaning"):
        table.add_column(column, overflow="fold", style="bold" if column == "parameter" else None)
    for p in facts["parameters"]:
        cells = (p["name"], p["default"], p["type"], p["range"], p["help"])
        table.add_row(*(escape("none" if cell is None else str(cell)) for cell in cells))
    yield ""
    yield table


def _solver(name: str, provided: Provided[Any]) -> dict[str, Any]:
    return {**_class(name, provided), "needs": provided.item.needs.__name__,
            "source": provided.item.source}  # fmt: skip


def _problem(name: str, provided: Provided[Any]) -> dict[str, Any]:
    return {**_class(name, provided), "family": provided.item.family,
            "offers": provided.item.offers.__name__}  # fmt: skip


def _class(name: str, provided: Provided[Any]) -> dict[str, Any]:
    return {
        "name": name,
        "summary": summary(provided.item),
        "parameters": [_parameter(p) for p in parameters_of(provided.item)],
        **_brought_by(provided.plugin),
        "documentation": inspect.getdoc(provided.item) or "",
    }


def _suite(name: str, provided: Provided[Path]) -> dict[str, Any]:
    table = tomllib.loads(provided.item.read_text(encoding="utf-8"))
    return {"name": name, "summary": table.get("description", ""), "path": str(provided.item),
            **_brought_by(provided.plugin)}  # fmt: skip


def _brought_by(plugin: Plugin) -> dict[str, str]:
    return {"plugin": plugin.name, "distribution": plugin.distribution, "version": plugin.version}


def _parameter(p: Parameter) -> dict[str, Any]:
    default = "required" if p.default is dataclasses.MISSING else p.default
    return {"name": p.name, "type": p.type_name, "default": default, "range": p.bounds,
            "unit": p.unit, "help": p.help}  # fmt: skip
