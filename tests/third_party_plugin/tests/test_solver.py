"""The mathematics of the method."""

import numpy as np
import orthobench as ob
import pytest
from orthobench.contract import (
    AnyInstance,
    AnySolver,
    Array,
    drift,
    random_point,
    subspace_error,
)

from orthobench_minibatch_oja.solver import MinibatchOja


def samples(rank: int, noise: float = 0.0) -> tuple[Array, Array]:
    """Return 4,000 samples of 20 features, and the subspace that they lie in but for noise."""
    rng = np.random.default_rng(0)
    V = random_point(20, rank, rng)
    X = rng.standard_normal((4000, rank)) @ V.T
    return X + noise * rng.standard_normal(X.shape), V


def solved(solver: AnySolver, instance: AnyInstance) -> Array:
    U = ob.solve(solver, instance).solution
    assert U is not None
    assert drift(U) < 1e-12
    return U


@pytest.mark.parametrize("batch", [1, 8, 100])
def test_it_recovers_the_subspace_of_samples_without_noise(batch: int) -> None:
    X, V = samples(rank=3)
    solver = MinibatchOja(batch=batch, step_size=4.0)
    U = solved(solver, ob.stochastic_pca(X, k=3))
    assert subspace_error(U, V) < 1e-9


def test_with_all_samples_in_a_batch_it_finds_their_eigenvectors() -> None:
    X = samples(rank=20)[0] * np.linspace(3.0, 0.2, 20)
    V = np.linalg.eigh(X.T @ X)[1][:, :-4:-1]
    solver = MinibatchOja(batch=len(X), step_size=50.0)
    U = solved(solver, ob.stochastic_pca(X, k=3, passes=500))
    assert subspace_error(U, V) < 1e-9


def test_work_is_counted() -> None:
    X, _ = samples(rank=3)
    outcome = ob.solve(MinibatchOja(batch=8), ob.stochastic_pca(X, k=2))
    assert (outcome.work.steps, outcome.work.samples) == (500, 4000)
    products, sum_, qr = 2 * (2 * 8 * 20 * 2), 2 * 20 * 2, 4 * 20 * 4 - 4 * 8 // 3
    assert outcome.work.flops == 500 * (products + sum_ + qr)


def test_a_step_size_that_is_none_is_refused() -> None:
    with pytest.raises(ob.UsageError, match="step must be > 0"):
        MinibatchOja(step_size=0.0)
