"""Section 6: projected gradient ascent converges, and never lowers F."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import log
from typing import Any

import numpy as np
from orthobench_tucker.reference import objective

import orthobench as ob
from orthobench.contract import Array, Status, random_point
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import DrivenRun, begin
from orthobench_papers.tucker_2022 import dense, grassmann
from orthobench_papers.tucker_2022.section_2 import tensors

STEP = 1e-3
"""Distance of points for second differences along geodesics."""

GAMMA = 0.01
"""Step size in the formulae of section 6.3."""

TOLERANCE = 1e-8

SAFE: dict[str, Any] = {"start": "random", "rule": "constant", "step": 1.0}
"""Algorithm 1 with the longest safe step."""

KOFIDIS_REGALIA: dict[tuple[int, ...], float] = {
    (0, 0, 0, 0): 0.2883, (0, 0, 0, 1): -0.0031, (0, 0, 0, 2): 0.1973, (0, 0, 1, 1): -0.2485,
    (0, 0, 1, 2): -0.2939, (0, 0, 2, 2): 0.3847, (0, 1, 1, 1): 0.2972, (0, 1, 1, 2): 0.1862,
    (0, 1, 2, 2): 0.0919, (0, 2, 2, 2): -0.3619, (1, 1, 1, 1): 0.1241, (1, 1, 1, 2): -0.3420,
    (1, 1, 2, 2): 0.2127, (1, 2, 2, 2): 0.2727, (2, 2, 2, 2): -0.3054,
}  # fmt: skip
"""Kofidis and Regalia 2002, "On the best rank-1 approximation of higher-order supersymmetric
tensors", Example 1."""


def ascents(evidence: Evidence) -> Iterator[tuple[Array, DrivenRun]]:
    """Begin Algorithm 1 on random tensors, with the longest safe step."""
    for T, Q, _ in tensors(evidence, evidence.sized(10, 3)):
        instance = ob.symmetric_tucker(tensor=T, rank=Q.shape[1])
        yield T, begin("pgd", instance, 0, Q, **SAFE, tolerance=TOLERANCE)


def monotone(evidence: Evidence) -> Iterator[float]:
    for T, ascent in ascents(evidence):
        values = [objective(T, ascent.point)]
        values += [objective(T, ascent.advance(1).point) for _ in range(300)]
        yield np.min(np.diff(values)) / values[-1]


def convergent(evidence: Evidence) -> Iterator[float]:
    for T, ascent in ascents(evidence):
        Q = ascent.advance(50_000).point
        slope = np.linalg.norm(grassmann.gradient(T, grassmann.projector(Q)))
        yield float(slope / objective(T, Q))


def second_order(evidence: Evidence) -> Iterator[float]:
    for T, ascent in ascents(evidence):
        curvatures = grassmann.curvatures(T, ascent.advance(50_000).point)
        yield curvatures[-1] / np.abs(curvatures).max()


def riemannian_gradient(evidence: Evidence) -> Iterator[float]:
    for T, Q, _ in tensors(evidence):
        G, basis = grassmann.gradient(T, grassmann.projector(Q)), grassmann.tangents(Q)
        slopes = [
            (along(T, Q, D, dense.FINE) - along(T, Q, D, -dense.FINE)) / (2 * dense.FINE)
            for D in basis
        ]
        yield dense.deviation(np.array([np.vdot(G, D) for D in basis]), np.array(slopes))


def riemannian_hessian(evidence: Evidence) -> Iterator[float]:
    for T, Q, _ in tensors(evidence):
        P, basis = grassmann.projector(Q), grassmann.tangents(Q)
        middle = 2 * objective(T, Q)
        bends = [(along(T, Q, D, STEP) + along(T, Q, D, -STEP) - middle) / STEP**2 for D in basis]
        forms = [np.vdot(D, grassmann.hessian(T, P, D)) for D in basis]
        yield dense.deviation(np.array(forms), np.array(bends))


def along(T: Array, Q: Array, D: Array, t: float) -> float:
    """Return F at `t` of the geodesic from Q along D."""
    return objective(T, grassmann.geodesic(Q, D, t))


def update_differential(evidence: Evidence) -> Iterator[float]:
    for T, Q, _ in tensors(evidence):
        P = grassmann.projector(Q)
        for D in grassmann.tangents(Q):
            ahead, behind = (
                grassmann.update(T, grassmann.projector(grassmann.geodesic(Q, D, t)), GAMMA)
                for t in (dense.FINE, -dense.FINE)
            )
            formula = grassmann.differential(T, P, D, GAMMA)
            yield dense.deviation(formula, (ahead - behind) / (2 * dense.FINE))


def first_order_change(evidence: Evidence) -> Iterator[float]:
    for T, Q, _ in tensors(evidence):
        P = grassmann.projector(Q)
        W, G = grassmann.w(T, P), grassmann.gradient(T, P)
        rests = []
        for gamma in (1e-3, 1e-4):
            alpha = np.linalg.pinv(P + 2 * gamma * P @ W @ P, rcond=1e-10)
            change = grassmann.update(T, P, gamma) - P
            rests.append(np.linalg.norm(change - 4 * gamma * grassmann.symmetrized(G @ alpha)))
        yield log(rests[0] / rests[1]) / log(10)


def saddle(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a decomposable tensor, and a point between two components."""
    n = 5
    V, sizes = random_point(n, n, rng), rng.uniform(1, 2, size=n)
    T = np.einsum("i,ai,bi,ci->abc", sizes, V, V, V)
    q = V[:, :2] @ (1 / sizes[:2])
    return T, (q / np.linalg.norm(q))[:, None]


def unstable(evidence: Evidence) -> tuple[list[float], dict[str, float]]:
    found, left = [], []
    for seed in evidence.seeds[:10]:
        rng = np.random.default_rng(seed)
        T, q = saddle(rng)
        if grassmann.curvatures(T, q)[-1] <= 0:
            continue
        found.append(grassmann.multipliers(T, q, GAMMA).max() - 1)
        near = np.linalg.qr(q + 1e-6 * rng.standard_normal(q.shape))[0]
        run = begin("pgd", ob.symmetric_tucker(tensor=T, rank=1), seed, near, **SAFE)
        left.append(dense.distance(run.advance(5000).point, q))
    return found, {"saddles": len(found), "left": min(left)}


def one_update_a_subspace(evidence: Evidence) -> tuple[list[float], dict[str, float]]:
    found: dict[str, list[float]] = {"constant": [], "adagrad": []}
    for T, Q, rng in tensors(evidence):
        instance = ob.symmetric_tucker(tensor=T, rank=Q.shape[1])
        turned = Q @ random_point(Q.shape[1], Q.shape[1], rng)
        for rule, distances in found.items():
            options = {**SAFE, "rule": rule, "tolerance": 0}
            runs = (begin("pgd", instance, 0, start, **options) for start in (Q, turned))
            distances.append(dense.distance(*(run.advance(10).point for run in runs)))
    return found["constant"], {"adagrad": np.median(found["adagrad"])}


def oscillation(evidence: Evidence) -> tuple[list[bool], dict[str, int]]:
    values = [KOFIDIS_REGALIA[tuple(sorted(at))] for at in product(range(3), repeat=4)]
    T = np.array(values).reshape((3,) * 4)
    instance = ob.symmetric_tucker(tensor=T, rank=1)
    cycles, settled = [], 0
    for seed in evidence.seeds[:40]:
        huge = begin("pgd", instance, seed, **{**SAFE, "step": 1e6}).advance(2000)
        cycles.append("oscillates" in huge.state.reason)
        safe = begin("pgd", instance, seed, **SAFE).advance(20_000)
        settled += safe.state.status is Status.CONVERGED
    return cycles, {"settled": settled}
