"""Small shapes, every solver: a run is right, is refused, or reports that it failed.

Converged runs are compared with a plain reference; only errors of orthobench are raised.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_instances import CASES, contrast, entries

import orthobench as ob
from orthobench.errors import OrthobenchError
from orthobench.harness.stopping import USED_UP, RunStatus

pytestmark = pytest.mark.filterwarnings("ignore:rank = ")

CLOSE = 1e-6
"""The largest gap, relative to the optimum, of a solver that says it converged."""

EXACT = {
    "stochastic-pca": "suboptimality",
    "pca": "gap",
    "pca, as it is": "gap",
    "cca": "suboptimality",
    "pencil": "suboptimality",
    "polar": "distance",
    "orthogonal-group": "objective_gap",
    "stiefel": "objective_gap",
}
"""The families whose optimum all methods reach that converge, and the metric that is zero there."""

APPROXIMATE = {
    "turbo-newton-schulz", "newton-schulz", "gram-newton-schulz", "torch-muon", "randomized-pca",
    "sklearn-truncated-svd",
}  # fmt: skip
"""Solvers whose default is a fixed number of iterations."""


def quadratic(A, k):
    least = float(np.linalg.eigvalsh(A)[:k].sum())
    return ob.stiefel(
        lambda U: float(np.vdot(U, A @ U)), lambda U: 2 * A @ U, n=len(A), p=k, best=least
    )


def linear(T):
    least = -float(np.linalg.svd(T, compute_uv=False).sum())
    return ob.orthogonal_group(lambda U: -float(np.vdot(T, U)), lambda U: -T, n=len(T), best=least)


def decomposable(U, weights):
    return np.einsum("ia,ja,ka,a->ijk", U, U, U, weights)


MAKERS = {
    "stochastic-pca": lambda X, k, rng: ob.stochastic_pca(X, k),
    "entries": lambda X, k, rng: entries(X, k),
    "pca": lambda X, k, rng: ob.pca(X, k),
    "pca, as it is": lambda X, k, rng: ob.pca(X, k, center=False),
    "components": lambda X, k, rng: contrast(
        np.linalg.svd(X, full_matrices=False)[0] * len(X) ** 0.5
    ),
    "sparse-pca": lambda X, k, rng: ob.sparse_pca(X, k, center=False),
    "tucker-of-samples": lambda X, k, rng: ob.symmetric_tucker(X + 0.5, rank=k, order=3),
    "cca": lambda X, k, rng: ob.cca(X, X[:, ::-1] + rng.standard_normal(X.shape), k, ridge=0.1),
    "pencil": lambda X, k, rng: ob.generalized_eigenvectors(
        X.T @ X, np.eye(X.shape[1]) + np.ones((X.shape[1], X.shape[1])), k
    ),
    "polar": lambda X, k, rng: ob.polar(X),
    "stiefel": lambda X, k, rng: quadratic(X.T @ X, k),
    "orthogonal-group": lambda X, k, rng: linear(rng.standard_normal((X.shape[1], X.shape[1]))),
    "orthogonal-tensor": lambda X, k, rng: ob.orthogonal_tensor(decomposable(*axes(X, rng))),
    "tucker": lambda X, k, rng: ob.symmetric_tucker(tensor=decomposable(*axes(X, rng)), rank=k),
}


def axes(X, rng):
    d = X.shape[1]
    return np.linalg.qr(rng.standard_normal((d, d)))[0], rng.uniform(1, 2, d)


def instance(family, n, d, k, seed):
    """Return an instance, and the unit of its metric."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 0.6 ** np.arange(d)
    units = {"stochastic-pca": np.sum(X * X) / n, "pencil": np.sum(X * X), "stiefel": np.sum(X * X)}
    made = MAKERS[family](X, k, rng)
    unit = abs(made.best["objective"]) if family == "orthogonal-group" else units.get(family, 1.0)
    return made, float(unit)


def refuse_raw(error):
    """Refuse errors of more than a sentence, and runs in which something raised."""
    outcome = getattr(error, "outcome", None)
    assert str(error)
    assert "\n" not in str(error)
    assert outcome is None or outcome.stop.status is not RunStatus.ERROR, error


def check(solver, family, n, d, k, seed):
    try:
        made, unit = instance(family, n, d, min(k, d), seed)
        outcome = ob.solve(solver, made, ob.Budget(steps=60), seed=0)
    except OrthobenchError as error:
        refuse_raw(error)
        return
    found = outcome.solution
    assert np.isfinite(found).all()
    metric, stop = EXACT.get(family), outcome.stop
    ended = stop.status is RunStatus.DONE and stop.reason != USED_UP
    if metric and ended and solver not in APPROXIMATE:
        last = outcome.trace[-1].metrics
        assert last[metric] <= CLOSE * unit, (stop, last)


SIZES = {
    "n": st.integers(1, 25),
    "d": st.integers(1, 5),
    "k": st.integers(1, 5),
    "seed": st.integers(0, 99),
}
SOLVERS = st.sampled_from([case for case in CASES if case[1] != "cca, one side"])


@pytest.mark.wide
@settings(max_examples=50)
@given(case=SOLVERS, **SIZES)
def test_a_run_on_a_small_shape_is_right_or_says_why_not(case, n, d, k, seed):
    check(*case, n, d, k, seed)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(case=SOLVERS, **SIZES)
def test_ten_thousand_runs_on_small_shapes_are_right_or_say_why_not(case, n, d, k, seed):
    check(*case, n, d, k, seed)
