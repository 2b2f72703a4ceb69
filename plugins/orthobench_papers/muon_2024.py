"""Jordan et al. 2024: Muon, polar factors by five Newton-Schulz steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orthobench.contract import Array
from orthobench_papers.polar_runs import (
    Draw,
    cauchy,
    conditioned,
    drawn,
    gaussian,
    newton_schulz,
    of_each,
    off_one,
    polynomials,
    scaled_columns,
)
from orthobench_papers.reproduce import Evidence, Rows

TALL = {
    "64 x 32": gaussian(64, 32), "128 x 64": gaussian(128, 64), "512 x 64": gaussian(512, 64),
    "condition 1e2": conditioned(128, 64, 1e2),
}  # fmt: skip
MIXED = {"condition 1e3": conditioned(128, 64, 1e3), "Cauchy": cauchy(128, 64)}
TALL_MIXED = TALL | MIXED
SQUARE = {"128 x 128": gaussian(128, 128)}
OTHERS = MIXED | SQUARE
WORST = SQUARE | {"condition 1e6": conditioned(128, 64, 1e6)}


def distances(
    evidence: Evidence, draws: dict[str, Draw], coefficients: str, steps: int, precision: str
) -> Rows:
    chosen = polynomials(coefficients, steps)
    return of_each(draws, evidence, 10, lambda A: off_one(newton_schulz(A, chosen, precision)))


def spread(evidence: Evidence) -> Iterator[float]:
    for A in drawn(gaussian(128, 64), evidence, 10):
        values = np.sort(np.linalg.svd(newton_schulz(A, polynomials("jordan", 5)))[1])
        yield float(np.abs(values - 0.5 - np.arange(0.5, 64) / 64).max())


def stable(evidence: Evidence) -> Rows:
    def ratio(A: Array) -> float:
        exact, rounded = (newton_schulz(A, chosen, p) for p in ("float64", "bfloat16"))
        return gain(A, rounded) / gain(A, exact)

    chosen = polynomials("jordan", 5)
    draws = TALL | OTHERS | {"scaled columns": scaled_columns(128, 64)}
    return of_each(draws, evidence, 10, ratio)


def gain(A: Array, X: Array) -> float:
    """Return <A, X> over the nuclear norm of A."""
    return float(np.vdot(A, X)) / float(np.linalg.norm(A, "nuc"))
