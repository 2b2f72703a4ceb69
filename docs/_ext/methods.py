"""What the catalogue knows of solvers, for their pages, which so cannot fall behind the code.

``{solver-source} NAME`` names the paper, ``{solver-details} NAME`` lists the parameters and gives
the docstring, ``{solvers} PLUGIN ...`` is a table of what plugins bring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from plain import escape, escaped
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective

from orthobench.contract import Parameter, parameters_of
from orthobench.registry.plugins import catalogue

SECTIONS = ("Parameters", "References")


def solver(name: str) -> type[Any]:
    """Return the class of an installed solver."""
    found: type[Any] = catalogue().solvers[name].item
    return found


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
    """Return what a solver's docstring refers to, or its one-line source."""
    said = " ".join(sections(inspect.getdoc(cls) or "").get("References", [])).strip()
    return said or cls.source


def default(parameter: Parameter) -> str:
    """Return the default as users would write it."""
    if parameter.required:
        return "required"
    return "none" if parameter.default is None else f"`{str(parameter.default).lower()}`"


def parameter_rows(cls: type[Any]) -> Iterator[str]:
    """Yield the lines of a table of parameters, in Markdown."""
    yield "| parameter | type | default | |"
    yield "|---|---|---|---|"
    for p in parameters_of(cls):
        kind = f"{p.type_name} {p.bounds}".strip().replace("|", "or")
        help_ = f"{p.help} ({p.unit})" if p.unit else p.help
        yield f"| `{p.name}` | {kind} | {default(p)} | {help_.replace('|', chr(92) + '|')} |"


def told(cls: type[Any]) -> Iterator[str]:
    """Yield the docstring less what the page has elsewhere, as reStructuredText in Markdown."""
    doc = sections(inspect.getdoc(cls) or "")
    kept = doc[""]
    for name, lines in doc.items():
        if name and name not in SECTIONS:
            kept = [*kept, "", name, "-" * len(name), *lines]
    yield "````{eval-rst}"
    yield from NumpyDocstring(escape(kept), Config(), what="class").lines()
    yield "````"


class SolverSource(SphinxDirective):
    """``{solver-source} NAME``: where a method comes from."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a paragraph."""
        lines = ["````{eval-rst}", escaped(references(solver(self.arguments[0]))), "````"]
        return self.parse_text_to_nodes("\n".join(lines))


class SolverDetails(SphinxDirective):
    """``{solver-details} NAME``: the parameters of a solver, and what its docstring says."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table and paragraphs."""
        cls = solver(self.arguments[0])
        self.env.note_dependency(inspect.getfile(cls))
        lines = [*parameter_rows(cls), "", *told(cls)]
        return self.parse_text_to_nodes("\n".join(lines))


class Solvers(SphinxDirective):
    """``{solvers} PLUGIN ...``: solvers of plugins, each with its first line and a link."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return a table."""
        wanted = self.arguments[0].split()
        lines = ["| solver | |", "|---|---|"]
        for name, found in catalogue().solvers.items():
            if found.plugin.name in wanted:
                summary = (inspect.getdoc(found.item) or "").partition("\n")[0]
                lines.append(f"| [{name}]({name}.md) | {summary.replace('|', chr(92) + '|')} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("solver-source", SolverSource)
    app.add_directive("solver-details", SolverDetails)
    app.add_directive("solvers", Solvers)
    return {"parallel_read_safe": True}
