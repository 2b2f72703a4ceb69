"""The command ``orthobench reproduce``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orthobench.registry.claims import Paper
    from orthobench.reproduce.check import Checked
    from orthobench.reproduce.evidence import Runs

RED = 1


@click.command()
@click.argument("paper", required=False)
@click.option("--claim", "names", multiple=True, metavar="NAME", help="Only this. Repeatable.")
@click.option("--quick", is_flag=True, help="Small sizes: minutes, and wider intervals.")
@click.option(
    "--first-seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Count seeds from here: another number gives independent runs.",
)
@click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results.  [default: orthobench-results/PAPER]",
)
@click.option(
    "-w", "--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes."
)
@click.option("--publish", is_flag=True, help="Write the paper's page: README.md and pictures.")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the page.  [default: reports/PAPER]",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def reproduce(paper: str | None, names: tuple[str, ...], quick: bool, first_seed: int,
              store: Path | None, workers: int, publish: bool, out: Path | None, quiet: bool,
              as_json: bool) -> None:  # fmt: skip
    """Check what PAPER says against what its methods do here; without PAPER, list the papers.

    Prints for each claim whether it holds, with what was measured and an interval over the seeds.
    Exit code 1 says that a verdict is not the published one: a solver has changed, or a check.
    Finished runs are kept, and a second call goes on where the first one ended.
    """
    from orthobench.errors import UsageError
    from orthobench.registry.plugins import catalogue
    from orthobench.reproduce.evidence import Runs
    from orthobench.tools.files import make_folder

    if paper is None:
        if publish or quick or names:
            raise UsageError("which paper? `orthobench reproduce` alone lists them")
        _list(as_json)
        return
    if out and not publish:
        raise UsageError("--out is the folder of the page, which --publish writes")
    if publish and names:
        raise UsageError("a page has all claims of its paper; publish without --claim")
    known = catalogue().paper(paper)
    page = out or Path("reports") / paper
    if publish:
        make_folder(page, "the page", "name another with --out")
    folder = store or Path("orthobench-results") / paper
    runs = Runs(known, folder, quick, first_seed, workers, quiet or as_json)
    checked = _check(known, names, runs, as_json)
    if publish:
        _publish(known, checked, runs, page, as_json)
    sys.exit(RED if any(one.red for one in checked) else 0)


def _check(paper: Paper, names: tuple[str, ...], runs: Runs, as_json: bool) -> list[Checked]:
    from orthobench.reproduce.check import check, facts, select
    from orthobench.reproduce.lines import ending, line

    checked: list[Checked] = []
    for one in check(select(paper, names), runs):
        checked.append(one)
        for text in () if as_json else line(one):
            click.echo(text)
    if as_json:
        click.echo(json.dumps([facts(one) for one in checked], indent=2))
    else:
        click.echo(ending(checked))
    return checked


def _publish(paper: Paper, checked: list[Checked], runs: Runs, folder: Path, as_json: bool) -> None:
    from orthobench.reproduce.publish import publish

    for path in publish(paper, checked, runs, folder):
        click.echo(path, err=as_json)


def _list(as_json: bool) -> None:
    from orthobench.registry.plugins import catalogue

    papers = [provided.item for provided in catalogue().papers.values()]
    if as_json:
        facts = [
            {"name": p.name, "reference": p.reference, "claims": [c.name for c in p.claims]}
            for p in papers
        ]
        click.echo(json.dumps(facts, indent=2))
        return
    for known in papers:
        click.echo(f"{click.style(known.name, bold=True)}  {known.reference}")
        for claim in known.claims:
            click.echo(f"    {claim.name:<32} {claim.source}")
    click.echo("orthobench reproduce NAME checks the claims of one")
