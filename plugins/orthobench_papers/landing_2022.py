"""Ablin and Peyré 2022: landing, optimization on the orthogonal group without retractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

import numpy as np
from orthobench_stiefel import stiefel

from orthobench.contract import AnyInstance, Array, random_point
from orthobench.tools.geometry import drift
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import begin_trial

EPS = 0.5
"""Maximum defect after a safe step."""


def relative(X: Any, G: Any) -> Any:
    """Return skew(GX'), the relative gradient."""
    K = G @ X.T
    return (K - K.T) / 2


def points(count: int, evidence: Evidence) -> Iterator[tuple[Array, Array]]:
    """Yield square points with a defect of at most `EPS`, and gradients."""
    for seed in evidence.seeds[:count]:
        rng = np.random.default_rng(seed)
        X = random_point(8, 8, rng)
        E = rng.standard_normal((8, 8))
        size = float(rng.uniform(0, EPS))
        for _ in range(60):
            if drift(X + E) <= size:
                break
            E *= 0.8
        yield X + E, rng.standard_normal((8, 8)) * 10.0 ** float(rng.uniform(-3, 2))


def orthogonal_terms(evidence: Evidence) -> Iterator[float]:
    for X, G in points(100, evidence):
        along, pull = relative(X, G) @ X, (X @ X.T - np.eye(8)) @ X
        yield abs(np.vdot(along, pull)) / (np.linalg.norm(along) * np.linalg.norm(pull))


def defects(evidence: Evidence, step: Callable[[float, float, float], float]) -> Iterator[float]:
    """Yield the defect after a step; `step` maps d, |skew(GX')| and |field|."""
    for X, G in points(evidence.sized(2000, 200), evidence):
        K = relative(X, G)
        D = X @ X.T - np.eye(8)
        field = (K + D) @ X
        sizes = (float(np.linalg.norm(A)) for A in (D, K, field))
        yield drift(X - step(*sizes) * field)


def public(d: float, a: float, field: float) -> float:
    """Return the safe step of the public code."""
    del field
    alpha = -2 * (d + a * d)
    beta = a**2 + d**3 + 2 * a * d**2 + a**2 * d
    return (alpha + sqrt(alpha**2 + 4 * beta * (EPS - d))) / (2 * beta)


def unbounded(d: float, a: float, field: float) -> float:
    """Return the safe step from |X'X - I| <= d - 2td(1 - d) + t²|field|²."""
    del a
    pull = d * (1 - d)
    return (pull + sqrt(pull**2 + field**2 * (EPS - d))) / field**2


def bounded(d: float, a: float, field: float) -> float:
    """Return the same, at most 1/2."""
    return min(unbounded(d, a, field), 0.5)


def safe(evidence: Evidence, step: Callable[[float, float, float], float]) -> list[float]:
    return [max(defects(evidence, step))]


def procrustes(seed: int, n: int = 20) -> tuple[AnyInstance, Array]:
    """Return |XA - B|²/n over orthogonal X with random A and B, and a start.

    The start is on the component of the optimum.
    """
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, n, n))
    U, _, V = np.linalg.svd(B @ A.T)
    start = random_point(n, n, rng)
    start[:, 0] *= np.sign(np.linalg.det(start) * np.linalg.det(U @ V))
    made = stiefel(
        lambda X: float(np.sum((X @ A - B) ** 2)) / n,
        lambda X: 2 / n * (X @ A - B) @ A.T,
        n=n, p=n, best=float(np.sum((U @ V @ A - B) ** 2)) / n,
    )  # fmt: skip
    return made, start


def lands(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[: evidence.sized(5, 1)]:
        made, start = procrustes(seed)
        run = begin_trial("landing", made, seed, start, step=0.1, relative=False)
        yield run.advance(5000).metrics["orthogonality_defect"]


def as_few_steps(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:9]:
        made, start = procrustes(seed)
        ends = (
            begin_trial(name, made, seed, start, step=0.1, relative=False, **more).advance(300)
            for name, more in (("landing", {}), ("riemannian-gradient", {"steps": "constant"}))
        )
        landing, descent = (run.metrics["objective_gap"] for run in ends)
        yield landing / descent


def heals_rounding(evidence: Evidence) -> Iterator[float]:
    from scipy.linalg import expm

    for seed in evidence.seeds[:3]:
        rng = np.random.default_rng(seed)
        G = rng.standard_normal((8, 8)).astype(np.float32)
        landed = turned = random_point(8, 8, rng).astype(np.float32)
        for _ in range(evidence.sized(2000, 500)):
            pull = landed @ landed.T - np.eye(8, dtype=np.float32)
            landed = landed - np.float32(0.1) * (relative(landed, G) + pull) @ landed
            turned = expm(np.float32(-0.1) * relative(turned, G)).astype(np.float32) @ turned
        yield drift(landed.astype(float)) / drift(turned.astype(float))
