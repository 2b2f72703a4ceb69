"""Boissin et al. 2025: Turbo-Muon, scaled columns that save a step."""

from __future__ import annotations

from orthobench_papers.polar_runs import (
    Draw,
    cauchy,
    drawn,
    gaussian,
    in_each,
    metrics,
    scaled_columns,
)
from orthobench_papers.reproduce import Evidence, Measurement, always_within

USUAL: dict[str, Draw] = {
    "Gaussian 2:1": gaussian(128, 64), "Gaussian 4:1": gaussian(512, 128),
}  # fmt: skip
SQUARE: dict[str, Draw] = {"Gaussian 1:1": gaussian(128, 128)}
EASY = USUAL | SQUARE
UNUSUAL: dict[str, Draw] = {
    "Cauchy": cauchy(128, 64), "columns over 100": scaled_columns(128, 64),
}  # fmt: skip


def saves_a_step(evidence: Evidence, draws: dict[str, Draw], metric: str) -> Measurement:
    rows = {}
    for name, draw in draws.items():
        ratios = [
            metrics("turbo-newton-schulz", A, coefficients="jordan")[metric]
            / metrics("newton-schulz", A, coefficients="jordan")[metric]
            for A in drawn(draw, evidence, 5)
        ]
        rows[name] = always_within(ratios, high=1.05)
    return in_each(rows, f"{metric} after 4 steps, over that of 5 of Muon")


def floor(evidence: Evidence, draws: dict[str, Draw], high: float) -> Measurement:
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
