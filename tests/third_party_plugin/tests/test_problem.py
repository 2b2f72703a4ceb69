"""The distribution is the one declared, and its judge knows the best subspace."""

import numpy as np
import orthobench as ob
import pytest
from orthobench.contract import Solution

from orthobench_minibatch_oja.problem import PowerLaw


def test_samples_have_the_variances_declared() -> None:
    problem = PowerLaw(k=2, n=10, decay=2.0)
    instance = problem.build(np.random.default_rng(0))
    instance.oracle.prepare(20_000)
    X = instance.oracle.take(20_000)
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    np.testing.assert_allclose(values[::-1], problem.variances, rtol=0.1)
    assert problem.variances.sum() == pytest.approx(1.0)
    assert problem.variances[0] / problem.variances[2] == pytest.approx(3.0**2)

    metrics = instance.measure(Solution(vectors[:, :-3:-1]))
    best = problem.variances[:2].sum()
    assert 0 <= metrics["suboptimality"] < 1e-3
    assert metrics["explained_variance_ratio"] == pytest.approx(best, abs=1e-3)


def test_equal_seeds_make_equal_instances() -> None:
    def metrics(seed: int) -> dict[str, float]:
        instance = PowerLaw(k=2, n=10).build(np.random.default_rng(seed))
        return dict(instance.measure(Solution(np.eye(10, 2))))

    assert metrics(1) == metrics(1)
    assert metrics(1) != metrics(2)


def test_a_subspace_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ob.UsageError, match="k = 6 is more than"):
        PowerLaw(k=6, n=5)
