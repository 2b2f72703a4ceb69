"""Theorem 1 and Lemma 3.1: the average of MSG, and its rounding."""

from __future__ import annotations

import numpy as np

from orthobench_papers.msg_2013.orthogonal import begin, probabilities
from orthobench_papers.msg_2013.relaxation import iterate
from orthobench_papers.reproduce import Evidence, Rows

SUITE = "theorem-1"
KS = (1, 2, 4)
BOUND = 1000**-0.5
"""sqrt(k/T), equal for all k of the suite: T = 1000 k."""

METRIC = "relaxed_suboptimality"

STEPS = 500
"""Steps before the first rounding, and rounded steps after that."""


def excesses(evidence: Evidence) -> Rows:
    """Return relaxed excesses over sqrt(k/T).

    By Lemma 3.1 their mean is that of the rounded solution too, which varies more.
    """
    return {
        f"k = {k}": evidence.finals(SUITE, f"orthogonal-distribution k={k}", "msg", METRIC) / BOUND
        for k in KS
    }


def rounding(evidence: Evidence) -> Rows:
    seeds = evidence.seeds[: evidence.sized(40, 10)]
    steps = evidence.sized(STEPS, STEPS, 50)
    return {f"k = {k}": [_rounded(k, seed, steps) for seed in seeds] for k in KS}


def _rounded(k: int, seed: int, steps: int) -> float:
    p = probabilities()
    run = begin("msg", k, seed, rounding="sampled", relative=False).advance(steps)
    rounded = relaxed = 0.0
    for _ in range(steps):
        run.advance()
        rounded += float(p @ (run.point**2).sum(axis=1))
        relaxed += float(p @ np.diag(iterate(run)))
    return rounded / relaxed
