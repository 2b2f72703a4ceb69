"""Jordan et al. 2024: Muon, polar factors by five Newton-Schulz steps."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench_papers.polar_runs import (
    Draw,
    cauchy,
    conditioned,
    drawn,
    gaussian,
    in_each,
    newton_schulz,
    off_one,
    polynomials,
    scaled_columns,
)
from orthobench_papers.reproduce import Evidence, Measurement, always_within

TALL = {
    "64 x 32": gaussian(64, 32), "128 x 64": gaussian(128, 64), "512 x 64": gaussian(512, 64),
    "condition 1e2": conditioned(128, 64, 1e2),
}  # fmt: skip
MIXED = {"condition 1e3": conditioned(128, 64, 1e3), "Cauchy": cauchy(128, 64)}
TALL_MIXED = TALL | MIXED
SQUARE = {"128 x 128": gaussian(128, 128)}
OTHERS = MIXED | SQUARE
WORST = SQUARE | {"condition 1e6": conditioned(128, 64, 1e6)}


def nearest(
    evidence: Evidence,
    draws: dict[str, Draw],
    coefficients: str,
    steps: int,
    precision: str,
    high: float,
) -> Measurement:
    chosen = polynomials(coefficients, steps)
    rows = {
        name: always_within(
            [off_one(newton_schulz(A, chosen, precision)) for A in drawn(draw, evidence, 10)],
            high=high,
        )
        for name, draw in draws.items()
    }
    return in_each(rows, f"largest |s - 1| after {steps} steps in {precision}")


def spread(evidence: Evidence) -> Measurement:
    found = []
    for A in drawn(gaussian(128, 64), evidence, 10):
        values = np.sort(np.linalg.svd(newton_schulz(A, polynomials("jordan", 5)))[1])
        found.append(float(np.abs(values - 0.5 - np.arange(0.5, 64) / 64).max()))
    return always_within(found, high=0.1, text="largest difference of quantiles, of (.5, 1.5)")


def stable(evidence: Evidence) -> Measurement:
    rows, chosen = {}, polynomials("jordan", 5)
    for name, draw in (TALL | OTHERS | {"scaled columns": scaled_columns(128, 64)}).items():
        found = []
        for A in drawn(draw, evidence, 10):
            exact, rounded = (newton_schulz(A, chosen, p) for p in ("float64", "bfloat16"))
            found.append(gain(A, rounded) / gain(A, exact))
        rows[name] = always_within(found, 0.95, 1.05)
    return in_each(rows, "<A, X> in bfloat16, over that in float64")


def gain(A: Array, X: Array) -> float:
    """Return <A, X> over the nuclear norm of A."""
    return float(np.vdot(A, X)) / float(np.linalg.norm(A, "nuc"))
