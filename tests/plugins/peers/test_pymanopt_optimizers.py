"""Runs of Pymanopt's optimizers: their ends, their counts, and Pymanopt's PCA."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_pymanopt.objectives import MomentObjective
from orthobench_pymanopt.solvers import optimizers as pymanopt_optimizers
from orthobench_pymanopt.solvers.optimizers import PymanoptSteepestDescent, Result, run_optimizer
from orthobench_pymanopt.solvers.pca import PymanoptPCA

from orthobench.tools.flops import qr
from orthobench.tools.geometry import drift, random_point

PACKAGES = ("pymanopt",)

N, D, K = 30, 6, 2


def samples(n=N):
    return np.random.default_rng(0).standard_normal((n, D)) * np.linspace(2, 1, D)


def test_optimizer_stays_at_a_critical_or_only_point():
    X = np.diag(np.arange(float(D), 0, -1))
    for start, k in ((np.eye(D, K), K), (np.eye(D), D)):
        target = MomentObjective(X, k)
        found = run_optimizer(None, target, start, 1e-12)
        assert found.iterations == 0
        np.testing.assert_array_equal(found.point, start)
        assert found.cost == pytest.approx(-np.sum(np.diag(X)[:k] ** 2) / np.sum(X**2))


@pytest.mark.parametrize("cost", [np.inf, np.nan, 1.0])
def test_a_cost_that_is_not_finite_fails_with_what_it_was(cost, monkeypatch):
    class Ended(PymanoptSteepestDescent):
        def minimize(self, target, start, iterations):
            return Result(2 * start, iterations, cost)

    target, state = SimpleNamespace(counted=7, calls=5), SimpleNamespace(prepared=np.eye(3, 2))
    monkeypatch.setattr(pymanopt_optimizers, "objective", lambda *_: target)
    run = Ended().run(None, state, 4)
    assert run.failure == ("" if cost == 1 else f"the cost is {cost} where the run ended")
    assert (run.iterations, run.flops, run.samples) == (4, 7, 5)
    np.testing.assert_allclose(run.solution.point, np.eye(3, 2))


@pytest.mark.parametrize("n", [4, D, N])
def test_pca_is_exact_whether_samples_outnumber_features_or_not(n):
    X = samples(n)
    state = SimpleNamespace(start=random_point(D, K, np.random.default_rng(0)))
    found, spent = PymanoptPCA().fit(X, K, state)
    right = np.linalg.svd(X)[2][:K].T
    assert np.linalg.norm(right - found @ (found.T @ right)) < 1e-6
    assert drift(found) < 1e-14
    least = min(n, D)
    span = qr(D, n) + 4 * D * K * n if n < D else 0
    assert spent > 2 * n * least**2 + span
