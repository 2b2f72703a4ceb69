"""PCA without steps to tune: against what is tuned, against ARPACK and against scikit-learn.

CPU seconds of one thread, so that a busy machine matters little. Each side runs once or a few
times, in turns.
"""

from __future__ import annotations

from functools import cache
from statistics import median

import numpy as np
import pytest
from clock import spent
from orthobench_stochastic_pca.problems.images import MNIST, Digits
from orthobench_stochastic_pca.problems.synthetic import SpikedCovariance
from orthobench_stochastic_pca.solvers.ada_oja import AdaOja
from orthobench_stochastic_pca.solvers.ccipca import CCIPCA
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections
from orthobench_stochastic_pca.solvers.history_pca import HistoryPCA
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.krylov import BlockKrylov
from orthobench_stochastic_pca.solvers.rotating import Oja
from smoke import usually

import orthobench as ob
from orthobench.errors import DataError

SHAPE, K = usually((20_000, 2000), smoke=(300, 40)), usually(10, smoke=3)
TURNS = usually(3, smoke=1)
FASTER = usually(3.0, smoke=0.0)
STEPS = tuple(usually([2.0**i for i in range(-3, 12)], smoke=[1.0]))
SEEDS = usually(5, smoke=1)
PROBLEMS = {"digits": Digits(k=4), "spiked covariance": SpikedCovariance()} | usually(
    {"mnist": MNIST(k=4)}, smoke={}
)
SAMPLES = usually(5000, smoke=200)
UNTUNED = {
    "ada-oja": AdaOja(),
    "ada-oja in common": AdaOja(rates="common"),
    "history-pca": HistoryPCA(),
    "ccipca": CCIPCA(),
    "incremental-pca": IncrementalPCA(),
}
WORSE = usually(1.5, smoke=1e9)
SKETCHED = usually((4000, 784, 8), smoke=(300, 40, 3))


def verdict(met, target):
    return f"{target} {'met' if met else 'MISSED'}"


@cache
def slowly_decaying(n, d):
    """Gaussian samples whose j-th variance is 1/j."""
    return np.random.default_rng(0).standard_normal((n, d)) * np.arange(1.0, d + 1) ** -0.5


def captured(X, V):
    return float(np.linalg.norm(X @ V) ** 2)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_block_krylov_against_arpack(benchmark, beside, report, tolerance):
    """svds has the tolerance 1e-6, and asks ARPACK for its square: the second is as accurate."""
    from scipy.sparse.linalg import svds

    X = slowly_decaying(*SHAPE)
    best = captured(X, BlockKrylov(tolerance=1e-14, iterations=300).fit(X, K, seed=1)[0])
    v0 = np.random.default_rng(0).standard_normal(min(SHAPE))
    solver = BlockKrylov(tolerance=tolerance)
    slow = [spent(lambda: svds(X, K, tol=1e-6, v0=v0)) for _ in range(TURNS)]
    fast = [spent(lambda: solver.fit(X, K, seed=0)) for _ in range(TURNS - 1)]
    benchmark.group = f"block-krylov {SHAPE}, tolerance {tolerance:g}"
    last = benchmark.pedantic(spent, args=(lambda: solver.fit(X, K, seed=0),), rounds=1)
    beside({"scipy svds": [seconds for seconds, _ in slow]})
    theirs, ours = (min(seconds for seconds, _ in each) for each in (slow, [*fast, last]))
    missed = [1 - captured(X, V) / best for V in (last[1][0], slow[0][1][2].T)]
    report(
        f"block-krylov {tolerance:g} : scipy svds, {missed[0]:.0e} : {missed[1]:.0e} missed",
        f"{SHAPE[0]} x {SHAPE[1]}",
        K,
        f"{1 / theirs:.2f}",
        f"{1 / ours:.2f}",
        f"{theirs / ours:.1f}",
        verdict(theirs / ours >= FASTER, f">= {FASTER:g}"),
        "",
    )


@cache
def instance(problem, seed):
    return problem.build(np.random.default_rng(seed))


def ends(solver, problem, seed):
    """Return the suboptimality of a run on validation data, if there are any, and on test data."""
    found = ob.solve(solver, instance(problem, seed), seed=seed, budget=ob.Budget(samples=SAMPLES))
    if not found.trace:
        return np.inf, np.inf
    metrics = found.trace[-1].metrics
    last = metrics["suboptimality"]
    return metrics.get("validation_suboptimality", last), last


def tuned(problem, schedule):
    """Return the median suboptimality of the step that is best on validation data, and the step."""
    runs = {
        c: [
            ends(Oja(step_size=c, schedule=schedule, relative=False), problem, seed)
            for seed in range(SEEDS)
        ]
        for c in STEPS
    }
    step = min(runs, key=lambda c: median(validation for validation, _ in runs[c]))
    return median(last for _, last in runs[step]), step


@pytest.mark.parametrize("name", PROBLEMS)
def test_ada_oja_untuned_against_oja_tuned(benchmark, report, name):
    problem = PROBLEMS[name]
    try:
        instance(problem, 0)
    except DataError as error:
        pytest.skip(str(error))
    benchmark.group = f"untuned on {name}"
    benchmark.pedantic(ends, args=(AdaOja(), problem, 0), rounds=1)
    errors = {
        label: median(ends(solver, problem, seed)[1] for seed in range(SEEDS))
        for label, solver in UNTUNED.items()
    }
    for schedule in ("1/sqrt(t)", "1/t"):
        best, step = tuned(problem, schedule)
        for label, error in errors.items():
            target = verdict(error <= WORSE * best, f"<= {WORSE:g}") if "ada" in label else ""
            report(
                f"{label} : oja c={step:g}, {schedule}",
                name,
                "",
                f"{best:.2e}",
                f"{error:.2e}",
                f"{error / best:.2f}",
                target,
                "",
            )


def share_of_the_bound(X, B, size):
    """Return the largest eigenvalue of X'X - B'B over the least |X - X_j|² / (size - j).

    The least eigenvalue must not be negative.
    """
    moment = X.T @ X
    tails = np.linalg.eigvalsh(moment).cumsum()[::-1]
    errors = np.linalg.eigvalsh(moment - B.T @ B)
    assert errors[0] >= -1e-12 * tails[0]
    return errors[-1] / min(tails[j] / (size - j) for j in range(size))


@pytest.mark.parametrize("size", usually([25, 50, 100], smoke=[10]))
def test_frequent_directions_against_scikit_learn(benchmark, beside, report, size):
    """Blocks of scikit-learn have as many rows as the buffer of the sketch."""
    decomposition = pytest.importorskip("sklearn.decomposition")
    n, d, k = SKETCHED
    X = slowly_decaying(n, d)
    exact = captured(X, np.linalg.eigh(X.T @ X)[1][:, -k:])
    peer = decomposition.IncrementalPCA(n_components=k, batch_size=2 * size)
    slow, _ = spent(lambda: peer.fit(X))
    benchmark.group = f"frequent-directions {SKETCHED}, {size} rows"
    oracle, solver = ob.stochastic_pca(X, k=k).oracle, FrequentDirections(size=size)
    oracle.start = np.eye(d, k)
    oracle.prepare(n)
    state = solver.init(oracle, np.random.default_rng(0))

    def sketch():
        solver.advance(oracle, state, n)
        return solver.solution(state).point

    fast, V = benchmark.pedantic(spent, args=(sketch,), rounds=1)
    beside({"scikit-learn": [slow]})
    missed = [1 - captured(X, each) / exact for each in (V, peer.components_.T)]
    share = share_of_the_bound(X, state.rows[: state.filled], size)
    assert share <= 1
    report(
        f"frequent-directions {size} : scikit-learn, {missed[0]:.1e} : {missed[1]:.1e} missed",
        f"{d} x {k}",
        size,
        f"{n / slow:.0f}",
        f"{n / fast:.0f}",
        f"{slow / fast:.1f}",
        f"{share:.2f} of the error bound",
        "",
    )
