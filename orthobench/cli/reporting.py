"""The command ``orthobench report``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FOLDER, PATH, QUIET, STORE, SUITE_OF_STORE
from orthobench.cli.printing import (
    Terminated,
    facts,
    figure_lines,
    print_answer,
    print_json,
    say,
    status_line,
)

STYLES = ("screen", "one-column", "two-column")
FORMATS = ("svg", "pdf", "png")


@click.command()
@STORE
@click.argument("other", required=False, type=PATH)
@click.option(
    "-o", "--out", type=FOLDER, help="Folder of the page.  [default: report, beside the store]"
)
@SUITE_OF_STORE
@click.option(
    "--style",
    type=click.Choice(STYLES),
    help="Also write figures, for a screen or a paper, into OUT/figures.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="Format of these figures, beside CSV. Repeatable.  [default: all]",
)
@click.option("--watch", is_flag=True, help="Serve the page to browsers here during a run.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Its port, on 127.0.0.1.  [default: a free one]"
)
@click.option("--open/--no-open", "opened", help="Whether to open the page in a browser.")
@QUIET
@AS_JSON
def report(store: Path, other: Path | None, out: Path | None, suite: str | None,
           style: str | None, formats: tuple[str, ...], watch: bool, port: int | None,
           opened: bool, quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Write an interactive page about the results in STORE.

    It shows which solver wins where, by how much, and how sure that is, in a file that opens in any
    browser, without a network. STORE is a store, or the folder that holds results.sqlite. Prints
    which solver to use, and the paths of the written files. Failed runs are reported; the exit code
    is 0 nevertheless.

    With OTHER, another store, it prints what changed from STORE to it instead: which solvers end
    lower or higher, by how much, and on how many seeds.

    With --watch, the page is served on 127.0.0.1 until Ctrl-C, and kept up to date while
    `orthobench run` works: progress, failures as they come, time left. The file stays.
    """
    if watch:
        if other or style or formats or as_json:
            raise click.UsageError("--watch goes with one store, and not with figures or --json")
        _watch(store, out, suite, port or 0, opened)
        return
    if port is not None:
        raise click.UsageError("--port is of the server; add --watch to start it")
    if other is not None:
        if out or style or formats or opened:
            raise click.UsageError(
                "--out, --open, --style and --format are of the page and figures of one store"
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
        results = Results.read(store, suite).without_home()
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


def _watch(store: Path, out: Path | None, suite: str | None, port: int,
           opened: bool) -> None:  # fmt: skip
    """Serve the page about a store until an interruption; Ctrl-C is the way to end it."""
    from orthobench.report.live.watch import watch
    from orthobench.results.results import store_at
    from orthobench.tools.files import safe_join

    folder = out or safe_join(store_at(store).parent, "report")

    def announce(address: str) -> None:
        say(f"{address} has the page about {store} until Ctrl-C")
        if opened:
            click.launch(address)

    if hasattr(os, "nice"):
        os.nice(10)  # runs are being timed beside it
    try:
        watch(store, folder, suite, port, announce)
    except Terminated:
        raise
    except KeyboardInterrupt:
        say(folder / "index.html")


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
