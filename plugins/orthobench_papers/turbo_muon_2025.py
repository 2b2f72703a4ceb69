"""Boissin et al. 2025: Turbo-Muon, scaled columns that save a step."""

from __future__ import annotations

from orthobench.contract import Array
from orthobench_papers.polar_runs import (
    Draw,
    cauchy,
    gaussian,
    metrics,
    of_each,
    scaled_columns,
)
from orthobench_papers.reproduce import Evidence, Rows

USUAL: dict[str, Draw] = {
    "Gaussian 2:1": gaussian(128, 64), "Gaussian 4:1": gaussian(512, 128),
}  # fmt: skip
SQUARE: dict[str, Draw] = {"Gaussian 1:1": gaussian(128, 128)}
EASY = USUAL | SQUARE
UNUSUAL: dict[str, Draw] = {
    "Cauchy": cauchy(128, 64), "columns over 100": scaled_columns(128, 64),
}  # fmt: skip


def saves_a_step(evidence: Evidence, draws: dict[str, Draw], metric: str) -> Rows:
    def ratio(A: Array) -> float:
        turbo, muon = (
            metrics(solver, A, coefficients="jordan")[metric]
            for solver in ("turbo-newton-schulz", "newton-schulz")
        )
        return turbo / muon

    return of_each(draws, evidence, 5, ratio)


def floor(evidence: Evidence, draws: dict[str, Draw]) -> Rows:
    return of_each(
        draws, evidence, 5, lambda A: metrics("turbo-newton-schulz", A, steps=25)["distance"]
    )
