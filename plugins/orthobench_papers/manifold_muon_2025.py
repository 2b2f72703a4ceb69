"""Bernstein 2025: manifold Muon, the steepest tangent direction under a spectral bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from orthobench_stiefel import projected

from orthobench.contract import Array, random_point
from orthobench_papers.polar_runs import polar_factor
from orthobench_papers.public_pca import linear
from orthobench_papers.reproduce import Evidence, Rows, catalogue
from orthobench_papers.runs import begin_trial

SHAPES = {"64 x 32": (64, 32), "128 x 64": (128, 64), "512 x 128": (512, 128)}
TOLERANCE = 1e-6
"""The authors' tolerance for the root mean square of X'A + A'X."""


def shapes(evidence: Evidence) -> dict[str, tuple[int, int]]:
    """Return the sizes of matrices by name."""
    return dict([*SHAPES.items()][: evidence.sized(3, 2)])


def pair(n: int, p: int, seed: int, scale: float = 1.0) -> tuple[Array, Array]:
    """Return a random point and a normal gradient of a scale."""
    rng = np.random.default_rng([seed, 48])
    return random_point(n, p, rng), scale * rng.standard_normal((n, p))


def solved(X: Array, G: Array, **parameters: Any) -> tuple[Array, int]:
    """Return the direction A of `manifold-muon`, and its flops."""
    solver: Any = catalogue().solver("manifold-muon", parameters)
    state = begin_trial("manifold-muon", linear(G), 0, X, **parameters).state
    before = state.work.flops
    return solver.direction(state, G), state.work.flops - before


def dual_steps(X: Array, G: Array, **parameters: Any) -> int:
    """Return the number of dual steps, from the flops."""
    spent = [solved(X, G, dual_steps=most, **parameters)[1] for most in (1, 2)]
    whole = solved(X, G, **parameters)[1]
    return 1 + round((whole - spent[0]) / (spent[1] - spent[0]))


def off_tangent(X: Array, A: Array) -> float:
    """Return the root mean square of X'A + A'X."""
    XA = X.T @ A
    return float(np.linalg.norm(XA + XA.T)) / len(XA)


def tangency(evidence: Evidence, scale: float, parameters: Mapping[str, Any]) -> Rows:
    return {
        name: [
            off_tangent(X, solved(X, G, **parameters)[0])
            for X, G in (pair(*shape, seed, scale) for seed in evidence.seeds[:2])
        ]
        for name, shape in shapes(evidence).items()
    }


def steepest(evidence: Evidence) -> Rows:
    def ratio(X: Array, G: Array) -> float:
        return gain(X, G, solved(X, G)[0]) / gain(X, G, polar_factor(projected(X, G)))

    seeds = evidence.seeds[:2]
    return {
        name: [ratio(*pair(*shape, seed)) for seed in seeds]
        for name, shape in shapes(evidence).items()
    }


def gain(X: Array, G: Array, A: Array) -> float:
    """Return <G, T> for the tangent part T of A, cut to spectral norm 1."""
    T = projected(X, A)
    return float(np.vdot(G, T)) / max(1.0, float(np.linalg.norm(T, 2)))


def faster(evidence: Evidence, rival: Mapping[str, Any]) -> list[float]:
    shape = evidence.sized((512, 128), (128, 32))
    pairs = [pair(*shape, seed) for seed in evidence.seeds[:2]]
    return [dual_steps(*each, dual="admm") / dual_steps(*each, **rival) for each in pairs]
