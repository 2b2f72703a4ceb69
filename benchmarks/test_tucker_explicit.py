"""Symmetric Tucker decomposition of full tensors: its algebra, and its solvers against pyttb.

Run with ``pytest benchmarks/test_tucker_explicit.py``; pyttb comes with the extra ``peers``. One
thread, one process; opponents take turns, and the minimum of each counts. Figures are calls per
second. The last column is the time over that of reading the tensor once (``np.vdot`` with itself),
or over that of the matrix products alone.

Tensors are third (fourth) moments of 5n samples B f + noise: B Gaussian (n, 5), f independent,
skewed (1.5), of unit variance, sigma sqrt(n) / |B| = 0.5. All solvers get the tensor for free.
Our time is that of the whole run from the HOEVD start on (`init` and `advance`), until the relative
gradient is 1e-8. The time of pyttb is that of ``tucker_als`` from its start "nvecs" on. It makes
the smallest number of iterations after which the first basis has that relative gradient, found off
the clock.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
from orthobench_tucker import symmetric_tucker
from orthobench_tucker._kernels.partial_cores import TensorCores
from orthobench_tucker.sample_moments import moment_tensor, tensor_core
from orthobench_tucker.solvers.hooi import HOOI
from orthobench_tucker.solvers.jacobi_tucker import JacobiTucker
from peers import imported
from smoke import usually

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point

RANK = 5
GRADIENT = 1e-8
ROUNDS = usually(15, smoke=1)
PEER_ROUNDS = usually(5, smoke=1)
SIZES = usually([(30, 3), (60, 3), (100, 3), (30, 4)], smoke=[(10, 3), (6, 4)])
SOLVERS = {"hooi": HOOI(tolerance=GRADIENT), "jacobi-tucker": JacobiTucker(tolerance=GRADIENT)}
TARGETS = {("hooi", 100, 3): 5.0, ("jacobi-tucker", 100, 3): 1.0}


@cache
def samples(n):
    rng = np.random.default_rng(n)
    B, shape = rng.standard_normal((n, RANK)), 16 / 9
    f = (rng.gamma(shape, size=(5 * n, RANK)) - shape) / np.sqrt(shape)
    sigma = 0.5 * np.linalg.norm(B) / np.sqrt(n)
    return f @ B.T + sigma * rng.standard_normal((5 * n, n))


@cache
def instance(n, order):
    made = symmetric_tucker(tensor=moment_tensor(samples(n), order), rank=RANK)
    made.oracle.start = random_point(n, RANK, np.random.default_rng(0))
    return made


def relative_gradient(Q, n, order):
    return instance(n, order).measure(Solution(np.ascontiguousarray(Q)))["relative_gradient"]


def seconds(call):
    begin = perf_counter()
    call()
    return perf_counter() - begin


@pytest.fixture
def best_in_turns(benchmark, beside):
    """Return the best time of ours and of each opponent; they take turns."""

    def best(group, ours, opponents, rounds=ROUNDS):
        times = {name: [] for name in opponents}
        for call in (ours, *opponents.values()):
            call()

        def take_turns():
            for name, call in opponents.items():
                times[name].append(seconds(call))

        benchmark.group = group
        benchmark.pedantic(ours, setup=take_turns, rounds=rounds)
        beside(times)
        return benchmark.stats.stats.min, *map(min, times.values())

    return best


def row(report, what, n, slow, fast, target=None, bound=""):
    ratio = slow / fast
    verdict = "" if target is None else f"{target:g} {'met' if ratio >= target else 'MISSED'}"
    report(what, n, RANK, f"{1 / slow:.4g}", f"{1 / fast:.4g}", f"{ratio:.1f}", verdict, bound)


@pytest.mark.parametrize(("n", "order"), SIZES)
@pytest.mark.parametrize("name", ["at", "along"])
def test_partial_cores_against_tensordot(best_in_turns, report, name, n, order):
    T = instance(n, order).oracle.T
    Q = random_point(n, RANK, np.random.default_rng(1))
    cores = TensorCores(T)
    ours = (lambda: cores.at(Q)) if name == "at" else (lambda: cores.along(Q, Q, cores.pairs(Q)))
    opponents = {
        "tensordots of at": lambda: tensor_core(T, Q),
        "reading the tensor": lambda: np.vdot(T, T),
    }
    fast, slow, read = best_in_turns(f"partial cores n={n} d={order}", ours, opponents)
    np.testing.assert_allclose(cores.at(Q), tensor_core(T, Q), rtol=1e-9, atol=1e-9 * abs(T).max())
    what = f"{name}, d = {order}, {1e6 * fast:.0f} us : tensordots of at"
    row(report, what, n, slow, fast, bound=f"{fast / read:.1f} reads")


def khatri_rao(X):
    """The third moment by blocks of Khatri-Rao products."""
    p, n = X.shape
    total = np.zeros((n, n * n))
    for begin in range(0, p, 256):
        block = X[begin : begin + 256]
        total += block.T @ (block[:, :, None] * block[:, None, :]).reshape(len(block), -1)
    return total.reshape(n, n, n) / p


def products(X):
    """The matrix products of the third moment, with nothing else: the bound."""
    Y = np.ascontiguousarray(X.T)
    for a in range(len(Y)):
        Y[a:] @ Y[: len(Y) - a].T


@pytest.mark.parametrize("n", [n for n, order in SIZES if order == 3])
def test_moments_against_khatri_rao(best_in_turns, report, n):
    X = samples(n)
    opponents = {"Khatri-Rao": lambda: khatri_rao(X), "products alone": lambda: products(X)}
    group = f"third moment n={n}"
    fast, slow, bound = best_in_turns(
        group, lambda: moment_tensor(X, 3), opponents, rounds=usually(7, smoke=1)
    )
    np.testing.assert_allclose(moment_tensor(X, 3), khatri_rao(X), rtol=1e-9, atol=1e-9)
    what = f"moment, d = 3, p = {5 * n}, {1e3 * fast:.1f} ms : Khatri-Rao"
    row(report, what, n, slow, fast, bound=f"{fast / bound:.1f} products")


def solve(solver, n, order):
    oracle = instance(n, order).oracle
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, 1000)
    assert state.status is Status.CONVERGED
    return solver.solution(state).point


def enough(decompose, n, order):
    """Return the smallest number of iterations after which pyttb's basis is there."""
    for iterations in range(1, 100):
        if relative_gradient(decompose(iterations), n, order) <= GRADIENT:
            return iterations
    pytest.fail("pyttb does not get there")


@pytest.mark.parametrize(("n", "order"), SIZES)
@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_against_pyttb(best_in_turns, report, capsys, name, n, order):
    pyttb = imported("pyttb")
    tensor = pyttb.tensor(np.array(instance(n, order).oracle.T))

    def decompose(iterations):
        settings = {"init": "nvecs", "stoptol": 0, "maxiters": iterations, "printitn": 0}
        found, _, _ = pyttb.tucker_als(tensor, RANK, **settings)
        return found.factor_matrices[0]

    iterations = enough(decompose, n, order)
    fast, slow = best_in_turns(
        f"Tucker of a tensor, n={n} d={order}, from hoevd",
        lambda: solve(SOLVERS[name], n, order),
        {f"pyttb, {iterations} iterations": lambda: decompose(iterations)},
        rounds=PEER_ROUNDS,
    )
    capsys.readouterr()
    assert relative_gradient(solve(SOLVERS[name], n, order), n, order) <= 1.01 * GRADIENT
    what = f"{name}, d = {order}, {1e3 * fast:.2f} ms : pyttb.tucker_als, {iterations} iterations"
    row(report, what, n, slow, fast, TARGETS.get((name, n, order)))
