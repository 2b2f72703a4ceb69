"""Write the table of `docs/guide/svds.md`: `python docs/svds.py STORE`, of a run of the suite svds.

A cell has the median time of the runs that count, and how many were not right.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from orthobench.harness.stopping import RunStatus
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.tools.collections import grouped

PAGE = Path(__file__).parent / "guide" / "svds.md"
BEGIN, END = "<!-- table: python docs/svds.py -->\n", "<!-- end of table -->\n"

FAR = 1e-6
"""The share of the leading variance that a run may miss."""


def with_table(text: str, runs: Sequence[Run]) -> str:
    """Return the page with the table of the runs between its two marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{markdown(runs)}\n{END}{rest.split(END)[1]}"


def markdown(runs: Sequence[Run]) -> str:
    """Return the table: a row for each problem, a column for each solver."""
    solvers = list(grouped(runs, lambda run: run.solver.label))
    lines = [f"| | {' | '.join(solvers)} |", f"|---|{'---|' * len(solvers)}"]
    for problem, own in grouped(runs, lambda run: run.problem.label).items():
        by = grouped(own, lambda run: run.solver.label)
        lines.append(f"| {problem} | {' | '.join(cell(by[name]) for name in solvers)} |")
    seeds = len({run.seed for run in runs})
    return "\n".join([*lines, "", f"Milliseconds, medians of {seeds} seeds; one BLAS thread."])


def cell(runs: Sequence[Run]) -> str:
    """Return the time of the runs that count, and what became of all that did not converge."""
    counted = [run for run in runs if run.ok]
    times = [run.trace[-1].seconds + run.trace[-1].readout_seconds for run in counted]
    parts = [f"{1000 * np.median(times):.3g}"] if counted else []
    for what, own in grouped(runs, verdict).items():
        gap = max((run.trace[-1].metrics["gap"] for run in own if run.trace), default=np.nan)
        if what:
            parts.append(f"{len(own)} {what}" + f", gap to {gap:.0e}" * (what != "raised"))
    return "; ".join(parts)


def verdict(run: Run) -> str:
    """Return what is wrong with a run; nothing if it converged, and missed nothing."""
    if run.stop.status is RunStatus.NOT_CONVERGED:
        return "silent"
    if not run.ok:
        return "raised"
    if "warns" in run.stop.reason:
        return "warned"
    return "missed vectors" if run.trace[-1].metrics["gap"] > FAR else ""


if __name__ == "__main__":
    records = Results.read(Path(sys.argv[1]), "svds").records
    found = [run for run in records if not run.stop.status.absent]
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
