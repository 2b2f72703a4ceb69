"""SPEL, 2026: spectral steepest descent on the Stiefel manifold."""

from __future__ import annotations

import numpy as np
from orthobench_stiefel import projected

import orthobench as ob
from orthobench.contract import Array, random_point
from orthobench_papers.polar_runs import in_each, polar_factor
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    always_within,
    median_within,
)
from orthobench_papers.runs import begin_trial

SHAPES = {"128 x 64": (128, 64), "512 x 128": (512, 128)}
STEP = 0.1


def pair(n: int, p: int, seed: int) -> tuple[Array, Array]:
    """Return a random point and a standard normal gradient."""
    rng = np.random.default_rng([seed, 46])
    return random_point(n, p, rng), rng.standard_normal((n, p))


def stepped(X: Array, G: Array, projection: bool) -> Array:
    """Return the point after one step of `spel` with gradient G."""
    n, p = X.shape
    made = ob.stiefel(lambda Y: float(np.vdot(G, Y)), lambda _: G, n=n, p=p)
    return begin_trial("spel", made, 0, X, step=STEP, projection=projection).advance().point


def gain(X: Array, G: Array, Y: Array) -> float:
    """Return the decrease of <G, X>, over that of the longest step."""
    return float(np.vdot(G, X - Y)) / (STEP * float(np.linalg.norm(G, "nuc")))


def gains(evidence: Evidence) -> Measurement:
    rows = {}
    for name, (n, p) in SHAPES.items():
        found = []
        for seed in evidence.seeds[: evidence.sized(5, 2)]:
            X, G = pair(n, p, seed)
            found.append(gain(X, G, stepped(X, G, True)) / gain(X, G, stepped(X, G, False)))
        rows[name] = always_within(found, low=1.02)
    return in_each(rows, "gain of a step over that without the projection")


def tangent(evidence: Evidence) -> Measurement:
    rows = {}
    for name, (n, p) in {"64 x 64": (64, 64), **SHAPES}.items():
        found = []
        for seed in evidence.seeds[:3]:
            X, G = pair(n, p, seed)
            A = polar_factor(projected(X, G))
            XA = X.T @ A
            found.append(float(np.linalg.norm(XA + XA.T)) / p**0.5)
        rows[name] = always_within(found, high=1e-10)
    return in_each(rows, "|X'A + A'X| / √p of the direction A")


def feasible(evidence: Evidence) -> Measurement:
    found = []
    for seed in evidence.seeds[:3]:
        run = begin_trial("spel", ob_problem(seed), seed, step=STEP)
        found.append(run.advance(100).metrics["orthogonality_defect"])
    return always_within(found, high=1e-12, text="largest defect after 100 steps")


def ob_problem(seed: int) -> ob.Instance:
    """Return Brockett's problem with a known optimum."""
    rng = np.random.default_rng([seed, 47])
    Q = random_point(30, 30, rng)
    A, N = (Q * np.arange(1.0, 31)) @ Q.T, np.array([3.0, 2.0, 1.0])
    best = float(np.arange(1.0, 4) @ N)
    return ob.stiefel(
        lambda X: float(np.vdot(X * N, A @ X)), lambda X: 2 * (A @ X) * N, n=30, p=3, best=best
    )


def converges(evidence: Evidence, schedule: str, high: float) -> Measurement:
    found = []
    for seed in evidence.seeds[:5]:
        run = begin_trial("spel", ob_problem(seed), seed, step=STEP, schedule=schedule)
        run.advance(evidence.sized(4000, 1000))
        found.append(run.metrics["objective_gap"])
    return median_within(found, high=high, text="gap to the optimum at the end")
