"""What a notebook shows of results: their tables, and the page about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from orthobench.report.answers import lowest
from orthobench.report.formatting import assignments, clean, duration, plural
from orthobench.report.ranking import MARKS, Ranked, rank
from orthobench.results.private import private
from orthobench.results.results import Results
from orthobench.stats.values import COSTS
from orthobench.tools.collections import grouped
from orthobench.tools.files import below

MOST_ROWS = 60
"""The most rows of all tables together; a notebook is to stay small, and the page has all."""

SYMBOLS = dict(zip(MARKS, ("★", "=", "≈", "?", "✗"), strict=True))
"""The symbols of marks."""


@dataclass(frozen=True)
class Report:
    """The page about some results, which a notebook shows in a frame of its own.

    Attributes
    ----------
    path : Path
        The file.
    """

    path: Path

    def _repr_html_(self) -> str:
        """Return a frame with the page: its scripts run, and reach nothing of the notebook."""
        page = escape(self.path.read_text(encoding="utf-8"))
        allowed = "allow-scripts allow-downloads"
        style = "width:100%;height:50em;border:1px solid #d8dee4;background:#fff"
        return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{page}"></iframe>'


def report(
    results: Results, folder: Path | str | None = None, *, anonymous: bool = False
) -> Report:
    """Write the interactive page about results, which a notebook shows where this is returned.

    Parameters
    ----------
    results : Results
    folder : path, optional
        ``report`` beside the store, where none is named.
    anonymous : bool
        Whether to leave out folders of files, and the machine that ran it.

    Returns
    -------
    Report
        Its ``path`` is the file, which needs no other and no network.

    Raises
    ------
    UsageError
        Where packages are missing (``pip install orthobench[report]``), or the file cannot be
        written.
    """
    from orthobench.report.page import write_page

    place = Path(folder) if folder is not None else below(results.path.parent, "report")
    return Report(write_page(private(results, anonymous), place))


def results_html(results: Results) -> str:
    """Return what a notebook shows of results: the answers, and a table for each problem."""
    ranked = [r for r in rank(results.entries) if r.entry.takes_part]
    lines = [f"<b>{_text(results.suite)}</b>", *_counts(results)]
    parts = [f"<p>{', '.join(lines)}</p>", *_answers(ranked)]
    rows = left_out = 0
    for problem, own in grouped(ranked, lambda r: r.entry.problem).items():
        rows += len(own)
        left_out += rows > MOST_ROWS
        if rows <= MOST_ROWS:
            parts.append(_table(problem, own))
    used = {r.mark for r in ranked}
    marks = [f"{SYMBOLS[mark]} {text}" for mark, text in MARKS.items() if mark in used]
    parts += [f"<p>{_text('; '.join(marks))}</p>"] * bool(marks)
    if left_out:
        parts.append(f"<p>{plural(left_out, 'more problem')}: ob.report(results) has all</p>")
    return "".join(parts)


def _counts(results: Results) -> Iterator[str]:
    """Yield how many runs there are, failed, and are to come."""
    yield plural(len(results.records) - len(results.refused), "run")
    for name, records in (("failed", results.failures), ("not run yet", results.missing)):
        if records:
            yield f"{len(records):,} {name}"


def _answers(ranked: Sequence[Ranked]) -> Iterator[str]:
    for family, own in grouped(ranked, lambda r: r.entry.problem_info.family).items():
        found = lowest(own)
        yield f"<p>{_text(f'{found.regime}, {family}: {found.answer}. {found.sure}')}</p>"


def _table(problem: str, ranked: Sequence[Ranked]) -> str:
    metric = clean(ranked[0].entry.problem_info.primary.replace("_", " "))
    titles = ("", "solver", f"final {metric}", "95 % interval", "time", "runs ok")
    head = "".join(f"<th>{_text(title)}</th>" for title in titles)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in _cells(r)) + "</tr>" for r in ranked
    )
    return f"<table><caption>{_text(problem)}</caption><tr>{head}</tr>{rows}</table>"


def _cells(ranked: Ranked) -> Iterator[str]:
    yield SYMBOLS.get(ranked.mark, "")
    yield f"{ranked.entry.solver} {assignments(ranked.entry.best_parameters)}"
    yield ranked.median
    yield " to ".join(map(ranked.text, ranked.summary.interval))
    yield duration(ranked.median_of(COSTS["seconds"]))
    yield ranked.ok


def _text(text: str) -> str:
    return escape(clean(text))
