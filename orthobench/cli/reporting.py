"""The command ``orthobench report``."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orthobench.cli.output import AS_JSON, plain, under_way, written

if TYPE_CHECKING:
    from orthobench.report.findings import Family
    from orthobench.results.results import Results

STYLES = ("screen", "one-column", "two-column")
FORMATS = ("svg", "pdf", "png")


@click.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write.  [default: report, beside the store]",
)
@click.option("--suite", help="Which suite of the store.  [default: the latest]")
@click.option(
    "--style",
    type=click.Choice(STYLES),
    help="Also write the figures as files, into OUT/figures: for a screen, or for one or two"
    " columns of a paper.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="Format of these files, beside the CSV of their data. Repeatable.  [default: all]",
)
@click.option("--open/--no-open", "opened", help="Whether to open the page in a browser.")
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@AS_JSON
def report(store: Path, out: Path | None, suite: str | None, style: str | None,
           formats: tuple[str, ...], opened: bool, quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Write the page about what was run on STORE: who wins where, by how much, how sure that is.

    STORE is a store, or the folder that holds results.sqlite. The page is a file that opens in any
    browser, without a network. Prints the tables, the findings, and the paths of what was written.
    Failed runs are reported, and are no failure of this command: its exit code is 0 then.
    """
    from orthobench.report.findings import families
    from orthobench.report.page import write_page
    from orthobench.report.ranking import rank
    from orthobench.report.terminal import table
    from orthobench.results.results import Results
    from orthobench.tools.files import make_folder

    if formats and not style:
        raise click.UsageError("--format is that of figures, which --style asks for")
    with under_way(quiet or as_json) as say:
        say("reading the store")
        results = Results.read(store, suite)
        beside = results.path.parent / "report"
        folder = make_folder(out or beside, "the report", "name another with --out")
        say("comparing the solvers")
        ranked = rank(results.entries)
        found = families(ranked)
        say("writing the page")
        page = write_page(results, folder, ranked=ranked, found=found)
        say("drawing the figures")
        figures = _figures(results, folder, found, style, formats or FORMATS) if style else []
    if as_json:
        facts = {
            "suite": results.suite,
            "families": plain(found),
            "table": table.rows(results.entries, ranked),
            "files": [str(path) for path in [page, *figures]],
        }
        click.echo(json.dumps(facts, indent=2, default=str))
    else:
        table.show(results.entries, ranked=ranked)
        for line in [*_findings(found), "", str(page), *written(figures)]:
            click.echo(line)
    if opened:
        click.launch(page.resolve().as_uri())


def _figures(
    results: Results, folder: Path, found: Sequence[Family], style: str, formats: Sequence[str]
) -> list[Path]:
    from orthobench.report.figures.save import save_figures

    return save_figures(
        results.entries, folder / "figures", style=style, formats=(*formats, "csv"),
        exhibits=results.exhibits, found=found,
    )  # fmt: skip


def _findings(families: Sequence[Family]) -> Iterator[str]:
    from orthobench.report.words import clean

    width = shutil.get_terminal_size().columns
    for family in families:
        yield ""
        yield click.style(clean(family.name), bold=True)
        for sentence in family.sentences:
            yield from textwrap.wrap(clean(sentence), width, initial_indent="  ",
                                     subsequent_indent="  ")  # fmt: skip
