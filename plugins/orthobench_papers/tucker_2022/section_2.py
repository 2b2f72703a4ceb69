"""Section 2: the decomposition, its gradient, and HOEVD."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from orthobench_tucker.reference import multiplied, objective

import orthobench as ob
from orthobench.contract import AnyInstance, Array, random_point
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import begin
from orthobench_papers.tucker_2022 import dense

SHAPES = ((6, 3, 2), (5, 4, 2), (5, 3, 3), (4, 5, 2))
"""n, d and r of tensors for identities."""

SEEDS, STARTS = 12, 20


def tensors(
    evidence: Evidence, count: int = 3
) -> Iterator[tuple[Array, Array, np.random.Generator]]:
    """Yield random symmetric tensors, each with a random basis and a generator."""
    for seed in evidence.seeds[:count]:
        for n, order, r in SHAPES:
            rng = np.random.default_rng([seed, n, order, r])
            yield dense.symmetric(n, order, rng), random_point(n, r, rng), rng


def remark_1(evidence: Evidence) -> Iterator[float]:
    for T, Q, _ in tensors(evidence):
        rebuilt = multiplied(multiplied(T, *[Q] * T.ndim), *[Q.T] * T.ndim)
        instance = ob.symmetric_tucker(tensor=T, rank=Q.shape[1])
        error = instance.measure(ob.Solution(Q))["relative_error"]
        yield abs(error - np.sum((T - rebuilt) ** 2) / np.sum(T**2))


def gradient(evidence: Evidence) -> Iterator[float]:
    for T, Q, _ in tensors(evidence):
        slopes = dense.differences(partial(objective, T), Q)
        yield dense.deviation(dense.gradient(T, Q), slopes)


def descent(evidence: Evidence) -> Iterator[bool]:
    for T, Q, _ in tensors(evidence):
        G = dense.gradient(T, Q)
        moved = np.linalg.qr(Q - 1e-3 * G / np.linalg.norm(G))[0]
        yield objective(T, moved) > objective(T, Q)


def ascents(instance: AnyInstance, seed: int, metric: str) -> list[float]:
    """Return a final metric of ascents from HOEVD, and from random starts."""

    def end(seed: int, **options: Any) -> float:
        return begin("pgd", instance, seed, **options).advance(3000).metrics[metric]

    return [end(seed), *(end(seed + s, start="random") for s in range(STARTS))]


def hoevd_bound(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[: evidence.sized(SEEDS, 4)]:
        for n, order, r in ((8, 3, 3), (6, 4, 2)):
            T = dense.symmetric(n, order, np.random.default_rng([seed, n]))
            instance = ob.symmetric_tucker(tensor=T, rank=r)
            hoevd = begin("hoevd", instance, seed).advance().metrics["relative_error"]
            yield sqrt(hoevd / min(hoevd, *ascents(instance, seed, "relative_error"))) / sqrt(order)


def hoevd_is_not_critical(evidence: Evidence) -> Array:
    smallest = evidence.problems("figure-2", "nig-factor order=3")[0]
    return evidence.finals("figure-2", smallest, "hoevd form=implicit", "relative_gradient")


def hoevd_attracts(evidence: Evidence) -> tuple[list[bool], dict[str, float]]:
    hits, others = [], []
    for seed in evidence.seeds[: evidence.sized(30, 10)]:
        rng = np.random.default_rng([seed, 2])
        instance = ob.symmetric_tucker(_noisy(rng).T, order=3, rank=3)
        values = ascents(instance, seed, "objective")
        most = max(values) * (1 - 1e-8)
        hits.append(values[0] >= most)
        others.append(np.mean(np.array(values[1:]) >= most))
    return hits, {"others": float(np.mean(others))}


def _noisy(rng: np.random.Generator) -> Array:
    factors = rng.exponential(size=(5, 400)) - 1
    return np.asarray(rng.standard_normal((20, 5)) @ factors + rng.standard_normal((20, 400)))
