"""The network with an orthogonal layer: its gradients, its parts, and that it learns."""

import numpy as np
import pytest
from orthobench_kit.data import digits
from orthobench_stiefel.problems import network
from orthobench_stiefel.problems.network import HeldOut, NetworkOracle, OrthogonalNetwork

import orthobench as ob
from orthobench.contract.problem import Solution
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


def told(A, X, C):
    """Return the probabilities of classes, each by its own sum."""
    H = np.where(A @ X > 0, A @ X, 0)
    powers = np.exp(H @ C)
    return powers / powers.sum(axis=1, keepdims=True)


def test_the_cost_is_the_mean_of_logarithms_of_probabilities(oracle):
    X = random_point(12, 10, np.random.default_rng(1))
    P = told(oracle.A, X, oracle.C)
    right = P[oracle.Y.astype(bool)]
    assert oracle.value(X) == pytest.approx(-np.log(right).mean())


def test_large_logits_do_not_overflow(oracle):
    oracle.C = 1e4 * oracle.C
    value, G = oracle.value_and_gradient(random_point(12, 10, np.random.default_rng(1)))
    assert np.isfinite(value)
    assert np.isfinite(G).all()


def test_held_out_images_are_judged_by_loss_and_error():
    rng = np.random.default_rng(2)
    X, C = random_point(12, 10, rng), rng.standard_normal((10, 10))
    V, T = rng.standard_normal((5, 12)), rng.standard_normal((7, 12))
    guessed = told(T, X, C).argmax(axis=1)
    guessed[:2] = (guessed[:2] + 1) % 10
    classes = [np.eye(10)[rng.integers(10, size=5)], np.eye(10)[guessed]]
    found = HeldOut(V, classes[0], T, classes[1], C)(X)
    assert found["test_error"] == pytest.approx(2 / 7)
    for name, A, Y in (("validation_loss", V, classes[0]), ("test_loss", T, classes[1])):
        assert found[name] == pytest.approx(-np.log(told(A, X, C)[Y.astype(bool)]).mean())


def test_images_are_centred_scaled_and_split_in_ten_parts():
    problem = OrthogonalNetwork(p=12, gain=3.0)
    instance = problem.build(np.random.default_rng(4))
    A = digits.pixels() - digits.pixels().mean(axis=0)
    A /= np.sqrt((A**2).mean())
    order = np.random.default_rng(4).permutation(1797)
    assert np.allclose(instance.oracle.A, A[order[:898]])
    assert np.array_equal(instance.oracle.Y.argmax(axis=1), digits.labels()[order[:898]])
    X = random_point(64, 12, np.random.default_rng(0))
    metrics = instance.measure(Solution(X))
    C = instance.oracle.C
    for name, part in (("validation_loss", order[898:1257]), ("test_loss", order[1257:])):
        right = told(A[part], X, C)[np.arange(len(part)), digits.labels()[part]]
        assert metrics[name] == pytest.approx(-np.log(right).mean())
    assert metrics["objective_gap"] == metrics["objective"]
    assert C.std() == pytest.approx(3 / np.sqrt(12), rel=0.2)


def written(monkeypatch, images, labels):
    found = {network.TEST_IMAGES: images, network.TEST_LABELS: labels}
    monkeypatch.setattr(network.mnist, "read", found.get)


def test_images_of_mnist_are_rows_of_784_pixels(monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (30, 28, 28), dtype=np.uint8)
    labels = np.arange(30, dtype=np.uint8) % 10
    written(monkeypatch, images, labels)
    problem = OrthogonalNetwork(images="mnist", p=10)
    oracle = problem.build(np.random.default_rng(0)).oracle
    assert (problem.n, oracle.n, oracle.terms) == (784, 784, 15)
    order = np.random.default_rng(0).permutation(30)
    assert np.array_equal(oracle.Y.argmax(axis=1), labels[order[:15]])
