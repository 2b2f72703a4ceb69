"""Small shapes, every solver: a run is right, or refused, or says that it did not do it.

What says that it converged is compared with a plain reference; nothing raises but our sentences.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_instances import CASES

import orthobench as ob
from orthobench.errors import OrthobenchError
from orthobench.harness.stopping import RunStatus

CLOSE = 1e-6
"""The largest gap, relative to the optimum, of a solver that says it converged."""

EXACT = {
    "stochastic-pca": "suboptimality",
    "cca": "suboptimality",
    "pencil": "suboptimality",
    "polar": "distance",
    "orthogonal-group": "objective_gap",
    "stiefel": "objective_gap",
}
"""The families whose optimum all methods reach that converge, and the metric that is zero there."""

APPROXIMATE = {"turbo-newton-schulz", "newton-schulz", "gram-newton-schulz", "torch-muon"}
"""Solvers whose default is a fixed number of iterations."""


def instance(family, n, d, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 0.6 ** np.arange(d)
    A = X.T @ X
    if family == "stochastic-pca":
        return ob.stochastic_pca(X, k), float(np.trace(A)) / n
    if family == "sparse-pca":
        return ob.sparse_pca(X.T, k), 1.0
    if family == "tucker-of-samples":
        return ob.symmetric_tucker(samples=X.T + 0.5, rank=k, order=3), 1.0
    if family == "cca":
        Y = X[:, ::-1] + rng.standard_normal(X.shape)
        return ob.cca(X, Y, k, ridge=0.1), 1.0
    if family == "pencil":
        B = np.eye(d) + np.ones((d, d))
        return ob.generalized_eigenvectors(A, B, k), float(np.trace(A))
    if family == "polar":
        return ob.polar(X), 1.0
    if family == "stiefel":
        least = float(np.linalg.eigvalsh(A)[:k].sum())
        return ob.stiefel(
            lambda U: float(np.vdot(U, A @ U)), lambda U: 2 * A @ U, n=d, p=k, best=least
        ), float(np.trace(A))
    if family == "orthogonal-group":
        T = rng.standard_normal((d, d))
        least = -float(np.linalg.svd(T, compute_uv=False).sum())
        return ob.orthogonal_group(
            lambda U: -float(np.vdot(T, U)), lambda U: -T, n=d, best=least
        ), -least
    U = np.linalg.qr(rng.standard_normal((d, d)))[0]
    T = np.einsum("ia,ja,ka,a->ijk", U, U, U, rng.uniform(1, 2, d))
    if family == "orthogonal-tensor":
        return ob.orthogonal_tensor(T), 1.0
    return ob.symmetric_tucker(tensor=T, rank=k), 1.0


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
    metric = EXACT.get(family.split(",")[0])
    if metric and outcome.stop.converged and solver not in APPROXIMATE:
        last = outcome.trace[-1].metrics
        assert last[metric] <= CLOSE * unit, (outcome.stop, last)


SIZES = {
    "n": st.integers(1, 25),
    "d": st.integers(1, 5),
    "k": st.integers(1, 5),
    "seed": st.integers(0, 99),
}
SOLVERS = st.sampled_from([case for case in CASES if case[1] != "cca, one side"])


@given(case=SOLVERS, **SIZES)
def test_a_run_on_a_small_shape_is_right_or_says_why_not(case, n, d, k, seed):
    check(*case, n, d, k, seed)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(case=SOLVERS, **SIZES)
def test_ten_thousand_runs_on_small_shapes_are_right_or_say_why_not(case, n, d, k, seed):
    check(*case, n, d, k, seed)
