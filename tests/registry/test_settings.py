"""Settings that mean nothing are refused in one sentence, before any work."""

import numpy as np
import pytest

import orthobench as ob

X = np.random.default_rng(0).exponential(size=(30, 4))
MOMENT = X.T @ X
NONSENSE = [-1, 1.5, True, "2", float("nan"), [1], None]


def solve(solver="oja", **settings):
    ob.solve(solver, **{"problem": ob.stochastic_pca(X, 2)} | settings)


CALLS = {
    "budget": lambda value: solve(budget=value),
    "seed": lambda value: solve(seed=value),
    "until": lambda value: solve(until=value),
    "threads": lambda value: solve(threads=value),
    "solver": lambda value: solve(solver=value),
    "problem": lambda value: solve(problem=value),
    "batch": lambda value: solve(batch=value),
    "restarts": lambda value: solve(solver="givens-tensor", problem="odeco", restarts=value),
    "target": lambda value: ob.Target(value, value),
    "budget of steps": lambda value: ob.Budget(steps=value),
    "k": lambda value: ob.stochastic_pca(X, value),
    "passes": lambda value: ob.stochastic_pca(X, 2, passes=value),
    "m": lambda value: ob.sparse_pca(X, value),
    "rank": lambda value: ob.symmetric_tucker(X, order=3, rank=value),
    "order": lambda value: ob.symmetric_tucker(X, order=value, rank=2),
    "components": lambda value: ob.gmm_tensor(X, value),
    "k of cca": lambda value: ob.cca(X, X[:, :2] * X[:, 1:3], value),
    "ridge": lambda value: ob.cca(X, X[:, :2] * X[:, 1:3], 1, ridge=value),
    "k of a pencil": lambda value: ob.generalized_eigenvectors(MOMENT, np.eye(4), value),
    "n": lambda value: ob.orthogonal_group(lambda U: 0.0, n=value),
    "p": lambda value: ob.stiefel(lambda U: 0.0, n=4, p=value),
    "best": lambda value: ob.stiefel(lambda U: 0.0, n=4, p=2, best=value),
    "component": lambda value: ob.orthogonal_group(lambda U: 0.0, n=2, component=value),
}

SENSE = {
    "budget": [None], "until": [None], "budget of steps": [1.5], "ridge": [1.5],
    "best": [-1, 1.5, None], "restarts": [None],
}  # fmt: skip


def refusal(setting, value):
    """Return the sentence by which a value is refused, or None."""
    try:
        CALLS[setting](value)
    except ob.UsageError as error:
        return str(error)
    return None


def test_settings_that_mean_nothing_are_refused():
    for setting in CALLS:
        for value in NONSENSE:
            said = refusal(setting, value)
            assert (said is None) is (value in SENSE.get(setting, [])), (setting, value)
            assert "\n" not in (said or ""), (setting, value)


def test_none_of_it_is_refused():
    taken = ["threads", "k", "m", "rank", "n", "p", "k of cca"]
    assert [setting for setting in taken if refusal(setting, 0) is None] == []


def test_numbers_of_numpy_are_numbers():
    solve(seed=np.int64(3), threads=np.int32(1))


def test_a_solver_without_its_packages_is_refused_before_it_runs(monkeypatch):
    monkeypatch.setattr(ob.catalogue().solvers["oja"].item, "packages", ("no-such-package",))
    with pytest.raises(ob.UsageError, match="needs no-such-package: pip install"):
        ob.solve("oja", ob.stochastic_pca(X, 2))
