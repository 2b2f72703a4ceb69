"""Figure 5: a rank that is too low, right, or too high."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.drawing import along_runs
from orthobench_papers.reproduce import Evidence, Rows

PHASES = {"I": "figure-5-phase-1", "II": "figure-5"}
"""The suite of each phase."""

TRUE = 5
RANKS = (2, 3, 4, 5, 6, 7)
LOW = (2, 3, 4)


def ratios(evidence: Evidence, phase: str, rank: int) -> Array:
    """Return F(Q) / F(Q*) on fresh samples, seed by seed."""
    return evidence.finals(PHASES[phase], f"nig-factor rank={rank}", "spgd", "objective_ratio")


def matches(evidence: Evidence) -> Rows:
    return {f"r = {rank}": ratios(evidence, "II", rank) for rank in RANKS if rank >= TRUE}


def falls(evidence: Evidence, phase: str) -> Rows:
    return {
        f"r = {rank}": ratios(evidence, phase, rank) / ratios(evidence, phase, rank + 1)
        for rank in LOW
    }


def improves(evidence: Evidence) -> Rows:
    rows = {}
    for rank in LOW:
        first, second = (ratios(evidence, phase, rank) for phase in PHASES)
        name = f"r = {rank} (F/F* from {np.median(first):.2f} to {np.median(second):.2f})"
        rows[name] = second / first
    return rows


def gap_grows(evidence: Evidence) -> tuple[Rows, dict[str, str]]:
    gaps = {rank: ratios(evidence, "II", rank) / ratios(evidence, "I", rank) for rank in RANKS}
    medians = ", ".join(f"{np.median(gaps[rank]):.2f} (r = {rank})" for rank in (*LOW, TRUE))
    return {f"r = {rank}": gaps[2] / gaps[rank] for rank in (TRUE, 4)}, {"medians": medians}


def draw(evidence: Evidence) -> dict[str, Panel]:
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
    return {"F over that of the true basis": along_runs(x, y, runs, 1.0, level, rules=rules)}
