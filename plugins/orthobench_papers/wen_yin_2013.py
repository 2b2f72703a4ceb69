"""Wen and Yin 2013: a feasible method, the Cayley curve with Barzilai-Borwein steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orthobench.contract import Array, orthonormalize, random_point
from orthobench.tools.geometry import drift
from orthobench_papers.public_pca import leading, linear, relative_gap
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import begin_trial

SHAPES = ((30, 4), (12, 6), (9, 9))
"""n and p of points for identities."""


def curve(X: Array, G: Array, t: float) -> Array:
    """Return (I + tA/2)⁻¹ (I - tA/2) X with A = GX' - XG', of size n."""
    A, identity = G @ X.T - X @ G.T, np.eye(len(X))
    point = np.linalg.solve(identity + t / 2 * A, (identity - t / 2 * A) @ X)
    return np.asarray(point, dtype=np.float64)


def low_rank(X: Array, G: Array, t: float) -> Array:
    """Return the same by a system of size 2p, U = [G, X] and V = [X, -G]."""
    U, V = np.hstack([G, X]), np.hstack([X, -G])
    point: Array = X - t * U @ np.linalg.solve(np.eye(U.shape[1]) + t / 2 * V.T @ U, V.T @ X)
    return point


def pairs(evidence: Evidence) -> Iterator[tuple[Array, Array, np.random.Generator]]:
    """Yield points, each with a matrix G and a generator."""
    for seed in evidence.seeds[:10]:
        for n, p in SHAPES:
            rng = np.random.default_rng([seed, n, p])
            yield random_point(n, p, rng), rng.standard_normal((n, p)), rng


def stays_feasible(evidence: Evidence) -> list[float]:
    return [drift(curve(X, G, t)) for X, G, _ in pairs(evidence) for t in (1e-3, 1.0, 1e3)]


def neumann(evidence: Evidence, size: float) -> Iterator[float]:
    for seed in evidence.seeds[:10]:
        B = np.random.default_rng(seed).standard_normal((32, 32))
        Q = (B - B.T) * (size / np.linalg.norm(B - B.T, 2))
        series = sum(np.linalg.matrix_power(Q, power) for power in range(6))
        yield drift((np.eye(32) + Q) @ series)


def same_curve(evidence: Evidence) -> Iterator[float]:
    for X, G, _ in pairs(evidence):
        yield from (np.abs(curve(X, G, t) - low_rank(X, G, t)).max() for t in (1e-3, 1.0))


def slope_ratios(evidence: Evidence, coded: bool) -> Iterator[float]:
    """Yield the slope along the curve, over a formula for it."""
    for X, C, rng in pairs(evidence):
        B = rng.standard_normal((len(X), len(X)))
        B = B + B.T
        G = B @ X + C
        ends = [
            float(np.vdot(Y, B @ Y) / 2 + np.vdot(C, Y))
            for Y in (curve(X, G, t) for t in (1e-5, -1e-5))
        ]
        of = G - X @ (G.T @ X) if coded else (G @ X.T - X @ G.T) / np.sqrt(2)
        yield (ends[0] - ends[1]) / 2e-5 / -float(np.vdot(of, of))


def first_steps(evidence: Evidence, safe: bool) -> Iterator[float]:
    """Yield the rise of a linear cost in the first step next to its minimum.

    The gradient is so large that each of the first five trials overshoots.
    """
    for seed in evidence.seeds[:20]:
        rng = np.random.default_rng(seed)
        target = random_point(9, 3, rng)
        start = orthonormalize(target + 0.1 * rng.standard_normal((9, 3)))
        made = linear(-1e4 * target)
        run = begin_trial("wen-yin", made, seed, start, step=1e6, safe_search=safe, relative=False)
        before = run.metrics["objective"]
        yield (run.advance().metrics["objective"] - before) / abs(before)


def eigenvalues(evidence: Evidence) -> Iterator[float]:
    n = evidence.sized(300, 60)
    for seed in evidence.seeds[:5]:
        M = np.random.default_rng(seed).standard_normal((n, n))
        run = begin_trial("wen-yin", leading(M.T @ M, 6), seed, relative=False)
        yield relative_gap(run.advance(1000))
