"""Section 5.2: incremental PCA is trapped, capped MSG is not."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench_papers.msg_2013.orthogonal import begin, half_gap, missed
from orthobench_papers.reproduce import Evidence, Rows, catalogue
from orthobench_papers.runs import DrivenRun, instance

TRAP, LONG = "trap", "capped"
KS = (1, 2, 4)

DECIDED = 12
"""Number of samples of a run in the trap; two of them decide."""

TRAPPED = 1 / 6
"""Half of the loss of the trap's wrong direction, 4/3 - 1."""


def five_ninths(evidence: Evidence) -> list[bool]:
    made = instance("incremental-trap", evidence.seeds[0])
    oracle = made.oracle
    solver = catalogue().solver("incremental-pca", offers=type(oracle))
    oracle.rewind(np.random.default_rng(evidence.seeds[0]))
    oracle.start = np.eye(2, 1)
    wrong = []
    for _ in range(evidence.sized(20_000, 8000, 400)):
        run = DrivenRun(made, solver, solver.init(oracle, np.random.default_rng(0)))
        wrong.append(run.advance(DECIDED).metrics["suboptimality"] > TRAPPED)
    return wrong


def leaves_the_trap(evidence: Evidence) -> Array:
    gaps = evidence.finals(TRAP, "incremental-trap", "capped-msg", "suboptimality")
    return np.asarray(gaps < TRAPPED)


def never_stuck(evidence: Evidence) -> Rows:
    rows = {}
    for k in KS:
        problem = f"orthogonal-distribution k={k}"
        gaps = evidence.finals(LONG, problem, "capped-msg", "suboptimality")
        rows[f"k = {k}"] = gaps < half_gap(k)
    return rows


def without_a_spare_direction(evidence: Evidence) -> Rows:
    seeds = evidence.seeds[: evidence.sized(40, 20)]
    steps = evidence.sized(10_000, 3000, 300)
    return {f"k = {k}": [_ends_stuck(k, seed, steps) for seed in seeds] for k in KS}


def _ends_stuck(k: int, seed: int, steps: int) -> bool:
    run = begin("capped-msg", k, seed, K=k, relative=False).advance(steps)
    return missed(run.point) > half_gap(k)
