"""Sections 3 and 4: gradients from samples, batches, Algorithms 2 and 3, data and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from orthobench_tucker.reference import moment

import orthobench as ob
from orthobench.contract import Array, orthonormalize, random_point
from orthobench_papers.reproduce import Evidence
from orthobench_papers.runs import begin, instance
from orthobench_papers.tucker_2022 import dense

BATCH = 20
STEP = 0.3


def batches(evidence: Evidence) -> Iterator[tuple[int, Array, int, Array]]:
    """Yield a seed, a batch (n, b), an order and a basis of rank 3."""
    for seed in evidence.seeds[:4]:
        rng = np.random.default_rng(seed)
        X = dense.skewed(rng, 8, 8, BATCH)
        for order in (3, 4):
            yield seed, X, order, random_point(8, 3, rng)


def first_step(
    evidence: Evidence, name: str, cost: Callable[[Array, int, Array], float]
) -> Iterator[float]:
    """Compare a solver's first step with one along central differences.

    The columns of AdaGrad's first step have equal lengths.
    """
    for seed, X, order, Q in batches(evidence):
        instance = ob.symmetric_tucker(X.T, order=order, rank=3)
        options = {"hoevd_steps": 0} if name == "spgd" else {}
        run = begin(name, instance, seed, Q, batch=BATCH, step=STEP, **options)
        G = dense.differences(partial(cost, X, order), Q)
        expected = orthonormalize(Q + STEP * G / np.linalg.norm(G, axis=0))
        yield dense.distance(run.advance().point, expected)


def hoevd_cost(X: Array, order: int, Q: Array) -> float:
    """Return HOEVD's cost of a batch (n, b), |mat(M)'Q|² of its moment M."""
    return float(np.sum(np.tensordot(moment(X.T, order), Q, axes=([0], [0])) ** 2))


def equation_11(evidence: Evidence) -> Iterator[float]:
    for _, X, order, Q in batches(evidence):
        implicit = ob.symmetric_tucker(X.T, order=order, rank=3)
        explicit = ob.symmetric_tucker(tensor=implicit.oracle.T, rank=3)
        formed, value = (made.measure(ob.Solution(Q))["objective"] for made in (explicit, implicit))
        yield from (formed / value, dense.batch_cost(X, order, Q) / value)


def printed_factor(evidence: Evidence) -> Iterator[float]:
    for _, X, d, Q in batches(evidence):
        G = 2 * d / BATCH * X @ (X.T @ Q @ Q.T @ X) ** (d - 1) @ X.T @ Q
        true = dense.differences(partial(dense.batch_cost, X, d), Q)
        yield float(np.vdot(G, true) / np.vdot(true, true))


def equation_17(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:6]:
        X = dense.skewed(np.random.default_rng(seed), 10, 10, 200)
        for order in (3, 4):
            instance = ob.symmetric_tucker(X.T, order=order, rank=3)
            gram = X @ (X.T @ X) ** (order - 1) @ X.T
            leading = np.linalg.eigh(gram)[1][:, -3:]
            for form in ("implicit", "explicit"):
                run = begin("hoevd", instance, seed, form=form).advance()
                yield dense.distance(run.point, leading)


def bias(evidence: Evidence) -> tuple[list[float], dict[str, float]]:
    found, formula = [], []
    b, order, draws = 50, 3, evidence.sized(3000, 300)
    for seed in evidence.seeds[:10]:
        rng = np.random.default_rng(seed)
        pool = dense.skewed(rng, 5, 5, 4000)
        Q = random_point(5, 3, rng)
        Y = Q.T @ pool
        full = dense.batch_cost(pool, order, Q)
        drawn = (Y[:, rng.integers(4000, size=b)] for _ in range(draws))
        found.append(float(np.mean([np.sum((y.T @ y) ** order) / b**2 for y in drawn]) / full))
        own = np.mean(np.sum(Y**2, axis=0) ** order)
        formula.append(found[-1] / ((1 - 1 / b) + own / (b * full)))
    return found, {"draws": draws, "formula": np.median(formula)}


def core_of_samples(evidence: Evidence) -> Iterator[float]:
    for _, X, order, Q in batches(evidence):
        instance = ob.symmetric_tucker(X.T, order=order, rank=3, test=X.T[::2])
        core = instance.measure.test.core(Q)
        yield dense.deviation(core, moment((Q.T @ X[:, ::2]).T, order))


def noise(evidence: Evidence) -> Iterator[float]:
    n, r, asked = 100, 5, 0.5
    for seed in evidence.seeds[:10]:
        made = instance("nig-factor", seed, n=n, samples=20_000, test=0)
        X, Q = made.oracle.X, made.measure.basis  # type: ignore[attr-defined]
        inside, total = np.sum((X @ Q) ** 2) / len(X), np.sum(X**2) / len(X)
        variance = (total - inside) / (n - r)
        yield np.sqrt(n * variance / (inside - r * variance)) / asked


def over_objective(evidence: Evidence, statistic: Callable[..., Any]) -> Iterator[float]:
    for _, X, order, Q in batches(evidence):
        powers = (X.T @ Q @ Q.T @ X) ** order
        made = ob.symmetric_tucker(X.T, order=order, rank=3)
        objective = made.measure(ob.Solution(Q))["objective"]
        yield statistic(powers) / X.shape[1] ** 2 / objective
