"""Dao-AILab 2026: Newton-Schulz iterations of the Gram matrix."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.contract import Array
from orthobench_papers.polar_runs import (
    distance,
    drawn,
    gram_newton_schulz,
    metrics,
    newton_schulz,
    of_each,
    polynomials,
)
from orthobench_papers.reproduce import Evidence, Rows


def in_doubles(evidence: Evidence, draws: Sequence[str]) -> Rows:
    def difference(A: Array) -> float:
        return distance(gram_newton_schulz(A, steps, 2), newton_schulz(A, steps))

    steps = polynomials("polar-express", 5)
    return of_each(draws, evidence, 3, difference)


def loses(evidence: Evidence, precision: str, restart: int, draws: Sequence[str]) -> Rows:
    def ratio(A: Array) -> float:
        exact = newton_schulz(A, steps)
        plain = newton_schulz(A, steps, precision)
        gram = gram_newton_schulz(A, steps, restart, precision)
        return distance(gram, exact) / distance(plain, exact)

    steps = polynomials("polar-express", 5)
    return of_each(draws, evidence, 3, ratio)


def products(evidence: Evidence, aspects: tuple[int, ...]) -> Rows:
    rows = {}
    for aspect in aspects:
        (A, *_) = drawn(f"Gaussian, {64 * aspect} x 64", evidence, 1)
        gram, plain = (
            metrics(solver, A, coefficients="polar-express", steps=5)["products"]
            for solver in ("gram-newton-schulz", "newton-schulz")
        )
        rows[f"{aspect}:1"] = [gram / plain]
    return rows
