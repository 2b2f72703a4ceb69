"""Claims about CCA of two packages: cca_zoo's changelog, scikit-learn 14169."""

from __future__ import annotations

import numpy as np

import orthobench as ob
from orthobench.contract import Array
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    always_within,
    share_within,
    together,
)

FEATURES, PAIRS, SHARED = 50, 2000, 5
"""Columns of both sides, number of pairs, and number of shared canonical variables."""

LONG, LONGER, SHORT = 0.08, 0.2, 0.01
"""Steps of `cca-ey`, four times those of cca_zoo."""


def pairs(seed: int) -> tuple[Array, Array]:
    """Return standardized pairs with shared variables in noise of twice their size."""
    rng = np.random.default_rng([seed, 16])
    shared = rng.standard_normal((PAIRS, SHARED))
    sides = []
    for _ in range(2):
        noise = 2 * rng.standard_normal((PAIRS, FEATURES))
        side = shared @ rng.standard_normal((SHARED, FEATURES)) + noise
        sides.append((side - side.mean(axis=0)) / side.std(axis=0))
    return sides[0], sides[1]


def diverges(seed: int, batch: int, step: float) -> bool:
    """Return whether five passes of `cca-ey` end with weights that diverge."""
    instance = ob.cca(*pairs(seed), k=SHARED, passes=5)
    try:
        with np.errstate(all="ignore"):
            ob.solve("cca-ey", instance, seed=seed, step=step, batch=batch)
    except RuntimeError:
        return True
    return False


def share(evidence: Evidence, batch: int, step: float, low: float, high: float) -> Measurement:
    """Measure the share of divergent runs, between two bounds."""
    seeds = evidence.seeds[: evidence.sized(20, 10)]
    hits = [diverges(seed, batch, step) for seed in seeds]
    text = f"diverged of {len(hits)} runs with batches of {batch} at step {step:g}"
    return share_within(hits, low, high, text)


def small_batches(evidence: Evidence) -> Measurement:
    return together(
        [
            share(evidence, FEATURES // 5, LONG, 0.5, 1.0),
            share(evidence, 4 * FEATURES, LONG, 0.0, 0.3),
        ]
    )


def large_batches(evidence: Evidence) -> Measurement:
    return together(
        [
            share(evidence, 4 * FEATURES, LONGER, 0.0, 0.3),
            share(evidence, FEATURES // 5, SHORT, 0.0, 0.3),
        ]
    )


def disorder(seed: int) -> float:
    """Return the maximum excess of a correlation over the one before it."""
    rng = np.random.default_rng([seed, 17])
    shared = rng.standard_normal((PAIRS, 10))
    X, Y = (
        shared @ rng.standard_normal((10, 100)) + rng.standard_normal((PAIRS, 100))
        for _ in range(2)
    )
    outcome = ob.solve("sklearn-cca", ob.cca(X, Y, k=10), seed=seed)
    return float(outcome.trace[-1].metrics["disorder"])


def out_of_order(evidence: Evidence) -> Measurement:
    found = [disorder(seed) for seed in evidence.seeds[:3]]
    text = "the most by which a component's correlation is above that of the one before it"
    return always_within(found, low=1e-5, text=text)
