"""Figure 1: all components of prostate gene expression, against the generalized power method.

The paper does not say which variant of that method it shows, nor its penalty. Figure 2 has the
greedy one; the block one optimizes the same objective as Givens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel
from orthobench_papers.drawing import along_runs
from orthobench_papers.reproduce import Evidence, Measurement, Rows, Run, median_within, together
from orthobench_papers.runs import final_ratios

SUITE, PROBLEM = "figure-1", "prostate"
GIVENS, GREEDY, SPARSER, BLOCK = SOLVERS = (
    "givens-sparse-pca", "gpower block=false gamma=0.25", "gpower block=false gamma=0.3",
    "gpower block=true",
)  # fmt: skip
NAMES = ("givens", "greedy gamma=0.25", "greedy gamma=0.3", "block")
CALLED = dict(zip(SOLVERS, NAMES, strict=True))
"""Names of the solvers in texts and pictures."""

EXPLAINED, NONZEROS = "adjusted_explained_variance", "nonzeros"

COMPONENTS = 102


def sparser(evidence: Evidence) -> Array:
    return final_ratios(evidence, SUITE, PROBLEM, (GIVENS, GREEDY), NONZEROS)


def explains_more(evidence: Evidence) -> Rows:
    givens = evidence.finals(SUITE, PROBLEM, GIVENS, EXPLAINED)
    return {
        CALLED[rival]: givens - evidence.finals(SUITE, PROBLEM, rival, EXPLAINED)
        for rival in (GREEDY, SPARSER)
    }


def faster(evidence: Evidence) -> tuple[Array, dict[str, float]]:
    aims, most, spent = (
        evidence.finals(SUITE, PROBLEM, GREEDY, value) for value in (EXPLAINED, NONZEROS, "flops")
    )
    records = evidence.records(SUITE, PROBLEM, GIVENS)
    reached = [flops_to(*each) for each in zip(records, aims, most, strict=True)]
    whole = np.median(evidence.finals(SUITE, PROBLEM, GIVENS, "flops") / spent)
    return reached / spent, {"whole": float(whole)}


def beats_block(evidence: Evidence) -> Measurement:
    pair = (GIVENS, BLOCK)
    nonzeros = final_ratios(evidence, SUITE, PROBLEM, pair, NONZEROS)
    givens, block = (evidence.finals(SUITE, PROBLEM, solver, EXPLAINED) for solver in pair)
    runs = (evidence.records(SUITE, PROBLEM, solver) for solver in pair)
    flops = [flops_to_each(records, 0.99 * block) for records in runs]
    text = "flops until 99 % of the variance of block is explained, Givens / block"
    less = 1 - 1e-9
    return together([
        median_within(nonzeros, 0, less, "non-zeros, Givens / block"),
        median_within(givens - block, 1e-9, text="adjusted explained variance, Givens - block"),
        median_within(flops[0] / flops[1], 0, less, text),
    ])  # fmt: skip


def same_objective(evidence: Evidence) -> Array:
    return final_ratios(evidence, SUITE, PROBLEM, (GIVENS, BLOCK), "squared_objective")


def flops_to(record: Run, aim: float, nonzeros: float = np.inf) -> float:
    """Return the flops at which a run explains a variance, interpolated, or infinity.

    `aim` is the adjusted explained variance, `nonzeros` the maximum number of non-zeros of a
    component.
    """
    value, flops = -np.inf, 0.0
    for mark in record.trace:
        before, spent = value, flops
        value, flops = mark.metrics[EXPLAINED], float(mark.work.flops)
        if value >= aim and mark.metrics[NONZEROS] <= nonzeros:
            share = (aim - before) / (value - before) if -np.inf < before < aim else 1.0
            return spent + share * (flops - spent)
    return float("inf")


def flops_to_each(records: Sequence[Run], aims: Array) -> Array:
    """Return the flops at which each run first explains its own aim."""
    return np.array([flops_to(*each) for each in zip(records, aims, strict=True)])


def draw(evidence: Evidence) -> dict[str, Panel]:
    runs = {CALLED[s]: evidence.records(SUITE, PROBLEM, s) for s in SOLVERS}
    x, explained = Axis("flops", "flops"), Axis(EXPLAINED, "adjusted explained variance", log=False)
    nonzeros = Axis(NONZEROS, "non-zeros of Z, 12,600 x 102")
    return {
        EXPLAINED: along_runs(x, explained, runs),
        NONZEROS: along_runs(x, nonzeros, runs, COMPONENTS),
    }
