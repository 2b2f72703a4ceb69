"""The streaming Tucker solvers against plain numpy and the bound of their matrix products.

Run with ``pytest benchmarks/test_tucker_streaming.py``. Both see the same samples, start and step
size, and must end in the same subspace; the two take turns, and the best of each counts. The
samples fill the window that the harness prepares (32 MiB), so that each batch comes from memory.

The bound is what the gradient's products would take at the rate of a square matrix product,
measured here: 4nbr flops with X and 4b²r within the batch for spgd, as its paper counts. For shoevd
it is b²n + 4nbr + 2b²r; beside it stands what these products take alone, in the shapes that they
have, which plain numpy needs as well.
"""

from __future__ import annotations

from functools import cache, partial
from time import perf_counter

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.sources import ArraySource
from orthobench_tucker import MomentStream, reference
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import SPGD
from smoke import usually

from orthobench.contract.samples import WINDOW_BYTES
from orthobench.tools.geometry import random_point

SIZES = usually([(500, 50, 5), (5000, 200, 10)], smoke=[(30, 10, 3)])
BYTES = usually(WINDOW_BYTES, smoke=100 * 30 * 8)
TARGETS = {  # least ratios to plain numpy
    ("spgd", 500, 3): 3.0,
    ("spgd", 500, 4): 5.0,
    ("spgd", 5000, 3): 2.5,
    ("spgd", 5000, 4): 2.5,
}
PLAIN_ROUNDS = usually(7, smoke=1)
ROUNDS = usually(15, smoke=1)
SOLVERS = {
    "spgd": (
        lambda b: SPGD(batch=b, hoevd_steps=0),
        partial(reference.ascent, reference.tucker_gradient),
    ),
    "shoevd": (lambda b: SHOEVD(batch=b), partial(reference.ascent, reference.hoevd_gradient)),
}


@cache
def samples(n, b, r):
    """Rows of a factor model with centred exponential factors, a window full of whole batches."""
    rng = np.random.default_rng(0)
    count = BYTES // (8 * n) // b * b
    factors = rng.exponential(size=(count, r)) - 1
    noise = rng.standard_normal((count, n)) * 0.5 * np.sqrt(r / n)
    return factors @ random_point(n, r, rng).T + noise


@cache
def start(n, r):
    return random_point(n, r, np.random.default_rng(1))


def opened(solver, X, d, r):
    oracle = MomentStream(ArraySource(X), d, r)
    oracle.start = start(X.shape[1], r)
    oracle.prepare(len(X))
    return oracle, solver.init(oracle, np.random.default_rng(2))


def solve(solver, oracle, state, count):
    solver.advance(oracle, state, count)
    return solver.solution(state)


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


@cache
def gemm_rate():
    """Return flops per second of (500, 500) by (500, 500)."""
    A, out = np.random.default_rng(0).standard_normal((500, 500)), np.empty((500, 500))
    B = A.copy()
    return 2 * 500**3 / min(seconds(lambda: np.matmul(A, B, out=out))[0] for _ in range(30))


def bound(name, n, b, r):
    """Return the seconds of a step's products at that rate."""
    flops = {
        "spgd": 4 * n * b * r + 4 * b * b * r,
        "shoevd": b * b * n + 4 * n * b * r + 2 * b * b * r,
    }
    return flops[name] / gemm_rate()


def seconds_for_products(n, b, r):
    """Return the minimum time of the products of a shoevd step, in seconds."""
    batches, rows = samples(n, b, r).reshape(-1, b, n), np.ascontiguousarray(start(n, r).T)

    def multiply():
        for batch in batches:
            (rows @ batch.T) @ (batch @ batch.T) @ batch

    return min(seconds(multiply)[0] for _ in range(PLAIN_ROUNDS)) / len(batches)


@pytest.mark.parametrize("d", [3, 4])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "n={},b={},r={}".format(*size))
@pytest.mark.parametrize("name", SOLVERS)
def test_against_plain_numpy(benchmark, beside, report, name, size, d):
    n, b, r = size
    make, plain = SOLVERS[name]
    X, solver, opponent = samples(*size), make(b), []
    steps = len(X) // b
    solve(solver, *opened(solver, X, d, r), steps)

    def take_turns():
        if len(opponent) < PLAIN_ROUNDS:
            opponent.append(seconds(lambda: plain(start(n, r), X, d, b, 1.0)))
        return (solver, *opened(solver, X, d, r), steps), {}

    benchmark.group = f"{name} n={n} d={d}"
    solution = benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS)
    beside({"plain numpy": [spent for spent, _ in opponent]})
    slow, point = min(opponent, key=lambda run: run[0])
    fast = benchmark.stats.stats.min
    assert subspace_error(point, solution.point) <= 1e-8
    target, step = TARGETS.get((name, n, d)), fast / steps
    alone = f", {step / seconds_for_products(*size):.2f} products" if name == "shoevd" else ""
    benchmark.extra_info.update(plain_seconds=slow, ratio=slow / fast, samples=len(X))
    report(
        f"{name} d={d} b={b}",
        f"{n}",
        r,
        f"{len(X) / slow:.0f}",
        f"{len(X) / fast:.0f}",
        f"{slow / fast:.1f}",
        verdict(slow / fast, target),
        f"{step / bound(name, n, b, r):.1f}{alone}",
    )


def verdict(ratio, target):
    if target is None:
        return ""
    return f"{target:g} {'met' if ratio >= target else 'MISSED'}"
