"""The command ``orthobench reproduce``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FOLDER, QUIET, WORKERS
from orthobench.cli.printing import FAILED, print_json, say
from orthobench.errors import UsageError
from orthobench.harness.suite import FULL, SMOKE
from orthobench.tools.files import make_folder, safe_join
from orthobench_papers.reproduce.check import check, claim_lines, counts_line, facts, select
from orthobench_papers.reproduce.installed import catalogue
from orthobench_papers.reproduce.origin import changed
from orthobench_papers.reproduce.publish import PAGE
from orthobench_papers.reproduce.publish import publish as publish_page
from orthobench_papers.reproduce.runs import Evidence


@click.command()
@click.argument("paper", required=False)
@click.option("--claim", "names", multiple=True, metavar="NAME",
              help="Check this claim only. Repeatable.")  # fmt: skip
@click.option("--quick", "size", flag_value="quick",
              help="Run small sizes: minutes, and wider intervals.")  # fmt: skip
@click.option("--smoke", "size", flag_value="smoke", help="Run tiny sizes: seconds, and only "
              "see whether each claim can be checked.")  # fmt: skip
@click.option("--first-seed", type=click.IntRange(0), default=0,
              help="Begin at this seed; another one gives independent runs.")  # fmt: skip
@click.option("--store", type=FOLDER,
              help="Keep results in this folder.  [default: orthobench-results/PAPER]")  # fmt: skip
@WORKERS
@click.option("--publish", is_flag=True, help="Write the paper's page: README.md and pictures.")
@click.option(
    "-o", "--out", type=FOLDER, help="Write the page to this folder.  [default: reports/PAPER]"
)
@click.option("--stale", is_flag=True,
              help="List the pages in reports/ whose code has changed since.")  # fmt: skip
@QUIET
@AS_JSON
def reproduce(paper: str | None, names: tuple[str, ...], size: str | None, first_seed: int,
              store: Path | None, workers: int, publish: bool, out: Path | None, stale: bool,
              quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Check the claims of PAPER against runs of its methods.

    Without PAPER, list the papers. For each claim, print whether it holds, the measured value and
    its interval over the seeds. The exit code is 1 if a verdict is not the published one. The same
    command goes on after an interruption.
    """
    _refuse_meaningless(paper, bool(names), size, publish, out, stale)
    if paper is None:
        (_list_pages if stale else _list_papers)(as_json)
        return
    named = catalogue().paper(paper)
    page = out or safe_join(Path(), "reports", named.name)
    if publish:
        make_folder(page, "the page", "name another with --out")
    folder = store or safe_join(Path(), "orthobench-results", named.name)
    runs = Evidence(named, folder, size or FULL, first_seed, workers, quiet or as_json)
    checked = []
    for one in check(select(named, names), runs):
        checked.append(one)
        for line in () if as_json else claim_lines(one):
            say(line)
    if as_json:
        print_json([facts(one) for one in checked])
    else:
        say(counts_line(checked))
    if publish:
        for path in publish_page(named, checked, runs, page):
            say(path, err=as_json)
    red = any(one.red for one in checked)
    if not as_json:
        mend = "find the change that moved the verdicts, or --publish them"
        more = "--first-seed 1000 checks them on independent runs"
        if size == SMOKE:
            mend = "mend the claims that cannot be checked"
            more = "--quick checks whether they hold"
        say(f"next: {mend if red else more}")
    sys.exit(FAILED if red else 0)


def _refuse_meaningless(
    paper: str | None, some: bool, size: str | None, publish: bool, out: Path | None, stale: bool
) -> None:
    rules = {
        "--stale lists all pages: leave other options out":
            stale and (paper or some or size or publish),
        "name a paper; `orthobench reproduce` lists them":
            paper is None and (publish or size or some),
        "--out is the folder of the page; add --publish to write it": out and not publish,
        "a page has all claims of its paper; publish without --claim": publish and some,
        "smoke runs are too small for the verdicts of a page: leave --smoke out":
            publish and size == "smoke",
    }  # fmt: skip
    for mend, wrong in rules.items():
        if wrong:
            raise UsageError(mend)


def _list_pages(as_json: bool) -> None:
    registry, found = catalogue(), {}
    for name, provided in registry.papers.items():
        page = safe_join(Path(), "reports", name) / PAGE
        if page.is_file():
            found[name] = changed(provided.item, page.read_text(encoding="utf-8"), registry)
    if as_json:
        print_json([{"name": name, "changed": names} for name, names in found.items()])
        return
    for name, names in found.items():
        state = "names no code" if names is None else f"other code now: {', '.join(names)}"
        say(f"{click.style(name, bold=True)}  {'current' if names == [] else state}")
    say("orthobench reproduce NAME --publish makes the page of one current")


def _list_papers(as_json: bool) -> None:
    papers = [provided.item for provided in catalogue().papers.values()]
    for name, why in catalogue().broken.items():
        if name.startswith("paper"):
            say(f"{name!r} is broken: {why}", err=True)
    if as_json:
        print_json([{"name": p.name, "reference": p.reference, "claims": [c.name for c in p.claims]}
                    for p in papers])  # fmt: skip
        return
    for paper in papers:
        say(f"{click.style(paper.name, bold=True)}  {paper.reference}")
        for claim in paper.claims:
            say(f"    {claim.name:<32} {claim.source}")
    say("orthobench reproduce NAME checks the claims of one")
