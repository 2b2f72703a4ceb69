"""Claims about CCA of two packages: cca_zoo's changelog, scikit-learn 14169."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import orthobench as ob
from orthobench.contract import Array
from orthobench_papers.reproduce import Evidence, Measurement, share_within, together

FEATURES, PAIRS, SHARED = 50, 2000, 5
"""Columns of both sides, number of pairs, and number of shared canonical variables."""


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


def shares(evidence: Evidence, cases: tuple[tuple[int, float, float, float], ...]) -> Measurement:
    """Measure shares of divergent runs: batch, step and bounds of each."""
    found = []
    for batch, step, low, high in cases:
        hits = [diverges(seed, batch, step) for seed in evidence.seeds[: evidence.sized(20, 10)]]
        text = f"diverged of {len(hits)} runs with batches of {batch} at step {step:g}"
        found.append(share_within(hits, low, high, text))
    return together(found)


def disorders(evidence: Evidence) -> Iterator[float]:
    """Yield the maximum excess of a correlation over the one before it."""
    for seed in evidence.seeds[:3]:
        rng = np.random.default_rng([seed, 17])
        shared = rng.standard_normal((PAIRS, 10))
        X, Y = (
            shared @ rng.standard_normal((10, 100)) + rng.standard_normal((PAIRS, 100))
            for _ in range(2)
        )
        outcome = ob.solve("sklearn-cca", ob.cca(X, Y, k=10), seed=seed)
        yield float(outcome.trace[-1].metrics["disorder"])
