"""The stochastic PCA solvers against plain numpy, scikit-learn and the flop bound.

Run with ``pytest benchmarks``. Every solver sees the samples, the start and the step sizes of
its opponent, and must end in the same subspace; the two take turns, and the best of each counts.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import orthobench_stochastic_pca as plugin
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.reference import METHODS, Spectrum, batch_pca
from smoke import usually

from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import random_point

SIZES = usually([(784, 8), (5000, 10)], smoke=[(40, 3)])
SOLVERS = {solver.name: solver for solver in plugin.orthobench_solvers()}

SAMPLES = {  # no more than the harness prepares at once (32 MiB), and about a second of plain numpy
    "msg": (1200, 300),
    "capped-msg": (4000, 800),
    "meg": (300, 100),
    "warmuth-kuzmin": (1200, 300),
    "incremental-pca": (4000, 800),
    "grassmannian-sgd": (4000, 800),
    "oja": (4000, 800),
    "batch-pca": (2000, 800),
}
TARGETS = {  # least ratios to plain numpy
    "msg": 10.0,
    "capped-msg": 12.0,
    "incremental-pca": 8.0,
    "warmuth-kuzmin": 10.0,
    "grassmannian-sgd": 10.0,
    "oja": 25.0,
}
RANK_UPDATING = {"msg", "capped-msg", "meg", "warmuth-kuzmin", "incremental-pca"}
ABSOLUTE = ("msg", "capped-msg", "meg", "warmuth-kuzmin", "grassmannian-sgd", "oja")
"""Those whose steps are in the unit of the data, by default."""

SETTINGS = {
    name: {"relative": False}
    | ({"start": "random"} if name in ("msg", "capped-msg", "warmuth-kuzmin") else {})
    for name in ABSOLUTE
}
PLAIN_ROUNDS = usually(3, smoke=1)
ROUNDS = usually(9, smoke=1)
PEER_SAMPLES = usually((4000, 800), smoke=(200,))
LONGEST = usually(20_000, smoke=2000)


@cache
def samples(d, n):
    """Gaussian samples whose k-th variance is proportional to 1/k, with E|x|² = 1."""
    variances = 1 / np.arange(1.0, d + 1)
    scales = np.sqrt(variances / variances.sum())
    return np.random.default_rng(0).standard_normal((n, d)) * scales


@cache
def start(d, k):
    return random_point(d, k, np.random.default_rng(1))


def opened(solver, X, k):
    oracle = SampleOracle(ArraySource(X), k)
    oracle.start = start(X.shape[1], k)
    oracle.prepare(len(X))
    return oracle, solver.init(oracle, np.random.default_rng(2))


def solve(solver, oracle, state, n):
    """The timed part: all samples, and for batch PCA its decomposition."""
    solver.advance(oracle, state, n)
    return solver.solution(state)


def plain_run(name, U, X, etas):
    """Return the basis and the ranks of the iterates of a plain method."""
    ranks = [U.shape[1]] * len(X)
    if name == "batch-pca":
        return batch_pca(X, U.shape[1]), ranks
    method = METHODS[name]
    iterate = method.begin(U)
    for i, (x, eta) in enumerate(zip(X, etas, strict=True)):
        iterate = method.step(iterate, x, eta)
        ranks[i] = len(iterate.s) if isinstance(iterate, Spectrum) else iterate.shape[1]
    return method.read(iterate), ranks


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


@cache
def gemm_rate(m, d):
    """Return flops per second of (m, m) by (m, d), the product that the bound counts."""
    A, B, out = np.ones((m, m)), np.ones((m, d)), np.empty((m, d))
    repeat = 1 + int(1e8 / (2 * m * m * d))

    def products():
        for _ in range(repeat):
            np.matmul(A, B, out=out)

    return 2 * m * m * d * repeat / min(seconds(products)[0] for _ in range(7))


def times_bound(spent, ranks, d):
    """Return how many times the flop bound, 2dm² a sample at the matrix product's rate."""
    at_rate = gemm_rate(max(2, round(float(np.mean(ranks)))), d)
    return spent / sum(2 * d * m * m / at_rate for m in ranks)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"d={size[0]},k={size[1]}")
@pytest.mark.parametrize("name", SAMPLES)
def test_against_plain_numpy(benchmark, beside, report, name, size):
    d, k = size
    n = usually(SAMPLES[name][SIZES.index(size)], smoke=60)
    X, solver = samples(d, n), SOLVERS[name](**SETTINGS.get(name, {}))
    etas = 1 / np.sqrt(np.arange(1.0, n + 1))
    solve(solver, *opened(solver, X, k), n)
    plain = []

    def take_turns():
        if len(plain) < PLAIN_ROUNDS:
            plain.append(seconds(lambda: plain_run(name, start(d, k), X, etas)))
        return (solver, *opened(solver, X, k), n), {}

    benchmark.group = f"{name} d={d} k={k}"
    solution = benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS)
    beside({"plain numpy": [spent for spent, _ in plain]})
    slow, (point, ranks) = min(plain, key=lambda run: run[0])
    fast = benchmark.stats.stats.min
    assert subspace_error(point, solution.point) <= 1e-6
    target = TARGETS.get(name)
    benchmark.extra_info.update(plain_seconds=slow, ratio=slow / fast, samples=n)
    report(
        name,
        f"{d} x {k}",
        f"{np.mean(ranks):.1f}",
        f"{n / slow:.0f}",
        f"{n / fast:.0f}",
        f"{slow / fast:.1f}",
        verdict(slow / fast, target),
        f"{times_bound(fast, ranks, d):.2f}" if name in RANK_UPDATING else "",
    )


@pytest.mark.parametrize(("size", "n"), list(zip(SIZES, PEER_SAMPLES, strict=True)), ids=str)
def test_against_scikit_learn(benchmark, beside, report, size, n):
    decomposition = pytest.importorskip("sklearn.decomposition")
    d, k = size
    X, solver, peer = samples(d, n), SOLVERS["incremental-pca"](), []
    solve(solver, *opened(solver, X, k), n)

    def take_turns():
        if len(peer) < PLAIN_ROUNDS:
            model = decomposition.IncrementalPCA(n_components=k, batch_size=100)
            peer.append(seconds(lambda: model.fit(X))[0])
        return (solver, *opened(solver, X, k), n), {}

    benchmark.group = f"incremental-pca d={d} k={k}"
    benchmark.pedantic(solve, setup=take_turns, rounds=ROUNDS)
    beside({"scikit-learn": peer})
    slow, fast = min(peer), benchmark.stats.stats.min
    report(
        "incremental-pca : scikit-learn",
        f"{d} x {k}",
        k,
        f"{n / slow:.0f}",
        f"{n / fast:.0f}",
        f"{slow / fast:.1f}",
        verdict(slow / fast, 15.0),
        "",
    )


@pytest.mark.parametrize("n", usually([500, 1500], smoke=[200]))
def test_error_in_the_time_of_scikit_learn(benchmark, beside, report, n):
    """The suboptimality on the population if capped MSG takes samples for as long."""
    decomposition = pytest.importorskip("sklearn.decomposition")
    d, k = SIZES[0]
    X, solver = samples(d, LONGEST), SOLVERS["capped-msg"](step_size=2.0, relative=False)
    peer = decomposition.IncrementalPCA(n_components=k, batch_size=100)
    times = [seconds(lambda: peer.fit(X[:n]))[0] for _ in range(PLAIN_ROUNDS)]
    slow = min(times)
    runs = [opened(solver, X, k) for _ in range(5)]
    rate = 2000 / min(seconds(lambda run=run: solve(solver, *run, 2000))[0] for run in runs)
    count = min(len(X), int(rate * slow))
    benchmark.group = f"as long as scikit-learn takes for {n} samples"
    solution = benchmark.pedantic(
        solve, setup=lambda: ((solver, *opened(solver, X, k), count), {}), rounds=ROUNDS
    )
    beside({"scikit-learn": times})
    fast = benchmark.stats.stats.min
    errors = lost(peer.components_.T), lost(solution.point)
    report(
        f"capped-msg : scikit-learn, {1e3 * fast:.0f} : {1e3 * slow:.0f} ms",
        f"{d} x {k}",
        k + 1,
        f"{n / slow:.0f}",
        f"{count / fast:.0f}",
        f"{errors[0] / errors[1]:.1f}",
        f"error {errors[1]:.5f} : {errors[0]:.5f}",
        "",
    )


def lost(point):
    """Return the suboptimality on the population of `samples`."""
    d, k = point.shape
    variances = 1 / np.arange(1.0, d + 1)
    variances /= variances.sum()
    return variances[:k].sum() - np.sum(variances[:, None] * point**2)


def verdict(ratio, target):
    if target is None:
        return ""
    return f"{target:g} {'met' if ratio >= target else 'MISSED'}"
