"""Boissin et al. 2025: Turbo-Muon, columns scaled so that one step fewer will do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from orthobench.reproduce import Claim, Evidence, Measurement, Paper, Verdict, always_within
from orthobench_papers.polar_runs import (
    Draw,
    cauchy,
    drawn,
    gaussian,
    in_each,
    metrics,
    scaled_columns,
)

USUAL: dict[str, Draw] = {
    "Gaussian 2:1": gaussian(128, 64), "Gaussian 4:1": gaussian(512, 128),
}  # fmt: skip
SQUARE: dict[str, Draw] = {"Gaussian 1:1": gaussian(128, 128)}
UNUSUAL: dict[str, Draw] = {
    "Cauchy": cauchy(128, 64), "columns over 100": scaled_columns(128, 64),
}  # fmt: skip


def saves_a_step(draws: dict[str, Draw], metric: str) -> Callable[[Evidence], Measurement]:
    """Return the check that four steps after scaling are as good as five of the default of Muon."""

    def check(evidence: Evidence) -> Measurement:
        rows = {}
        for name, draw in draws.items():
            ratios = [
                metrics("turbo-newton-schulz", A, coefficients="jordan")[metric]
                / metrics("newton-schulz", A, coefficients="jordan")[metric]
                for A in drawn(draw, evidence, 5)
            ]
            rows[name] = always_within(ratios, high=1.05)
        return in_each(rows, f"{metric} after 4 steps, over that of 5 of Muon")

    return check


def floor(draws: dict[str, Draw], high: float) -> Callable[[Evidence], Measurement]:
    """Return the check of the distance that remains after many steps."""

    def check(evidence: Evidence) -> Measurement:
        rows = {
            name: always_within(
                [
                    metrics("turbo-newton-schulz", A, steps=25)["distance"]
                    for A in drawn(draw, evidence, 5)
                ],
                high=high,
            )
            for name, draw in draws.items()
        }
        return in_each(rows, "distance to the polar factor after 25 steps")

    return check


NOTES = """
- **Distance** is |X - UV'| / |UV'|, of polynomials of Polar Express until they have converged.
- **Scaling** changes the polar factor: X <- A D has that of A D. What is orthogonal to rounding may
  still be another matrix than UV', so that orthogonality alone does not show it.
- **Not here**: training and seconds on a GPU.
"""

TURBO_MUON_2025 = Paper(
    name="turbo-muon-2025",
    reference=(
        "Thibaut Boissin, Thomas Massena, Franck Mamalet and Mathieu Serrurier: *Turbo-Muon: "
        "accelerating orthogonality-based optimization with pre-conditioning*. 2025, "
        "arXiv:2512.04632."
    ),
    claims=(
        Claim(
            "one-step-fewer",
            "Scaled columns make up for one step: orthogonality, Gaussian matrices.",
            "abstract", saves_a_step(USUAL, "orthogonality"),
        ),
        Claim(
            "one-step-fewer-of-square",
            "Scaled columns make up for one step: orthogonality, square Gaussian matrices.",
            "abstract", saves_a_step(SQUARE, "orthogonality"),
        ),
        Claim(
            "one-step-fewer-of-others",
            "Scaled columns make up for one step: orthogonality, Cauchy entries and columns of "
            "scales over 100.",
            "abstract", saves_a_step(UNUSUAL, "orthogonality"), known=Verdict.FAILS,
            reason="Holds only where columns have one scale: elsewhere it is a tenth worse.",
        ),
        Claim(
            "same-quality",
            "The approximation of the polar factor does not suffer: Gaussian matrices.",
            "abstract", saves_a_step(USUAL, "distance"),
        ),
        Claim(
            "same-quality-of-others",
            "The approximation of the polar factor does not suffer: Cauchy entries and columns of "
            "scales over 100.",
            "abstract", saves_a_step(UNUSUAL, "distance"), known=Verdict.FAILS,
            reason="Holds only where columns have one scale: elsewhere it is a fifth worse.",
        ),
        Claim(
            "small-bias", "What scaling changes of the polar factor is small: Gaussian matrices.",
            "method", floor(USUAL | SQUARE, 0.05),
        ),
        Claim(
            "small-bias-of-others",
            "What scaling changes of the polar factor is small: Cauchy entries and columns of "
            "scales over 100.",
            "method", floor(UNUSUAL, 0.05), known=Verdict.FAILS,
            reason=(
                "Holds only where columns have one scale and are nearly orthogonal: elsewhere the "
                "polar factor of A D is another one than that of A, and no step mends it."
            ),
        ),
    ),
    suites=Path(__file__).parent / "turbo_muon_2025",
    notes=NOTES,
)  # fmt: skip
"""The claims; there are no suites."""
