"""Theorem 1 and Lemma 3.1: the average of MSG, and its rounding."""

from __future__ import annotations

import numpy as np

from orthobench_papers.msg_2013.orthogonal import begin, probabilities
from orthobench_papers.msg_2013.relaxation import iterate
from orthobench_papers.reproduce import Evidence, Measurement, mean_within
from orthobench_papers.runs import for_each_k

SUITE = "theorem-1"
KS = (1, 2, 4)
BOUND = 1000**-0.5
"""sqrt(k/T), equal for all k of the suite: T = 1000 k."""

METRIC = "relaxed_suboptimality"

STEPS = 500
"""Steps before the first rounding, and rounded steps after that."""


def bounded_by(evidence: Evidence, factor: float) -> Measurement:
    """Check that the mean relaxed excess is at most `factor` sqrt(k/T).

    By Lemma 3.1 that is the mean excess of the rounded solution too, which varies more.
    """
    found = []
    for k in KS:
        excess = evidence.finals(SUITE, f"orthogonal-distribution k={k}", "msg", METRIC) / BOUND
        found.append(mean_within(excess, 0.0, factor))
    return for_each_k("mean excess over sqrt(k/T)", KS, {"": found})


def rounding(evidence: Evidence) -> Measurement:
    seeds = evidence.seeds[: evidence.sized(40, 10)]
    steps = evidence.sized(STEPS, STEPS, 50)
    found = [mean_within([_rounded(k, seed, steps) for seed in seeds], 0.98, 1.02) for k in KS]
    return for_each_k("rounded over relaxed objective", KS, {"": found})


def _rounded(k: int, seed: int, steps: int) -> float:
    p = probabilities()
    run = begin("msg", k, seed, rounding="sampled", relative=False).advance(steps)
    rounded = relaxed = 0.0
    for _ in range(steps):
        run.advance()
        rounded += float(p @ (run.point**2).sum(axis=1))
        relaxed += float(p @ np.diag(iterate(run)))
    return rounded / relaxed
