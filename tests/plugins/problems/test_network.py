"""The network with an orthogonal layer: its gradients, its parts, and that it learns."""

import numpy as np
import pytest
from orthobench_problems.stiefel import OrthogonalNetwork
from orthobench_problems.stiefel.network import NetworkOracle

import orthobench as ob
from orthobench.tools.geometry import random_point


@pytest.fixture
def oracle():
    rng = np.random.default_rng(0)
    labels = np.eye(10)[rng.integers(10, size=8)]
    return NetworkOracle(rng.standard_normal((8, 12)), labels, rng.standard_normal((10, 10)))


def test_gradients_are_those_of_the_cost(oracle):
    rng = np.random.default_rng(1)
    X, V, h = random_point(12, 10, rng), rng.standard_normal((12, 10)), 1e-6
    difference = (oracle.value(X + h * V) - oracle.value(X - h * V)) / (2 * h)
    assert np.vdot(oracle.gradient(X), V) == pytest.approx(difference, rel=1e-7)
    value, G = oracle.value_and_gradient(X)
    assert value == oracle.value(X)
    assert np.array_equal(G, oracle.gradient(X))


def test_the_mean_of_the_terms_is_the_gradient(oracle):
    X = random_point(12, 10, np.random.default_rng(1))
    oracle.rewind(np.random.default_rng(0))
    terms = [oracle.stochastic_gradient(X, 1) for _ in range(oracle.terms)]
    assert np.mean(terms, axis=0) == pytest.approx(oracle.gradient(X), abs=1e-13)


def test_it_learns_to_tell_digits_apart():
    problem = OrthogonalNetwork(p=20)
    trace = ob.solve("spel", problem, ob.Budget(samples=3000), batch=50, momentum=0.9).trace
    first, last = trace[0].metrics, trace[-1].metrics
    assert last["test_error"] < 0.3 < first["test_error"]
    assert last["test_loss"] < first["test_loss"]
    assert last["objective"] < last["test_loss"]


def test_more_units_than_pixels_are_refused():
    with pytest.raises(ob.UsageError, match="more than the 64 pixels"):
        OrthogonalNetwork(p=65)
