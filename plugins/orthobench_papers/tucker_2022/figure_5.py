"""Figure 5: a rank that is too low, right, or too high."""

from __future__ import annotations

from functools import partial

import numpy as np

from orthobench.contract import Array, Axis, Panel, Plot, Series
from orthobench.reproduce import (
    Claim,
    Evidence,
    Measurement,
    Picture,
    median_within,
    ratio_within,
    together,
)
from orthobench_papers.tucker_2022 import drawing

SUITES = ("figure-5",)

TRUE = 5
RANKS = (2, 3, 4, 5, 6, 7)

MATCH = 0.03
"""F/F* that differs from one by no more than this matches."""


def ratios(evidence: Evidence, phase: str, rank: int) -> Array:
    """Return F(Q) / F(Q*) on fresh samples after a phase, seed by seed."""
    return evidence.finals("figure-5", f"phase {phase} rank={rank}", "spgd", "objective_ratio")


def matches(evidence: Evidence) -> Measurement:
    """Look at F/F* after Phase II where the rank suffices."""
    return together(
        [
            median_within(
                ratios(evidence, "II", rank),
                1 - MATCH,
                1 + MATCH,
                f"F/F* after Phase II, r = {rank}",
            )
            for rank in RANKS
            if rank >= TRUE
        ]
    )


def falls(evidence: Evidence) -> Measurement:
    """Compare F/F* of one rank less, after Phase II."""
    return together(
        [
            ratio_within(
                ratios(evidence, "II", rank), ratios(evidence, "II", rank + 1), 0, 1,
                f"F at r = {rank} over that at r = {rank + 1}",
            )
            for rank in (2, 3, 4)
        ]
    )  # fmt: skip


def start_falls(evidence: Evidence) -> Measurement:
    """Compare F/F* of one rank less, after Phase I."""
    return together(
        [
            ratio_within(
                ratios(evidence, "I", rank), ratios(evidence, "I", rank + 1), 0, 1,
                f"F after Phase I at r = {rank} over that at r = {rank + 1}",
            )
            for rank in (2, 3, 4)
        ]
    )  # fmt: skip


def improves(evidence: Evidence) -> Measurement:
    """Compare F after both phases where the rank is too low."""
    return together(
        [
            ratio_within(
                ratios(evidence, "II", rank),
                ratios(evidence, "I", rank),
                1,
                text=told(evidence, rank),
            )
            for rank in (2, 3, 4)
        ]
    )


def told(evidence: Evidence, rank: int) -> str:
    """Return the medians after both phases, in words."""
    first, second = (np.median(ratios(evidence, phase, rank)) for phase in ("I", "II"))
    return f"II / I at r = {rank} (F/F* from {first:.2f} to {second:.2f})"


def gap_grows(evidence: Evidence) -> Measurement:
    """Compare the gap of the phases, II / I, at the lowest rank with that at the true one."""
    gaps = {rank: ratios(evidence, "II", rank) / ratios(evidence, "I", rank) for rank in RANKS}
    medians = ", ".join(f"{np.median(gaps[rank]):.2f} (r = {rank})" for rank in (2, 3, 4, 5))
    return together(
        [
            ratio_within(gaps[2], gaps[TRUE], 1, text=f"gap at r = 2 over that at r = {TRUE}"),
            ratio_within(gaps[2], gaps[4], 1, text=f"over that at r = 4; II / I: {medians}"),
        ]
    )


def draw(evidence: Evidence) -> Plot:
    """Draw F/F* along the iterations."""
    return drawing.plot("Figure 5", {"F over that of the true basis": partial(panel, evidence)})


def panel(evidence: Evidence) -> Panel:
    """Return the panel of all ranks."""
    series = []
    for rank in RANKS:
        records = evidence.records("figure-5", f"phase II rank={rank}", "spgd")
        label = f"r = {rank}"
        series.append(drawing.course(label, label, records, "objective_ratio", "steps"))
    first = evidence.records("figure-5", "phase I rank=5", "spgd")[0]
    span = np.array([1.0, max(one.x[-1] for one in series)])
    level = Series("F(Q*)", span, np.ones(2))
    x = Axis("steps", "iterations", log=False)
    y = Axis("objective_ratio", "F(Q) / F(Q*), fresh samples", log=False)
    rules = (float(first.trace[-1].work.steps),)
    return Panel(x, y, (*series, level), rules=rules, band=drawing.BAND)


CLAIMS = (
    Claim(
        "sufficient-rank", "Where r >= r_true the objective matches that of the true basis.",
        "Figure 5", matches, suites=SUITES,
    ),
    Claim(
        "lower-rank-lower-objective", "The less the rank is, the lower the objective.",
        "Figure 5", falls, suites=SUITES,
    ),
    Claim(
        "lower-rank-worse-start",
        "As r decreases, HOEVD moves further away from the ground truth.",
        "Figure 5", start_falls, suites=SUITES,
    ),
    Claim(
        "low-rank-improves", "Where the rank is too low Phase II clearly improves on HOEVD.",
        "Figure 5", improves, suites=SUITES,
    ),
    Claim(
        "lower-rank-larger-gap", "As r decreases, the gap between the phases is more pronounced.",
        "Figure 5", gap_grows, suites=SUITES,
    ),
)  # fmt: skip

PICTURES = (
    Picture(
        "figure-5", "Figure 5",
        "F(Q) / F(Q*) on fresh samples along the iterations, with five factors; Phase II begins at "
        "the dotted line.",
        draw,
    ),
)  # fmt: skip
