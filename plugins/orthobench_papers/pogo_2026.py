"""Javaloy and Vergari 2026: POGO, a gradient step and a step back to the manifold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from orthobench.contract import Array, flops, random_point
from orthobench_papers.public_pca import linear, pca, until
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import begin_trial

N, P = 60, 20
"""The size of points on which single steps are measured."""

GAP, MOST = 1e-5, 3000
"""Relative gap for comparisons, and maximum number of steps."""


def unit_gradient(seed: int) -> Array:
    """Return a random G with |G| = sqrt(P)."""
    G = np.random.default_rng(seed).standard_normal((N, P))
    return np.asarray(G * np.sqrt(P) / np.linalg.norm(G))


def defects(evidence: Evidence, step: float) -> Iterator[float]:
    """Yield the defect after a step with a gradient of size sqrt(P), by seed."""
    for seed in evidence.seeds[:20]:
        run = begin_trial("pogo", linear(unit_gradient(seed)), seed, step=step, relative=False)
        yield run.advance().metrics["orthogonality_defect"]


def fourth_order(evidence: Evidence) -> Array:
    return np.array([*defects(evidence, 0.1)]) / [*defects(evidence, 0.05)]


def heals(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:20]:
        start = random_point(N, P, np.random.default_rng(seed)) * (1 + 0.3 / np.sqrt(8 * P))
        made = linear(1e-30 * unit_gradient(seed))
        run = begin_trial("pogo", made, seed, start, tolerance=0.0, step=0.01, relative=False)
        yield run.advance(6).metrics["orthogonality_defect"]


def products(evidence: Evidence) -> list[float]:
    made, seed = linear(unit_gradient(0)), evidence.seeds[0]
    run = begin_trial("pogo", made, seed, step=0.01, relative=False)
    _, first, second = (state.work.flops for state in run.states(2))
    return [round((second - first) / flops.gemm(N, P, P))]


def quartic(seed: int, step: float) -> Array:
    """Return the coefficients of |Y'Y - I|² in l, Y = M + l(M - MM'M), highest first."""
    G = unit_gradient(seed)
    X = random_point(N, P, np.random.default_rng([seed, 1]))
    M = X - step * (G - X @ (G.T @ X)) / 2
    S = M.T @ M
    D = np.eye(P) - S
    E, F = 2 * S @ D, S @ D @ D
    coefficients = np.polyadd(
        np.polymul([np.vdot(F, F), np.vdot(F, E), -np.vdot(F, D)], [1, 0, 0]),
        np.polyadd(
            np.polymul([np.vdot(E, F), np.vdot(E, E), -np.vdot(E, D)], [1, 0]),
            [-np.vdot(D, F), -np.vdot(D, E), np.vdot(D, D)],
        ),
    )
    return np.asarray(coefficients, dtype=np.float64)


def real_root(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:20]:
        roots = np.roots(quartic(seed, 0.3))
        yield float((np.abs(roots.imag) < 1e-9 * np.abs(roots)).any())


def half_is_best(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:20]:
        coefficients = quartic(seed, 0.01)
        roots = np.roots(np.polyder(coefficients)).real
        yield roots[np.argmin(np.polyval(coefficients, roots))]


def steps_against(evidence: Evidence, rival: dict[str, Any]) -> Iterator[float]:
    """Yield the steps to the gap over those of Riemannian descent."""
    n, p = evidence.sized((200, 150), (60, 45))
    for seed in evidence.seeds[: evidence.sized(5, 3)]:
        made = pca(n, p, seed, printed=False)
        runs = [
            begin_trial("pogo", made, seed, step=0.25, relative=False),
            begin_trial("riemannian-gradient", made, seed, relative=False, **rival),
        ]
        for run in runs:
            until(run, GAP, MOST)
        yield runs[0].state.work.steps / runs[1].state.work.steps
