"""The command ``orthobench report``."""

from __future__ import annotations

from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FOLDER, QUIET, STORE, SUITE_OF_STORE, TOLERANCE
from orthobench.cli.printing import facts, print_answer, print_json, say, status_line


@click.command()
@STORE
@click.option("-o", "--out", type=FOLDER,
              help="Write the page to this folder.  [default: report, beside the store]"
              )  # fmt: skip
@SUITE_OF_STORE
@TOLERANCE
@click.option("--style", type=click.Choice(("screen", "one-column", "two-column")),
              help="Also write figures, for a screen or a paper, to OUT/figures.")  # fmt: skip
@click.option("--open/--no-open", "opened", help="Open the page in a browser.")
@QUIET
@AS_JSON
def report(store: Path, out: Path | None, suite: str | None, tolerance: float | None,
           style: str | None, opened: bool, quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Write an interactive page about the results in STORE.

    The page is one file that needs no network. STORE is a store, or the folder with its
    results.sqlite. The exit code is 0 also if runs failed.
    """
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
            place = safe_join(folder, "figures")
            figures = save_figures(results.entries, place, style=style, exhibits=results.exhibits)
    if as_json:
        print_json(facts(results, [page, *figures]))
    else:
        print_answer(answer_of(results))
        say("\n".join(["", *map(str, [page, *figures])]))
        say("next: open it in a browser (--open does); orthobench export writes its numbers")
    if opened:
        click.launch(page.resolve().as_uri())
