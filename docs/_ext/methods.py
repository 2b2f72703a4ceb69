"""Directives for the pages of methods, which so cannot fall behind the code.

``{solver-source} NAME`` names the paper, ``{solver-record} NAME`` says how the method did in the
atlas, ``{solver-details} NAME`` says where it computes, lists
the parameters and gives the docstring, ``{solvers} FAMILY`` is the table of a family's solvers.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from facts import (
    PAGES,
    computes,
    homes,
    namesakes,
    parameter_rows,
    references,
    sections,
    solver_rows,
    solvers_of,
)
from plain import escape, escaped
from sphinx.ext.napoleon.docstring import NumpyDocstring
from sphinx.util.docutils import SphinxDirective

from orthobench.atlas.answers import SHIPPED, opened

ELSEWHERE = ("Parameters", "References")  # sections of docstrings that the page shows by itself


def docstring(cls: type[Any]) -> Iterator[str]:
    """Yield the docstring less what the page has elsewhere, as reStructuredText in Markdown."""
    doc = sections(inspect.getdoc(cls) or "")
    kept = doc[""]
    for name, lines in doc.items():
        if name and name not in ELSEWHERE:
            kept = [*kept, "", name, "-" * len(name), *lines]
    yield "````{eval-rst}"
    yield from NumpyDocstring(escape(kept), what="class").lines()
    yield "````"


class SolverSource(SphinxDirective):
    """``{solver-source} NAME``: where a method comes from."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a paragraph."""
        found = dict.fromkeys(map(references, namesakes(self.arguments[0])))
        lines = ["````{eval-rst}", escaped("\n\n".join(found)), "````"]
        return self.parse_text_to_nodes("\n".join(lines))


class SolverRecord(SphinxDirective):
    """``{solver-record} NAME``: on how many problems of the atlas a method is as good."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a paragraph; nothing where the atlas has no run of it."""
        self.env.note_dependency(str(SHIPPED))
        sentence = opened(None, rows=False).about["records"].get(self.arguments[0], "")
        linked = sentence.replace("In the atlas", "In [the atlas](../guide/atlas.md)")
        return self.parse_text_to_nodes(linked)


class SolverDetails(SphinxDirective):
    """``{solver-details} NAME``: the parameters of a solver, and its docstring."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table and paragraphs."""
        classes = namesakes(self.arguments[0])
        lines: list[str] = []
        for cls in classes:
            self.env.note_dependency(inspect.getfile(cls))
            title = f"On problems of {' and '.join(homes(cls))}:" if len(classes) > 1 else ""
            lines += [title, "", computes(cls), "", *parameter_rows(cls), "", *docstring(cls), ""]
        return self.parse_text_to_nodes("\n".join(lines))


class Solvers(SphinxDirective):
    """``{solvers} FAMILY``: the solvers of a family, each with its memory and its source."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return a table."""
        family = self.arguments[0]
        for name, cls in solvers_of(family).items():
            self.env.note_dependency(inspect.getfile(cls))
            self.env.note_dependency(str(PAGES / f"{name}.md"))
        (table,) = self.parse_text_to_nodes("\n".join(solver_rows(family)))
        table["classes"].append("solvers")
        return [table]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("solver-source", SolverSource)
    app.add_directive("solver-record", SolverRecord)
    app.add_directive("solver-details", SolverDetails)
    app.add_directive("solvers", Solvers)
    return {"parallel_read_safe": True}
