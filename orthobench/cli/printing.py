"""Printing: JSON or text, tables of results, paths of figures, and the status line."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

_STYLES = re.compile("(\x1b\\[(?:0|1|4|3[1-36])m)")

if TYPE_CHECKING:
    from orthobench.results.results import Results


def say(text: object = "", *, err: bool = False) -> None:
    """Print text, without control characters: those of strangers' names could run a terminal.

    Parameters
    ----------
    text : object
        Only the styles that commands use stay in it, and its lines.
    err : bool
        Whether to print to standard error.
    """
    parts = _STYLES.split(str(text))
    for i, part in enumerate(parts):
        if i % 2 == 0 and not part.isprintable():
            parts[i] = "".join(c if c.isprintable() or c in "\n\t" else " " for c in part)
    click.echo("".join(parts), err=err)


def print_json(facts: Any) -> None:
    """Print plain values as JSON."""
    say(json.dumps(facts, indent=2, default=str))


def print_facts(facts: Any, as_json: bool, as_text: Callable[[Any], Iterable[str]]) -> None:
    """Print plain values as JSON, or the lines of text that `as_text` makes of them."""
    if as_json:
        print_json(facts)
        return
    for line in as_text(facts):
        say(line)


def print_results(results: Results, folder: Path | None, as_json: bool) -> None:
    """Print the tables of some results; with a folder, draw their figures in it."""
    from orthobench.report.terminal import table

    entries = results.entries
    if not as_json:
        table.show(entries)
        say()
    figures = [] if folder is None else _draw_figures(results, folder)
    if as_json:
        print_json({
            "suite": results.suite, "table": table.rows(entries),
            "files": [str(path) for path in [*figures, results.path]],
            "versions": results.versions,
        })  # fmt: skip
        return
    for line in figure_lines(figures):
        say(line)
    say(results.path)


def figure_lines(paths: Sequence[Path]) -> Iterator[str]:
    """Yield a line for each figure: its path, and its other formats."""
    for stem, group in itertools.groupby(paths, key=lambda path: path.with_suffix("")):
        first, *others = [path.suffix for path in group]
        also = f" (also {', '.join(others)})" if others else ""
        yield f"{stem}{first}{also}"


def plain(value: Any) -> Any:
    """Return dataclasses and mappings as JSON values, with None for numbers not finite."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


@contextmanager
def status_line(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Provide a function that shows what is being done, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    from orthobench.report.formatting import clean

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(escape(clean(text)))


def _draw_figures(results: Results, folder: Path) -> list[Path]:
    from orthobench.report.figures.save import RUN_KINDS, save_figures
    from orthobench.tools.files import below

    return save_figures(
        results.entries, below(folder, "figures"), formats=("png", "svg", "csv"), kinds=RUN_KINDS,
        exhibits=results.exhibits,
    )  # fmt: skip
