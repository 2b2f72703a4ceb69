"""Printing: JSON or text, tables of results, paths of figures, and the status line."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

_STYLES = re.compile("(\x1b\\[(?:0|1|4|3[1-36])m)")

if TYPE_CHECKING:
    from orthobench.decide.answer import Answer
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
    """Print the tables of some results, and what to use; with a folder, draw figures in it."""
    from orthobench.decide.answer import plain_answer
    from orthobench.decide.comparisons import answer_of
    from orthobench.report.terminal import table

    if not as_json:
        print_tables(results)
        print_paths(results, folder)
        print_answer(answer_of(results))
        return
    figures = [] if folder is None else _figures(results, folder)
    found = answer_of(results)
    print_json({
        "suite": results.suite, "answer": plain_answer(found),
        "table": table.rows(results.entries, found.comparisons),
        "files": [str(path) for path in [*figures, results.path]],
        "versions": results.versions,
    })  # fmt: skip


def print_tables(results: Results) -> None:
    """Print a table for each problem of some results."""
    from orthobench.report.terminal import table

    table.show(results.entries)


def print_answer(found: Answer) -> None:
    """Print what the marks of tables mean, which solver to use, and what was tested."""
    from rich.console import Console

    from orthobench.report.terminal import table

    width = shutil.get_terminal_size().columns
    marks = table.legend(found.comparisons, Console().options.ascii_only)
    say(f"\n{marks}\n" if marks else "")
    for family in found.by_family.values() or [found]:
        for text in (found.prefix(family) + family.sentence, family.evidence):
            say("\n".join(textwrap.wrap(text, width)))


def print_paths(results: Results, folder: Path | None) -> None:
    """Print the path of the store; with a folder, draw figures in it and print their paths, too."""
    say()
    workers = _workers(results)
    if workers > 1:
        say(f"times are of {workers} runs at once; --workers 1 takes them one by one")
    for line in figure_lines([] if folder is None else _figures(results, folder)):
        say(line)
    say(results.path)


def _workers(results: Results) -> int:
    """Return how many runs went on at once in the latest session."""
    match results.session()["environment"]:
        case {"run": {"workers": int(workers)}}:
            return workers
    return 1


def figure_lines(paths: Sequence[Path]) -> Iterator[str]:
    """Yield a line for each figure: its path, and its other formats."""
    for stem, group in itertools.groupby(paths, key=lambda path: path.with_suffix("")):
        first, *others = [path.suffix for path in group]
        also = f" (also {', '.join(others)})" if others else ""
        yield f"{stem}{first}{also}"


@contextmanager
def status_line(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Provide a function that shows what is being done, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    from orthobench.tools.formatting import clean

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(escape(clean(text)))


def _figures(results: Results, folder: Path) -> list[Path]:
    from orthobench.report.figures.save import run_figures
    from orthobench.tools.files import below

    return run_figures(results, below(folder, "figures"))
