"""What commands print: facts as JSON or lines, results as tables, and how far long work is."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from orthobench.results.results import Results

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")


def print_facts(facts: Any, as_json: bool, as_text: Callable[[Any], Iterable[str]]) -> None:
    """Print facts as JSON, or as the lines that `as_text` makes of them."""
    if as_json:
        click.echo(json.dumps(facts, indent=2, default=str))
        return
    for line in as_text(facts):
        click.echo(line)


def show_results(results: Results, folder: Path | None, as_json: bool) -> None:
    """Print the tables of some results; where there is a folder, draw their figures in it."""
    from orthobench.report.terminal import table

    entries = results.entries
    if not as_json:
        table.show(entries)
        click.echo()
    figures = [] if folder is None else _figures(results, folder)
    if as_json:
        facts = {
            "suite": results.suite, "table": table.rows(entries),
            "files": [str(path) for path in [*figures, results.path]],
            "versions": results.versions,
        }  # fmt: skip
        click.echo(json.dumps(facts, indent=2, default=str))
        return
    for line in written(figures):
        click.echo(line)
    click.echo(results.path)


def written(paths: Sequence[Path]) -> Iterator[str]:
    """Yield a line for each figure, with the formats that it was written in."""
    for stem, group in itertools.groupby(paths, key=lambda path: path.with_suffix("")):
        first, *others = [path.suffix for path in group]
        also = f" (also {', '.join(others)})" if others else ""
        yield f"{stem}{first}{also}"


def plain(value: Any) -> Any:
    """Return dataclasses and mappings as what JSON has; None stands for what is not finite."""
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
def under_way(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that says on a terminal's standard error what is being done."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(text)


def _figures(results: Results, folder: Path) -> list[Path]:
    from orthobench.report.figures.save import OF_A_RUN, save_figures

    return save_figures(
        results.entries, folder / "figures", formats=("png", "svg", "csv"), kinds=OF_A_RUN,
        exhibits=results.exhibits,
    )  # fmt: skip
