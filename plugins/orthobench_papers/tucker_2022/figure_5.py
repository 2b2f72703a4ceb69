"""Figure 5: a rank that is too low, right, or too high."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench_papers.drawing import along_runs, side_by_side
from orthobench_papers.reproduce import Evidence, Measurement, median_within, ratio_within, together

PHASES = {"I": "figure-5-phase-1", "II": "figure-5"}
"""The suite of each phase."""

TRUE = 5
RANKS = (2, 3, 4, 5, 6, 7)
LOW = (2, 3, 4)

MATCH = 0.03
"""Maximum distance of F/F* from one for a match."""


def ratios(evidence: Evidence, phase: str, rank: int) -> Array:
    """Return F(Q) / F(Q*) on fresh samples, seed by seed."""
    return evidence.finals(PHASES[phase], f"nig-factor rank={rank}", "spgd", "objective_ratio")


def matches(evidence: Evidence) -> Measurement:
    return together([
        median_within(
            ratios(evidence, "II", rank), 1 - MATCH, 1 + MATCH, f"F/F* after Phase II, r = {rank}"
        )
        for rank in RANKS
        if rank >= TRUE
    ])  # fmt: skip


def falls(evidence: Evidence, phase: str, after: str) -> Measurement:
    found = []
    for rank in LOW:
        lower, higher = (ratios(evidence, phase, r) for r in (rank, rank + 1))
        text = f"F{after} at r = {rank} over that at r = {rank + 1}"
        found.append(ratio_within(lower, higher, 0, 1, text))
    return together(found)


def improves(evidence: Evidence) -> Measurement:
    found = []
    for rank in LOW:
        first, second = (ratios(evidence, phase, rank) for phase in ("I", "II"))
        medians = f"F/F* from {np.median(first):.2f} to {np.median(second):.2f}"
        found.append(ratio_within(second, first, 1, text=f"II / I at r = {rank} ({medians})"))
    return together(found)


def gap_grows(evidence: Evidence) -> Measurement:
    gaps = {rank: ratios(evidence, "II", rank) / ratios(evidence, "I", rank) for rank in RANKS}
    medians = ", ".join(f"{np.median(gaps[rank]):.2f} (r = {rank})" for rank in (2, 3, 4, 5))
    text = "gap at r = 2 over that at r ="
    return together([
        ratio_within(gaps[2], gaps[TRUE], 1, text=f"{text} {TRUE}"),
        ratio_within(gaps[2], gaps[4], 1, text=f"{text} 4; II / I: {medians}"),
    ])  # fmt: skip


def draw(evidence: Evidence) -> Plot:
    return side_by_side("Figure 5", {"F over that of the true basis": panel(evidence)})


def panel(evidence: Evidence) -> Panel:
    """Draw the panel of all ranks."""
    runs = {
        f"r = {rank}": evidence.records(PHASES["II"], f"nig-factor rank={rank}", "spgd")
        for rank in RANKS
    }
    first = evidence.records(PHASES["I"], f"nig-factor rank={TRUE}", "spgd")
    last = max(run.trace[-1].work.steps for records in runs.values() for run in records)
    level = Series("F(Q*)", np.array([1.0, last]), np.ones(2))
    x = Axis("steps", "iterations", log=False)
    y = Axis("objective_ratio", "F(Q) / F(Q*), fresh samples", log=False)
    rules = (float(first[0].trace[-1].work.steps),)
    return along_runs(x, y, runs, 1.0, level, rules=rules)
