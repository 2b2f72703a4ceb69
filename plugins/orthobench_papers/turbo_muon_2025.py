"""Boissin et al. 2025: Turbo-Muon, scaled columns that save a step."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.contract import Array
from orthobench_papers.polar_runs import metrics, of_each
from orthobench_papers.reproduce import Evidence, Rows


def saves_a_step(evidence: Evidence, draws: Sequence[str], metric: str) -> Rows:
    def ratio(A: Array) -> float:
        turbo, muon = (
            metrics(solver, A, coefficients="jordan")[metric]
            for solver in ("turbo-newton-schulz", "newton-schulz")
        )
        return turbo / muon

    return of_each(draws, evidence, 5, ratio)


def floor(evidence: Evidence, draws: Sequence[str]) -> Rows:
    return of_each(
        draws, evidence, 5, lambda A: metrics("turbo-newton-schulz", A, steps=25)["distance"]
    )
