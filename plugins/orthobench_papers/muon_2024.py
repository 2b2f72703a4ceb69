"""Jordan et al. 2024: Muon, whose steps are polar factors by five Newton-Schulz iterations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from orthobench.contract import Array
from orthobench.reproduce import Claim, Evidence, Measurement, Paper, Verdict, always_within
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

TALL = {
    "64 x 32": gaussian(64, 32), "128 x 64": gaussian(128, 64), "512 x 64": gaussian(512, 64),
    "condition 1e2": conditioned(128, 64, 1e2),
}  # fmt: skip
MIXED = {"condition 1e3": conditioned(128, 64, 1e3), "Cauchy": cauchy(128, 64)}
SQUARE = {"128 x 128": gaussian(128, 128)}
OTHERS = MIXED | SQUARE
WORST = SQUARE | {"condition 1e6": conditioned(128, 64, 1e6)}


def nearest(
    draws: dict[str, Draw], coefficients: str, steps: int, precision: str, high: float
) -> Callable[[Evidence], Measurement]:
    """Return the check that all singular values are within `high` of 1."""

    def check(evidence: Evidence) -> Measurement:
        chosen = polynomials(coefficients, steps)
        rows = {
            name: always_within(
                [off_one(newton_schulz(A, chosen, precision)) for A in drawn(draw, evidence, 10)],
                high=high,
            )
            for name, draw in draws.items()
        }
        return in_each(rows, f"largest |s - 1| after {steps} steps in {precision}")

    return check


def spread(evidence: Evidence) -> Measurement:
    """Compare the singular values with a uniform distribution by the largest difference."""
    found = []
    for A in drawn(gaussian(128, 64), evidence, 10):
        values = np.sort(np.linalg.svd(newton_schulz(A, polynomials("jordan", 5)))[1])
        found.append(float(np.abs(values - 0.5 - np.arange(0.5, 64) / 64).max()))
    return always_within(found, high=0.1, text="largest difference of quantiles, of (.5, 1.5)")


def stable(evidence: Evidence) -> Measurement:
    """Measure the gain that rounding costs."""
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


NOTES = """
- **Precision**: bfloat16 is that of PyTorch on a processor. Where it is not installed, each matrix
  is rounded, and sums within a product are exact: the verdicts are the same.
- **Singular values** begin between 0 and 1, divided by the norm of the matrix; those below about
  1e-2 do not arrive within five steps, whatever the coefficients are.
- **Not here**: training.
"""

MUON_2024 = Paper(
    name="muon-2024",
    reference=(
        "Keller Jordan, Yuchen Jin, Vlado Boza, Jiacheng You, Franz Cesista, Laker Newhouse and "
        "Jeremy Bernstein: *Muon: an optimizer for hidden layers in neural networks*. 2024."
    ),
    claims=(
        Claim(
            "half-to-three-halves",
            "The singular values of the default lie in (.5, 1.5): Gaussian with twice as many rows "
            "as columns, and condition 1e2.",
            "torch.optim.Muon, documentation", nearest(TALL, "jordan", 5, "float64", 0.5),
        ),
        Claim(
            "half-to-three-halves-of-any",
            "The singular values of the default lie in (.5, 1.5): any matrix.",
            "torch.optim.Muon, documentation", nearest(OTHERS, "jordan", 5, "float64", 0.5),
            known=Verdict.FAILS,
            reason=(
                "Holds only where no singular value is below about 1e-2 of the norm: square "
                "Gaussian matrices have some, and they stay near 0."
            ),
        ),
        Claim(
            "uniform", "They are about uniform there.", "torch.optim.Muon, documentation", spread,
            known=Verdict.FAILS,
            reason="They lie between .68 and 1.13, with most of them at the ends.",
        ),
        Claim(
            "stable-in-bfloat16", "It can be run in bfloat16: the gain changes by at most 5 %.",
            "text", stable,
        ),
        Claim(
            "precisely-at-one",
            "Eight such steps and two of (2, -1.5, .5) put singular values precisely at 1: to the "
            "last digit of bfloat16, down to condition 1e3.",
            "PaddlePaddle, pull request 78916",
            nearest(TALL | MIXED, "deepseek-v4", 10, "bfloat16", 2**-7),
        ),
        Claim(
            "precisely-at-one-of-any",
            "Eight such steps and two of (2, -1.5, .5) put singular values precisely at 1: square "
            "Gaussian matrices and condition 1e6, in float64.",
            "PaddlePaddle, pull request 78916",
            nearest(WORST, "deepseek-v4", 10, "float64", 2**-7),
            known=Verdict.FAILS,
            reason=(
                "Holds only where singular values begin above about 1e-5 of the norm; a step "
                "multiplies smaller ones by 3.4. In bfloat16 rounding replaces them first."
            ),
        ),
        Claim(
            "four-decimals",
            "The coefficients of CANS will do with four decimals: in float64.",
            "NVIDIA-NeMo, muon_utils.py", nearest(TALL, "cans", 5, "float64", 0.12),
            printed=".114",
        ),
        Claim(
            "four-decimals-in-bfloat16",
            "The coefficients of CANS will do with four decimals: in bfloat16.",
            "NVIDIA-NeMo, muon_utils.py", nearest(TALL, "cans", 5, "bfloat16", 0.5),
            known=Verdict.FAILS,
            reason=(
                "Their first polynomials leave no room above 1: what rounding lifts there, the "
                "next ones throw farther. Polar Express divides by 1.01 against that."
            ),
        ),
    ),
    suites=Path(__file__).parent / "muon_2024",
    notes=NOTES,
)  # fmt: skip
"""The claims; there are no suites."""
