"""Figure 2: streaming sparse PCA with few components, on other data."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel
from orthobench_papers.drawing import along_runs
from orthobench_papers.givens_2014.figure_1 import EXPLAINED, flops_to_each
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    Rows,
    mean_within,
    median_within,
    together,
)
from orthobench_papers.runs import final_ratios

ROTATIONS = "rotations"
GIVENS, GREEDY = "givens-streaming-sparse-pca", "gpower"
FEWER, MORE = (f"{GIVENS} rotations={count}" for count in (None, 100))
"""The solvers with m rotations a sample, and with 100."""

COMPONENTS, DENSITIES = (3, 5, 10), (0.05, 0.1, 0.2)

SIMILAR = 0.95
"""Minimum share of another method's explained variance that counts as similar."""


def suite(m: int) -> str:
    """Return the suite of m components."""
    return "figure-2-m10" if m == 10 else "figure-2"


def problem(m: int, density: float) -> str:
    """Return the problem with m components at a density."""
    return f"prostate m={m} density={density:g}"


def _explained(evidence: Evidence, solver: str, m: int, density: float) -> Array:
    return evidence.finals(suite(m), problem(m, density), solver, EXPLAINED)


def ratios_of_means(a: Array, b: Array) -> Array:
    """Return values whose mean is the ratio of two means over paired splits, as Figure 2 has it.

    Their scatter is that of the mean of a/b, linearized at the two means.
    """
    ratio = a.mean() / b.mean()
    return np.asarray(ratio + (a - ratio * b) / b.mean())


def similar(
    evidence: Evidence, m: int, density: float, pair: tuple[str, str] = (GIVENS, GREEDY)
) -> Array:
    return ratios_of_means(*(_explained(evidence, solver, m, density) for solver in pair))


def comparable(evidence: Evidence, m: int, density: float) -> Measurement:
    pair = (GREEDY, GIVENS)
    flops = final_ratios(evidence, suite(m), problem(m, density), pair, "flops")
    text = "mean explained variance of held-out samples, greedy / Givens"
    return together([
        mean_within(similar(evidence, m, density, pair), SIMILAR, text=text),
        median_within(flops, 0, 1, "flops, greedy / Givens"),
    ])  # fmt: skip


def faster(evidence: Evidence, density: float) -> Rows:
    return {f"m = {m}": _flops_ratio(evidence, m, density) for m in COMPONENTS}


def _flops_ratio(evidence: Evidence, m: int, density: float) -> Array:
    aims = SIMILAR * _explained(evidence, GREEDY, m, density)
    runs = (evidence.records(suite(m), problem(m, density), s) for s in (GIVENS, GREEDY))
    givens, greedy = (flops_to_each(records, aims) for records in runs)
    return givens / greedy


def few_rotations_do(evidence: Evidence) -> Array:
    ratios = [
        final_ratios(evidence, ROTATIONS, problem(m, density), (FEWER, MORE), EXPLAINED)
        for m in COMPONENTS
        for density in DENSITIES[:2]
    ]
    return np.asarray(np.mean(ratios, axis=0))


def draw(evidence: Evidence) -> dict[str, Panel]:
    return {
        f"m={m}, density <= {density:g}": _panel(evidence, m, density)
        for m in COMPONENTS
        for density in DENSITIES
    }


def _panel(evidence: Evidence, m: int, density: float) -> Panel:
    place = suite(m), problem(m, density)
    runs = {"givens": evidence.records(*place, GIVENS), "greedy": evidence.records(*place, GREEDY)}
    y = Axis(EXPLAINED, "adjusted explained variance", log=False)
    title = f"{m} components, at most {100 * density:.0f} % dense"
    return along_runs(Axis("flops", "flops"), y, runs, title=title)
