"""Orthogonal fine-tuning, 2026: the Cayley transform by a Neumann series, and what replaces it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from orthobench.contract import Array
from orthobench.reproduce import Claim, Evidence, Measurement, Paper, Verdict, always_within
from orthobench_papers.polar_runs import in_each, polar_factor

SIDE, TERMS = 32, 5
"""The size of a block, and the terms of the series by default in PEFT."""

SIZES = (0.1, 0.5, 0.8, 0.9, 1.0, 2.0)
"""Spectral norms of Q."""


def skew(size: float, seed: int) -> Array:
    """Return a random skew-symmetric matrix of a spectral norm."""
    Q = np.random.default_rng([seed, 48]).standard_normal((SIDE, SIDE))
    Q = Q - Q.T
    return np.asarray(Q * (size / np.linalg.norm(Q, 2)))


def cayley(Q: Array) -> Array:
    """Return the Cayley transform (I + Q)(I - Q)⁻¹."""
    unit = np.eye(len(Q), dtype=Q.dtype)
    return np.asarray(np.linalg.solve(unit - Q, unit + Q))


def neumann(Q: Array) -> Array:
    """Return (I + Q)(I + Q + ... + Q^(t-1)) for t terms, as PEFT computes it."""
    unit = np.eye(len(Q))
    series = unit
    for _ in range(TERMS - 1):
        series = unit + Q @ series
    return np.asarray(series + Q @ series)


def defect(R: Array) -> float:
    """Return |R'R - I| in the spectral norm."""
    return float(np.linalg.norm(R.T @ R - np.eye(len(R)), 2))


def in_sizes(
    found: Callable[[Array], float], low: float, high: float, text: str
) -> Callable[[Evidence], Measurement]:
    """Return the check that something is between limits for each spectral norm of Q."""

    def check(evidence: Evidence) -> Measurement:
        rows = {
            f"|Q| = {size:g}": always_within(
                [found(skew(size, seed)) for seed in evidence.seeds[:3]], low=low, high=high
            )
            for size in SIZES
        }
        return in_each(rows, text)

    return check


def off_power(Q: Array) -> float:
    """Return how far the error of the series is from |Q|^t, in units of the latter."""
    power = float(np.linalg.norm(Q, 2)) ** TERMS
    return abs(float(np.linalg.norm(neumann(Q) - cayley(Q), 2)) / power - 1)


def off_half(Q: Array) -> float:
    """Return how far the square of the polar factor of I + Q is from the Cayley transform."""
    factor = polar_factor(np.eye(len(Q)) + Q)
    return float(np.linalg.norm(factor @ factor - cayley(Q), 2))


NOTES = """
- **Q** is a random skew-symmetric matrix of 32 x 32, scaled to a spectral norm; the series has five
  terms, as by default in PEFT.
- **Error** is |R'R - I| in the spectral norm, in double precision, but for the exact solver.
- **Not here**: fine-tuning, and the bound on singular values that the pull request gives to CANS.
"""

OFT_2026 = Paper(
    name="oft-2026",
    reference=(
        "*[OFT] Chebyshev-Optimized Newton-Schulz (CANS)*. Nerogar/OneTrainer, pull request 1512, "
        "2026; of Qiu et al. 2025, *Orthogonal finetuning made scalable*, arXiv:2506.19847."
    ),
    claims=(
        Claim(
            "error", "The error of Cayley-Neumann is between .1 and .5.", "the description",
            in_sizes(lambda Q: defect(neumann(Q)), 0.1, 0.5, "|R'R - I|"),
            known=Verdict.FAILS,
            reason="It is |Q|¹⁰: 1e-10 for small Q, .1 at |Q| = .8, and it grows without bound.",
        ),
        Claim(
            "error-is-a-power",
            "Beyond it: the distance of t terms to the Cayley transform is |Q|^t.",
            "(I + Q)(I + ... + Q^(t-1)) = C(Q)(I - Q^t)",
            in_sizes(off_power, 0.0, 1e-6, "relative difference from |Q|⁵"),
        ),
        Claim(
            "exact", "The exact solver has an error of around 1e-6, or less.", "the description",
            in_sizes(
                lambda Q: defect(cayley(Q.astype(np.float32)).astype(np.float64)), 0.0, 2e-6,
                "|R'R - I| in single precision",
            ),
        ),
        Claim(
            "same-rotation",
            "Beyond it: the polar factor of I + Q, which CANS finds, is the Cayley transform.",
            "its solution",
            in_sizes(
                lambda Q: float(np.linalg.norm(polar_factor(np.eye(SIDE) + Q) - cayley(Q), 2)),
                0.0, 1e-2, "distance of the two",
            ),
            known=Verdict.FAILS,
            reason="It is the square root of it: half of each angle, arctan instead of twice that.",
        ),
        Claim(
            "square-root", "Beyond it: the square of that polar factor is the Cayley transform.",
            "I + Q is normal",
            in_sizes(off_half, 0.0, 1e-12, "distance of the square to the Cayley transform"),
        ),
    ),
    suites=Path(__file__).parent / "oft_2026",
    notes=NOTES,
)  # fmt: skip
"""The claims; there are no suites."""
