"""Dao-AILab 2026: Newton-Schulz iterations of the Gram matrix."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench_papers.polar_runs import (
    conditioned,
    distance,
    drawn,
    gaussian,
    gram_newton_schulz,
    in_each,
    metrics,
    newton_schulz,
    polynomials,
)
from orthobench_papers.reproduce import Evidence, Measurement, always_within

SPECTRA = {
    "Gaussian": gaussian(512, 128), "condition 1e2": conditioned(512, 128, 1e2),
    "condition 1e4": conditioned(512, 128, 1e4),
}  # fmt: skip
ILL = {name: draw for name, draw in SPECTRA.items() if name != "Gaussian"}


def in_doubles(evidence: Evidence) -> Measurement:
    rows, steps = {}, polynomials("polar-express", 5)
    for name, draw in SPECTRA.items():
        found = [
            distance(gram_newton_schulz(A, steps, 2), newton_schulz(A, steps))
            for A in drawn(draw, evidence, 3)
        ]
        rows[name] = always_within(found, high=1e-10)
    return in_each(rows, "distance of the two forms in float64")


def loses(
    evidence: Evidence, precision: str, restart: int, names: Iterable[str], low: float, high: float
) -> Measurement:
    rows, steps = {}, polynomials("polar-express", 5)
    for name in names:
        found = []
        for A in drawn(SPECTRA[name], evidence, 3):
            exact = newton_schulz(A, steps)
            plain = newton_schulz(A, steps, precision)
            gram = gram_newton_schulz(A, steps, restart, precision)
            found.append(distance(gram, exact) / distance(plain, exact))
        rows[name] = always_within(found, low, high)
    return in_each(rows, f"rounding error of the Gram form over that of the plain, {precision}")


def products(evidence: Evidence, aspects: tuple[int, ...], high: float) -> Measurement:
    rows = {}
    for aspect in aspects:
        (A, *_) = drawn(gaussian(64 * aspect, 64), evidence, 1)
        spent = [
            metrics(solver, A, coefficients="polar-express", steps=5)["products"]
            for solver in ("gram-newton-schulz", "newton-schulz")
        ]
        rows[f"{aspect}:1"] = always_within([spent[0] / spent[1]], high=high)
    return in_each(rows, "products of five steps over those of the plain form")
