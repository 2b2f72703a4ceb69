"""Section 5.2: incremental PCA is trapped, capped MSG is not."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench_papers.msg_2013.orthogonal import begin, half_gap, missed
from orthobench_papers.reproduce import Evidence, Measurement, catalogue, share_within
from orthobench_papers.runs import DrivenRun, for_each_k, instance

TRAP, LONG = "trap", "capped"
KS = (1, 2, 4)

DECIDED = 12
"""Number of samples of a run in the trap; two of them decide."""

TRAPPED = 1 / 6
"""Half of the loss of the trap's wrong direction, 4/3 - 1."""


def five_ninths(evidence: Evidence) -> Measurement:
    trials = evidence.sized(20_000, 8000, 400)
    made = instance("incremental-trap", evidence.seeds[0])
    oracle = made.oracle
    solver = catalogue().solver("incremental-pca", offers=type(oracle))
    oracle.rewind(np.random.default_rng(evidence.seeds[0]))
    oracle.start = np.eye(2, 1)
    wrong = []
    for _ in range(trials):
        run = DrivenRun(made, solver, solver.init(oracle, np.random.default_rng(0))).advance(
            DECIDED
        )
        wrong.append(run.metrics["suboptimality"] > TRAPPED)
    text = f"share of {trials} runs that end at (1, 0)"
    return share_within(wrong, 5 / 9 - 0.03, 5 / 9 + 0.03, text)


def leaves_the_trap(evidence: Evidence) -> Array:
    gaps = evidence.finals(TRAP, "incremental-trap", "capped-msg", "suboptimality")
    return np.asarray(gaps < TRAPPED)


def never_stuck(evidence: Evidence) -> Measurement:
    found = []
    for k in KS:
        problem = f"orthogonal-distribution k={k}"
        gaps = evidence.finals(LONG, problem, "capped-msg", "suboptimality")
        there = [bool(gap < half_gap(k)) for gap in gaps]
        found.append(share_within(there, 0.9, 1.0))
    return for_each_k("share at the optimum", KS, {"": found})


def without_a_spare_direction(evidence: Evidence) -> Measurement:
    seeds = evidence.seeds[: evidence.sized(40, 20)]
    found = []
    for k in KS:
        stuck = [_ends_stuck(k, seed, evidence.sized(10_000, 3000, 300)) for seed in seeds]
        found.append(share_within(stuck, 0.5, 1.0))
    return for_each_k("share of runs that end stuck", KS, {"": found})


def _ends_stuck(k: int, seed: int, steps: int) -> bool:
    run = begin("capped-msg", k, seed, K=k, relative=False).advance(steps)
    return missed(run.point) > half_gap(k)
