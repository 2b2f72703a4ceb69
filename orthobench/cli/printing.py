"""Printing: JSON or text, tables of results, the status line, and the end of a command."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

FAILED = 1
WRONG = 2
NO_OUTPUT = 74
INTERRUPTED = 128 + signal.SIGINT
CLOSED = 141
TERMINATED = 128 + signal.SIGTERM
"""The exit codes; those above 128 are 128 plus the number of a signal."""

DRAWN = "drawn.txt"
"""Beside the figures of a run: their data and version, and their names."""

FEW = 8
"""Maximum number of reasons why runs failed or solvers were left out, without the tables."""

_STYLES = re.compile("(\x1b\\[(?:0|1|4|3[1-36])m)")

if TYPE_CHECKING:
    from orthobench.decide.answer import Answer
    from orthobench.results.results import Results


def say(text: object = "", *, err: bool = False) -> None:
    """Print text without control characters, which could control the terminal, but with styles."""
    parts = _STYLES.split(str(text))
    for i, part in enumerate(parts):
        if i % 2 == 0 and not part.isprintable():
            parts[i] = "".join(c if c.isprintable() or c in "\n\t" else " " for c in part)
    click.echo("".join(parts), err=err)


def wrapped(text: str, indent: int = 0) -> str:
    """Return a text in lines as wide as the terminal, all but the first indented; words whole."""
    return textwrap.fill(
        text, shutil.get_terminal_size().columns, subsequent_indent=" " * indent,
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip


def print_json(facts: Any) -> None:
    """Print dataclasses and plain values as JSON."""
    import json

    from orthobench.tools.collections import plain

    say(json.dumps(plain(facts), indent=2, default=str))


def print_facts(facts: Any, as_json: bool, as_text: Callable[[Any], Iterable[str]]) -> None:
    """Print plain values as JSON, or the lines of text that `as_text` makes of them."""
    if as_json:
        print_json(facts)
        return
    for line in as_text(facts):
        say(line)


def print_results(
    results: Results, folder: Path | None, as_json: bool, *, tables: bool = False
) -> None:
    """Print the answer, with all tables first if asked; draw figures if there is a folder."""
    from orthobench.decide.comparisons import answer_of
    from orthobench.report import caveats
    from orthobench.report.rows import rows_by_problem
    from orthobench.report.terminal import table

    if as_json:
        figures = [] if folder is None else _figures(results, folder)
        print_json({**facts(results, [*figures, results.path]), "versions": results.versions})
        return
    answer = answer_of(results)
    if tables:
        table.show(results.entries, answer.comparisons)
    print_answer(answer)
    say()
    if not tables:
        each = rows_by_problem(results.entries, answer.comparisons)
        lines = [*caveats.troubles([row for _, own in each for row in own])]
        for line in lines[:FEW]:
            say(wrapped(line, 2))
        if len(lines) > FEW:
            say(f"{len(lines) - FEW} more reasons: orthobench show prints all")
    match results.session()["environment"]:
        case {"run": {"shared": int(shared)} | {"workers": int(shared)}} if shared > 1:
            say(f"times are of {shared} runs at once; --workers 1 takes them one by one")
    for path in [] if folder is None else _figures(results, folder):
        if path.suffix == ".png":
            say(f"{path} (also .svg)")
    say(f"runs     {results.path}")


def facts(results: Results, files: Iterable[Path]) -> dict[str, Any]:
    """Return results as plain values: the answer, the rows of the tables, and files."""
    from orthobench.decide.answer import plain_answer
    from orthobench.decide.comparisons import answer_of
    from orthobench.report.terminal import table

    answer = answer_of(results)
    return {
        "suite": results.suite, "answer": plain_answer(answer),
        "table": table.rows(results.entries, answer.comparisons), "files": [*map(str, files)],
    }  # fmt: skip


def print_answer(answer: Answer) -> None:
    """Print the answer, cost and seeds of each solver on each problem, and the evidence."""
    from rich.console import Console

    from orthobench.report.terminal import table

    table.show_answer(answer)
    say()
    for line in table.answer_legend(answer, Console().options.ascii_only):
        say(wrapped(line))
    for family in answer.by_family.values() or [answer]:
        say(wrapped(answer.prefix(family) + family.evidence))


@contextmanager
def status_line(quiet: bool, *, lines: bool = False) -> Iterator[Callable[..., None]]:
    """Yield a function that shows the current work, if standard error is a terminal.

    With a second argument False it prints for good. Elsewhere it prints last lines, if `lines`.
    """
    if quiet or not sys.stderr.isatty():
        shown = lines and not quiet
        yield lambda text, *_: say(text.rpartition("\n")[2], err=True) if shown else None
        return
    from rich.console import Console, Group
    from rich.text import Text

    from orthobench.tools.formatting import printable

    with (console := Console(stderr=True)).status("") as status:

        def tell(text: str, passing: bool = True) -> None:
            shown = Text("\n".join(map(printable, text.split("\n"))))
            if passing:
                status.update(Group(shown))
            else:
                console.print(shown)

        yield tell


def _figures(results: Results, folder: Path) -> list[Path]:
    """Return the figures of a run; draw them if data or version have changed since."""
    from orthobench._version import __version__
    from orthobench.tools.files import atomic_write, safe_join

    target = safe_join(folder, "figures")
    data, drawn = f"{results.fingerprint()} {__version__}", target / DRAWN
    with suppress(OSError, ValueError):
        known, *names = drawn.read_text(encoding="utf-8").splitlines()
        paths = [target / Path(name).name for name in names]
        if known == data and all(path.is_file() for path in paths):
            return paths
    from orthobench.report.figures.save import RUN_KINDS, save_figures

    paths = save_figures(
        results.entries, target, formats=("png", "svg"), kinds=RUN_KINDS,
        exhibits=results.exhibits,
    )  # fmt: skip
    if paths:
        with atomic_write(drawn) as file:
            file.write("\n".join([data, *(path.name for path in paths)]).encode())
    return paths


class Terminated(KeyboardInterrupt):
    """An interruption that another process asked for."""


def open_streams() -> None:
    """Open standard streams that were closed, so that no file that is opened takes their place.

    They print a question mark for what their encoding lacks.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
            setattr(sys, name, os.fdopen(nothing, "w" if number else "r", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # Windows' code pages lack what names have


@contextmanager
def ended() -> Iterator[None]:
    """Turn what the body raises into a message and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        code = TERMINATED if isinstance(error, Terminated) else INTERRUPTED
        _end(code, str(error) or "interrupted")
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich and click turn it into this
            _end(CLOSED)
        raise
    except BrokenPipeError:
        _end(CLOSED)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        _end(NO_OUTPUT, f"orthobench: cannot read or write{where}: {error.strerror or error}")
    except Exception as error:
        from orthobench.errors import OrthobenchError

        if not isinstance(error, OrthobenchError):
            raise
        _end(WRONG, f"orthobench: {error}")


def _end(code: int, message: str = "") -> NoReturn:
    from orthobench.tools.formatting import clean

    with suppress(OSError):
        if message:
            say(clean(message), err=True)
    try:
        sys.stdout.flush()
    except OSError:  # as it would again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def terminate(*_: object) -> NoReturn:
    """Interrupt the program, as the handler of a signal."""
    raise Terminated
