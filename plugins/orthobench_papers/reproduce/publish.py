"""The page of a paper: its claims and the measurements, in Markdown, with pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orthobench.contract.panel import Panel, Plot
from orthobench.harness.suite import FULL
from orthobench.tools import environment
from orthobench.tools.files import atomic_write, make_folder
from orthobench.tools.formatting import listed
from orthobench_papers.reproduce import origin
from orthobench_papers.reproduce.check import Checked, counts, measured, missing_data
from orthobench_papers.reproduce.claims import Paper, Picture, Verdict
from orthobench_papers.reproduce.installed import catalogue
from orthobench_papers.reproduce.runs import Evidence

PAGE = "README.md"

DPI = 100
"""Pixels per inch of the pictures; each is below 300 kB."""

ORDER = (Verdict.FAILS, Verdict.UNDECIDED, Verdict.UNTESTABLE, Verdict.HOLDS)
"""Order of the verdicts on a page."""

SIGNS = {
    Verdict.HOLDS: "✓ holds",
    Verdict.FAILS: "✗ does not hold",
    Verdict.UNDECIDED: "? not decided",
    Verdict.UNTESTABLE: "– not testable here",
}


def publish(paper: Paper, checked: Sequence[Checked], runs: Evidence, folder: Path) -> list[Path]:
    """Write ``README.md`` and its pictures into a folder; return their paths.

    Parameters
    ----------
    paper : Paper
    checked : sequence of Checked
        All of its claims.
    runs : Evidence
        The evidence.
    folder : Path
        Created if it does not exist.
    """
    from orthobench.report.figures.save import save_plot

    make_folder(folder, "the page")
    drawn = [picture for picture in paper.pictures if not missing_data(picture.data)]
    paths: list[Path] = []
    for one in drawn:
        plot = plotted(one, runs.asked(one.plot))
        paths += save_plot(plot, folder / one.name, formats=["png"], dpi=DPI)
    page = folder / PAGE
    with atomic_write(page) as file:
        file.write("\n".join([*_page(paper, checked, drawn, runs), ""]).encode())
    return [page, *paths]


def plotted(picture: Picture, panels: Mapping[str, Panel]) -> Plot:
    """Return the plot of a picture, with all its panels side by side."""
    bands = sorted({panel.band for panel in panels.values() if panel.band})
    return Plot(
        name=picture.source,
        kind="paper",
        choices={"panel": tuple(panels)},
        draw=lambda key: panels[key[0]],
        sheet=[(title,) for title in panels],
        about=(*picture.about, *(f"medians over the seeds; bands: {each}" for each in bands)),
    )


def _page(
    paper: Paper, checked: Sequence[Checked], drawn: Sequence[Picture], runs: Evidence
) -> Iterator[str]:
    yield f"# {paper.name}\n\n{paper.reference}\n"
    yield f"Of {len(checked)} claims, {listed(counts(checked))}."
    for verdict in ORDER:
        yield from _table(verdict, [one for one in checked if one.measurement.verdict is verdict])
    if paper.notes:
        yield f"\n## What to know\n\n{paper.notes.strip()}"
    for source in dict.fromkeys([*(c.claim.source for c in checked), *(p.source for p in drawn)]):
        yield f"\n## {source}"
        for picture in drawn:
            if picture.source == source:
                yield f"\n![{_cell(picture.caption)}]({picture.name}.png)\n\n*{picture.caption}*"
        for one in checked:
            if one.claim.source == source:
                yield f'\n<a id="{one.claim.name}"></a>\n{_paragraph(one)}'
    yield from _origin(paper, runs)


def _table(verdict: Verdict, checked: Sequence[Checked]) -> Iterator[str]:
    """Yield the claims with one verdict; the source of each links to its paragraph."""
    if not checked:
        return
    yield f"\n## {SIGNS[verdict]}: {len(checked)}\n"
    yield "| source | the paper says | printed | holds if | measured here |\n|---|---|---|---|---|"
    for one in checked:
        claim, measurement = one.claim, one.measurement
        meaning = measurement.text.partition(":")[0] if measured(measurement) else ""
        here = ", ".join(filter(None, (measured(measurement), meaning)))
        cells = (claim.sentence, claim.printed, condition(measurement.bounds), here)
        source = f"[{_cell(claim.source)}](#{claim.name})"
        yield f"| {source} | {' | '.join(map(_cell, cells))} |"


def condition(bounds: tuple[float, float]) -> str:
    """Return the condition that a value is within bounds, as text."""
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f"at least {low:g}"
    if math.isinf(low):
        return f"at most {high:g}"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _paragraph(one: Checked) -> str:
    """Return the paragraph about a claim: verdict, sentence, measurement and reason."""
    claim, measurement = one.claim, one.measurement
    value = measured(measurement)
    here = ": ".join(filter(None, (value, measurement.text)))
    parts = [f"**{SIGNS[measurement.verdict]}**: {claim.sentence}"]
    parts += [f"Printed: {claim.printed}."] if claim.printed else []
    parts += [f"{'Here ' if value else ''}{here}."] if here not in ("", claim.reason) else []
    return " ".join([*parts, claim.reason]).strip()


def _origin(paper: Paper, runs: Evidence) -> Iterator[str]:
    ran_on = environment.snapshot()
    options = "" if runs.size == FULL else f" --{runs.size}"
    options += f" --first-seed {runs.first_seed}" if runs.first_seed else ""
    yield "\n## How this page was made"
    yield f"\n`orthobench reproduce {paper.name}{options} --publish`, with orthobench "
    packages = ("numpy", "scipy", "numba")
    versions = ", ".join(f"{name} {ran_on['packages'][name]}" for name in packages)
    yield f"{ran_on['orthobench']}, Python {ran_on['python']}, {versions}, on {ran_on['cpu']}."
    yield "Intervals are 95 % over the seeds. `orthobench reproduce --help` names other sizes."
    git = ran_on["git"]
    at = f" at commit {git['commit']}{', with changes' * git['dirty']}" if git else ""
    yield f"\nMeasured{at}, with this code; `orthobench reproduce --stale` lists changes of it:\n"
    yield "| code | digest |\n|---|---|"
    for name, digest in origin.digests_of(paper, runs.names, catalogue()).items():
        yield f"| {name} | `{digest}` |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
