"""Costs of judges: seconds of the first call, and of making the instance, against each size.

A judge may not cost more than the run. Its cost may grow at most linearly with the number p of
samples: the exponent of a power of p, fitted to the larger sizes, is at most 1.1. The exponents in
the number d of variables and in the order of a moment are reported.

At one real size of each family all judgements of a first run take at most as long as the run, or
`LEAST`; otherwise the table says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from time import process_time_ns
from typing import Any

import numpy as np
import pytest
import smoke
from smoke import usually

import orthobench as ob
from orthobench.harness.execution import CLOCK
from orthobench.tools.geometry import random_point

SAMPLES = usually([4000, 8000, 16_000, 32_000, 64_000], smoke=[60, 120])
VARIABLES = usually([50, 100, 200, 400], smoke=[8, 12])
ORDERS = usually([2, 3, 4, 5], smoke=[2, 3])
FIXED = {"p": usually(8000, smoke=60), "d": usually(100, smoke=8), "order": 4}
FASTEST = 1.1
ROUNDS = usually(3, smoke=1)
RANK = 4


@lru_cache(maxsize=2)
def rows(p: int, d: int) -> Any:
    return np.random.default_rng(0).exponential(size=(p, d)) - 1 + 4 * np.eye(d)[0]


def stochastic_pca(p: int, d: int, order: int) -> Any:
    return ob.stochastic_pca(rows(p, d), k=RANK)


def sparse_pca(p: int, d: int, order: int) -> Any:
    return ob.sparse_pca(rows(p, d), RANK, center=False)


def symmetric_tucker(p: int, d: int, order: int) -> Any:
    return ob.symmetric_tucker(rows(p, d), order=order, rank=RANK)


def mixture(p: int, d: int, order: int) -> Any:
    labels = np.arange(p) % RANK
    noise = np.random.default_rng(0).standard_normal((p, d))
    return ob.gmm_tensor(9 * np.eye(RANK, d)[labels] + noise, RANK, labels)


def tensor(p: int, d: int, order: int) -> Any:
    U = random_point(d, RANK, np.random.default_rng(0))
    return ob.orthogonal_tensor(np.einsum("ai,bi,ci->abc", U, U, U), factors=U)


def group(p: int, d: int, order: int) -> Any:
    A = np.diag(np.arange(1.0, d + 1))
    return ob.orthogonal_group(lambda U: -float(np.sum((U * (A @ U))[:, 0])), n=d)


MAKERS: dict[str, Callable[[int, int, int], Any]] = {
    "stochastic PCA": stochastic_pca,
    "sparse PCA": sparse_pca,
    "symmetric Tucker": symmetric_tucker,
    "Gaussian mixtures": mixture,
    "orthogonal tensors": tensor,
    "orthogonal group": group,
}


def pca(n: int, d: int, k: int) -> Any:
    return ob.pca(np.random.default_rng(0).standard_normal((n, d)) / np.sqrt(1 + np.arange(d)), k)


def cca(n: int, d: int, k: int) -> Any:
    X, Y = rows(n, 2 * d).reshape(2, n, d)
    return ob.cca(X, Y + X, k)


def polar(n: int) -> Any:
    return ob.polar(np.random.default_rng(0).standard_normal((n, n)))


def procrustes(n: int, k: int) -> Any:
    A, B = rows(2 * n, n), rows(2 * n, k)
    return ob.stiefel(
        lambda U: float(np.linalg.norm(A @ U - B) ** 2), n=n, p=k,
        gradient=lambda U: 2 * A.T @ (A @ U - B),
    )  # fmt: skip


REAL: tuple[tuple[str, Callable[..., Any], tuple[int, ...], int | None], ...] = usually(
    (
        ("gram-pca", pca, (200_000, 300, 10), None),
        ("randomized-pca", pca, (3000, 2000, 10), None),
        ("block-krylov", pca, (500, 20_000, 10), None),
        ("batch-pca", stochastic_pca, (200_000, 300, 0), None),
        ("oja", stochastic_pca, (200_000, 300, 0), None),
        ("gpower", sparse_pca, (2000, 1000, 0), 50),
        ("spgd", symmetric_tucker, (32_000, 150, 4), 200),
        ("pgd", symmetric_tucker, (4000, 200, 4), 30),
        ("tensor-power", tensor, (0, 100, 0), None),
        ("givens", group, (0, 200, 0), 50),
        ("landing", procrustes, (1000, 20), 50),
        ("cca-exact", cca, (100_000, 100, 3), None),
        ("scipy-polar", polar, (1000,), None),
    ),
    smoke=(
        ("gram-pca", pca, (60, 8, 3), None),
        ("spgd", symmetric_tucker, (60, 8, 4), 5),
        ("scipy-polar", polar, (10,), None),
        ("landing", procrustes, (10, 3), 5),
        ("cca-exact", cca, (60, 4, 2), None),
    ),
)
"""Solver, maker, sizes and steps."""

LEAST = usually(0.1, smoke=1e9)
"""Seconds that a judge may take whatever the run took."""

WITHOUT_SAMPLES = {"orthogonal tensors", "orthogonal group"}


def seconds(family: str, **sizes: int) -> float:
    """Minimum seconds of this process to make an instance and to judge one solution."""
    rows(sizes.get("p", FIXED["p"]), sizes.get("d", FIXED["d"]))
    spent = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        instance = MAKERS[family](**(FIXED | sizes))
        oracle = instance.oracle
        instance.measure(ob.Solution(random_point(oracle.n, oracle.k, np.random.default_rng(1))))
        spent.append(time.process_time() - begin)
    return min(spent)


def exponent(sizes: list[int], spent: list[float]) -> float:
    return float(np.polyfit(np.log(sizes[-4:]), np.log(spent[-4:]), 1)[0])


def told(report: Any, family: str, name: str, sizes: list[int], target: float | str = "") -> float:
    seconds(family)  # what the first call of all loads
    spent = [seconds(family, **{name: size}) for size in sizes]
    found = exponent(sizes, spent)
    each = ", ".join(f"{s:.3f}" for s in spent)
    report(f"judge of {family}, {name}", str(sizes), RANK, "", each, f"{found:.2f}", target, "")
    return found


@pytest.mark.parametrize("family", [name for name in MAKERS if name not in WITHOUT_SAMPLES])
def test_a_judge_is_linear_in_the_samples(report, family):
    assert told(report, family, "p", SAMPLES, FASTEST) <= FASTEST or smoke.ON


@pytest.mark.parametrize("family", MAKERS)
def test_a_judge_against_variables(report, family):
    sizes = usually([20, 40, 80, 160], smoke=[6, 8]) if family in WITHOUT_SAMPLES else VARIABLES
    told(report, family, "d", sizes)


def test_a_judge_against_the_order_of_a_moment(report):
    told(report, "symmetric Tucker", "order", ORDERS)


@pytest.mark.parametrize(
    ("solver", "maker", "size", "steps"), REAL, ids=[f"{case[0]}-{case[2]}" for case in REAL]
)
def test_a_judge_takes_at_most_as_long_as_the_run(report, solver, maker, size, steps):
    instance, spent = maker(*size), []
    other = maker(*size)  # its judge loads and compiles what the first one of a process does
    start = random_point(other.oracle.n, other.oracle.k, np.random.default_rng(1))
    other.measure(ob.Solution(start))
    del other
    budget = ob.Budget(steps=steps) if steps else None

    def timed(call):
        def judged(*given):
            begin = time.process_time()
            found = call(*given)
            spent.append(time.process_time() - begin)
            return found

        return call and judged

    judge = {name: timed(getattr(instance, name)) for name in ("measure", "settle", "finish")}
    token = CLOCK.set(process_time_ns)
    try:
        outcome = ob.solve(solver, replace(instance, **judge), budget)
    finally:
        CLOCK.reset(token)
    assert all(mark.metrics for mark in outcome.trace)
    end = outcome.trace[-1]
    run, took = end.seconds + end.readout_seconds, sum(spent)
    met = "met" if took <= max(run, LEAST) else "MISSED"
    row = f"{run:.3g}", f"{took:.3g}", f"{took / run:.2f}"
    report(f"judges of {solver}", size, "", *row, f"run or {LEAST:g} s {met}", "")
