"""SPEL, 2026: spectral steepest descent on the Stiefel manifold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from orthobench_stiefel import projected

import orthobench as ob
from orthobench.contract import Array, random_point
from orthobench_papers.polar_runs import polar_factor
from orthobench_papers.public_pca import linear
from orthobench_papers.reproduce import Evidence, Rows
from orthobench_papers.runs import begin_trial

SHAPES = {"128 x 64": (128, 64), "512 x 128": (512, 128)}
STEP = 0.1


def pair(n: int, p: int, seed: int) -> tuple[Array, Array]:
    """Return a random point and a standard normal gradient."""
    rng = np.random.default_rng([seed, 46])
    return random_point(n, p, rng), rng.standard_normal((n, p))


def stepped(X: Array, G: Array, projection: bool) -> Array:
    """Return the point after one step of `spel` with gradient G."""
    return begin_trial("spel", linear(G), 0, X, step=STEP, projection=projection).advance().point


def gain(X: Array, G: Array, Y: Array) -> float:
    """Return the decrease of <G, X>, over that of the longest step."""
    return float(np.vdot(G, X - Y)) / (STEP * float(np.linalg.norm(G, "nuc")))


def gains(evidence: Evidence) -> Rows:
    def ratio(X: Array, G: Array) -> float:
        return gain(X, G, stepped(X, G, True)) / gain(X, G, stepped(X, G, False))

    seeds = evidence.seeds[: evidence.sized(5, 2)]
    return {name: [ratio(*pair(*shape, seed)) for seed in seeds] for name, shape in SHAPES.items()}


def tangent(evidence: Evidence) -> Rows:
    def deviation(X: Array, G: Array) -> float:
        XA = X.T @ polar_factor(projected(X, G))
        return float(np.linalg.norm(XA + XA.T) / X.shape[1] ** 0.5)

    shapes = {"64 x 64": (64, 64), **SHAPES}
    seeds = evidence.seeds[:3]
    return {n: [deviation(*pair(*shape, seed)) for seed in seeds] for n, shape in shapes.items()}


def feasible(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:3]:
        run = begin_trial("spel", ob_problem(seed), seed, step=STEP)
        yield run.advance(100).metrics["orthogonality_defect"]


def ob_problem(seed: int) -> ob.Instance:
    """Return Brockett's problem with a known optimum."""
    rng = np.random.default_rng([seed, 47])
    Q = random_point(30, 30, rng)
    A, N = (Q * np.arange(1.0, 31)) @ Q.T, np.array([3.0, 2.0, 1.0])
    best = float(np.arange(1.0, 4) @ N)
    return ob.stiefel(
        lambda X: float(np.vdot(X * N, A @ X)), lambda X: 2 * (A @ X) * N, n=30, p=3, best=best
    )


def converges(evidence: Evidence, schedule: str) -> Iterator[float]:
    for seed in evidence.seeds[:5]:
        run = begin_trial("spel", ob_problem(seed), seed, step=STEP, schedule=schedule)
        yield run.advance(evidence.sized(4000, 1000)).metrics["objective_gap"]
