"""The command ``orthobench report``."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FOLDER, PATH, QUIET, STORE, SUITE_OF_STORE, TOLERANCE
from orthobench.cli.printing import (
    facts,
    figure_lines,
    print_answer,
    print_json,
    say,
    status_line,
)

FORMATS = ("svg", "pdf", "png")

PAUSE, SHARE = 10.0, 20.0
"""Seconds between two pages of a run under way, at least, and as a multiple of what one took."""


@click.command()
@STORE
@click.argument("other", required=False, type=PATH)
@click.option("-o", "--out", type=FOLDER,
              help="Folder of the page.  [default: report, beside the store]")  # fmt: skip
@SUITE_OF_STORE
@TOLERANCE
@click.option("--style", type=click.Choice(("screen", "one-column", "two-column")),
              help="Also write figures, for a screen or a paper, into OUT/figures.")  # fmt: skip
@click.option("--format", "formats", type=click.Choice(FORMATS), multiple=True,
              help="Format of these figures, beside CSV. Repeatable.  [default: all]")  # fmt: skip
@click.option("--watch", is_flag=True, help="Write the page again and again, until the run ends.")
@click.option("--open/--no-open", "opened", help="Whether to open the page in a browser.")
@QUIET
@AS_JSON
def report(store: Path, other: Path | None, out: Path | None, suite: str | None,
           tolerance: float | None, style: str | None, formats: tuple[str, ...], watch: bool,
           opened: bool, quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Write an interactive page about the results in STORE.

    It shows which solver wins where, by how much, and how sure that is, in a file that opens in any
    browser, without a network. STORE is a store, or the folder that holds results.sqlite. Prints
    which solver to use, and the paths of the written files. Failed runs are reported; the exit code
    is 0 nevertheless.

    With OTHER, another store, it prints what changed from STORE to it instead: which solvers end
    lower or higher, by how much, and on how many seeds.

    With --watch, the page is written again while `orthobench run` works, until that ends or Ctrl-C:
    reload it in the browser for what there is by then.
    """
    if watch:
        if other or style or formats or as_json or tolerance:
            raise click.UsageError(
                "--watch goes with one store, and not with figures, --tolerance or --json"
            )
        _watch(store, out, suite, opened)
        return
    if other is not None:
        if out or style or formats or opened or tolerance:
            raise click.UsageError(
                "--out, --open, --style, --format and --tolerance are of the page and figures of "
                "one store"
            )
        _changes(store, other, suite, quiet, as_json)
        return
    if formats and not style:
        raise click.UsageError("--format is the format of figures; add --style to write them")
    from orthobench.decide.comparisons import answer_of
    from orthobench.report.figures.save import save_figures
    from orthobench.report.page import write_page
    from orthobench.results.results import Results
    from orthobench.tools.files import make_folder, safe_join

    with status_line(quiet or as_json) as status:
        status("reading the store")
        results = Results.read(store, suite, tolerance).without_home()
        folder = out or safe_join(results.path.parent, "report")
        make_folder(folder, "the report", "name another with --out")
        status("writing the page")
        page, figures = write_page(results, folder), []
        if style:
            status("drawing the figures")
            figures = save_figures(
                results.entries, safe_join(folder, "figures"), style=style,
                formats=(*(formats or FORMATS), "csv"), exhibits=results.exhibits,
            )  # fmt: skip
    if as_json:
        print_json(facts(results, [page, *figures]))
    else:
        print_answer(answer_of(results))
        say("\n".join(["", str(page), *figure_lines(figures)]))
        say("next: open it in a browser (--open does); orthobench export has its numbers")
    if opened:
        click.launch(page.resolve().as_uri())


def _watch(store: Path, out: Path | None, suite: str | None, opened: bool) -> None:
    """Write the page again until the run ends; Ctrl-C is another way to end it."""
    from orthobench.report.page import write_page
    from orthobench.results.results import Results
    from orthobench.tools.files import safe_join

    if hasattr(os, "nice"):
        os.nice(10)  # runs are being timed beside it
    announced = False
    while True:
        begin = time.monotonic()
        results = Results.read(store, suite).without_home()
        page = write_page(results, out or safe_join(results.path.parent, "report"))
        if not announced:
            say(f"{page} is written again until the run ends, or Ctrl-C")
            if opened:
                click.launch(page.resolve().as_uri())
            announced = True
        if results.session()["ended"] is not None:
            return
        time.sleep(max(PAUSE, SHARE * (time.monotonic() - begin)))


def _changes(store: Path, other: Path, suite: str | None, quiet: bool,
             as_json: bool) -> None:  # fmt: skip
    """Print what changed from one store to another."""
    from orthobench.report.changes import compare_stores, show
    from orthobench.results.results import Results

    with status_line(quiet or as_json) as status:
        status("reading the stores")
        base, head = (Results.read(path, suite).without_home() for path in (store, other))
        status("comparing the stores")
        changes = compare_stores(base, head)
    if as_json:
        print_json(changes)
    else:
        show(changes)
