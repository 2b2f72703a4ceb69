"""Solvers with two BLAS threads against one, as ``threads = 2`` in a suite sets them.

Run with ``pytest benchmarks/test_threads.py`` on two idle cores: what is reported are runs a
second, and how many times faster two threads are. The two take turns, and the best of each counts.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_tensor
import test_tucker_explicit
import test_tucker_streaming
from orthobench_givens.solvers.tensor import GivensTensor
from smoke import usually

from orthobench.tools.environment import limited

ROUNDS = usually(7, smoke=1)
N, D = usually((100, 200), smoke=(10, 6))
STREAMED = test_tucker_streaming.SIZES[-1]


def streamed(name):
    """Return a call that takes all batches."""
    n, b, r = STREAMED
    X = test_tucker_streaming.samples(n, b, r)
    solver = test_tucker_streaming.SOLVERS[name][0](b)

    def call():
        oracle, state = test_tucker_streaming.opened(solver, X, 3, r)
        return test_tucker_streaming.solve(solver, oracle, state, len(X) // b)

    return call


def swept(order):
    """Return a call that tries as many pairs as half a sweep has."""
    oracle, solver = test_tensor.odeco(D)[0], GivensTensor(order=order)

    def call():
        state = solver.init(oracle, np.random.default_rng(2))
        solver.advance(oracle, state, D * (D - 1) // 4)

    return call


CALLS = {
    "shoevd": lambda: streamed("shoevd"),
    "spgd": lambda: streamed("spgd"),
    "givens-tensor, cyclic": lambda: swept("cyclic"),
    "givens-tensor, random": lambda: swept("random"),
    "jacobi-tucker": lambda: (
        lambda: test_tucker_explicit.solve(test_tucker_explicit.SOLVERS["jacobi-tucker"], N, 3)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_two_threads(benchmark, beside, report, name):
    call, one = CALLS[name](), []
    call()

    def two():
        with limited(2):
            call()

    benchmark.group = f"{name}, two threads"
    benchmark.pedantic(
        two, setup=lambda: one.append(test_tensor.seconds(call)[0]), rounds=ROUNDS, warmup_rounds=1
    )
    beside({"one thread": one})
    slow, fast = min(one), benchmark.stats.stats.min
    size = {"shoevd": STREAMED[0], "spgd": STREAMED[0], "jacobi-tucker": N}.get(name, D)
    report(
        f"{name}: two threads : one", size, "", f"{1 / slow:.3g}", f"{1 / fast:.3g}",
        f"{slow / fast:.2f}", "", "",
    )  # fmt: skip
