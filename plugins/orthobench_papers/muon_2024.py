"""Jordan et al. 2024: Muon, polar factors by five Newton-Schulz steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from orthobench.contract import Array
from orthobench_papers.polar_runs import drawn, newton_schulz, of_each, off_one, polynomials
from orthobench_papers.reproduce import Evidence, Rows


def distances(
    evidence: Evidence, draws: Sequence[str], coefficients: str, steps: int, precision: str
) -> Rows:
    chosen = polynomials(coefficients, steps)
    return of_each(draws, evidence, 10, lambda A: off_one(newton_schulz(A, chosen, precision)))


def spread(evidence: Evidence) -> Iterator[float]:
    for A in drawn("Gaussian, 128 x 64", evidence, 10):
        values = np.sort(np.linalg.svd(newton_schulz(A, polynomials("jordan", 5)))[1])
        yield float(np.abs(values - 0.5 - np.arange(0.5, 64) / 64).max())


def stable(evidence: Evidence, draws: Sequence[str]) -> Rows:
    def ratio(A: Array) -> float:
        exact, rounded = (newton_schulz(A, chosen, p) for p in ("float64", "bfloat16"))
        return gain(A, rounded) / gain(A, exact)

    chosen = polynomials("jordan", 5)
    return of_each(draws, evidence, 10, ratio)


def gain(A: Array, X: Array) -> float:
    """Return <A, X> over the nuclear norm of A."""
    return float(np.vdot(A, X)) / float(np.linalg.norm(A, "nuc"))
