"""Rows in an order have the second moment that the judge knows, and the order that they name."""

import numpy as np
import pytest
from orthobench_stochastic_pca.problems.arranged import ARRANGEMENTS, ArrangedRows

import orthobench as ob
from orthobench.atlas.features import features_of


def rows(problem, seed=0):
    oracle = ob.instance(problem, seed).oracle
    oracle.rewind(np.random.default_rng(0))
    oracle.prepare(problem.samples)
    return np.array(oracle.take(problem.samples))


@pytest.mark.parametrize("order", ARRANGEMENTS)
@pytest.mark.parametrize("tail", [0.0, 8.0])
def test_second_moment_of_the_rows_is_that_of_the_judge(order, tail):
    problem = ArrangedRows(k=2, n=6, samples=100_000, order=order, tail=tail, noise=0.05)
    X, moment = rows(problem), ob.instance(problem).measure.test
    V = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    assert np.mean((X @ V) ** 2, axis=0) == pytest.approx(moment.variances(V), rel=0.05, abs=2e-3)
    assert np.mean(np.sum(X**2, axis=1)) == pytest.approx(moment.trace, rel=0.05)


@pytest.mark.parametrize("order", ARRANGEMENTS)
def test_advice_sees_which_rows_have_an_order(order):
    problem = ArrangedRows(k=3, n=20, samples=4000, order=order)
    assert features_of(ob.instance(problem)).ordered is (order != "shuffled")


def test_heavy_tails_have_larger_fourth_moments():
    norms = [
        np.sum(rows(ArrangedRows(n=30, samples=5000, tail=tail)) ** 2, axis=1) for tail in (0, 3)
    ]
    normal, heavy = (np.mean(own**2) / np.mean(own) ** 2 for own in norms)
    assert heavy > 2 * normal


def test_tails_without_covariance_and_narrow_drifts_are_refused():
    with pytest.raises(ob.UsageError, match="tail"):
        ArrangedRows(tail=2.0)
    with pytest.raises(ob.UsageError, match="2k = 8"):
        ArrangedRows(n=7, order="drifting")
