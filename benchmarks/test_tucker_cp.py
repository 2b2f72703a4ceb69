"""cp-adam against plain numpy and the flop bound, in iterations a second.

Run with ``pytest benchmarks/test_tucker_cp.py``. Both see the same batches of 50 samples and the
same start, and must end at the same components. The two take turns, and the minimum of each counts.
The end of an epoch is left out, since no opponent has it. pyttb has no equal: its stochastic
gcp_opt samples the entries of a formed tensor, and uses neither moments nor symmetry.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
from orthobench_tucker._kernels.cp import Settings, descend
from orthobench_tucker.reference import cp_adam
from orthobench_tucker.solvers.cp_adam import first_iterate
from smoke import usually

N, BATCH = usually((500, 50), smoke=(20, 10))
STEPS = usually({5: 40, 125: 8}, smoke={5: 2})
ROUNDS = usually({5: 200, 125: 40}, smoke={5: 1})
RATE = 0.05


@cache
def samples(count):
    """Heavy samples near five dimensions, of entries with mean square one."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(count, 5)) @ rng.standard_normal((5, N))
    X += 0.05 * rng.standard_normal(X.shape)
    return X / np.sqrt(np.mean(X**2))


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


@cache
def gemm_rate():
    """Return flops per second of a large matrix product."""
    A, out = np.ones((800, 800)), np.empty((800, 800))
    return 2 * 800**3 / min(seconds(lambda: np.matmul(A, A, out=out))[0] for _ in range(9))


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("components", STEPS)
def test_against_plain_numpy(benchmark, beside, report, components, order):
    steps, settings = STEPS[components], Settings(order, BATCH, 0.9, 0.999, 1e-8)
    X = samples(max(STEPS.values()) * BATCH)[: steps * BATCH]
    start = first_iterate(X[:BATCH], components, np.random.default_rng(1))
    V = start.components(N).T.copy()
    plain = []

    def take_turns():
        call = lambda: cp_adam(V, np.ones(components), X, order, BATCH, RATE)  # noqa: E731
        plain.append(seconds(call))
        return (start.copy(),), {}

    def solve(iterate):
        descend(iterate, X, 1.0, RATE, settings)
        return iterate

    solve(start.copy())
    benchmark.group = f"cp-adam r'={components} d={order}"
    found = benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS[components])
    beside({"plain numpy": [spent for spent, _ in plain]})
    slow, (point, weights) = min(plain, key=lambda turn: turn[0])
    fast = benchmark.stats.stats.min
    np.testing.assert_allclose(found.components(N).T, point, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.weights(N), weights, rtol=1e-5, atol=1e-6)
    bound = 4 * (BATCH + components) * components * N * steps / gemm_rate()
    report(
        f"cp-adam d={order}, iterations",
        f"{N}, b={BATCH}",
        components,
        f"{steps / slow:.0f}",
        f"{steps / fast:.0f}",
        f"{slow / fast:.1f}",
        "",
        f"{fast / bound:.2f}",
    )
