"""Docstrings without markup: |x|, u_i* and `name` are plain text in reStructuredText too."""

from __future__ import annotations

import re
from typing import Any

LITERAL = re.compile(r"``.+?``|`[^`]+`")
MARKUP = re.compile(r"[|*]|(?<=\w)_(?!\w)")


def escaped(line: str) -> str:
    """Return a line of prose in which nothing but literals is markup."""
    out, end = [], 0
    for literal in LITERAL.finditer(line):
        out += [MARKUP.sub(r"\\\g<0>", line[end : literal.start()]), literal[0]]
        end = literal.end()
    return "".join([*out, MARKUP.sub(r"\\\g<0>", line[end:])])


def escape(lines: list[str]) -> list[str]:
    """Return the lines of a docstring, escaped if they are not indented code."""
    found, code = [], False
    for line in lines:
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        found.append(line if code or set(line.strip()) <= set("-") else escaped(line))
    return found


def process(app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Escape a docstring, before napoleon reads its sections."""
    del app, what, name, obj, options
    lines[:] = escape(lines)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
