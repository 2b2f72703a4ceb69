"""Tucker decomposition by array expressions, as on a device: here NumPy computes them."""

from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest
from orthobench_tucker import GivenTensorOracle, MomentOracle
from orthobench_tucker._kernels import arrays
from orthobench_tucker._kernels.arrays import (
    ArrayCores,
    ascend,
    evaluated,
    gram_of_samples,
    gram_of_tensor,
    hoevd_weights,
    leading_eigenpairs,
    square_columns,
    stepped,
    stepped_by_length,
    tucker_weights,
    with_positive_largest,
)
from orthobench_tucker._kernels.partial_cores import partial_cores
from orthobench_tucker._kernels.unfoldings import Unfolding, by_entries
from orthobench_tucker.reference import hoevd_gradient, moment, tucker_gradient
from orthobench_tucker.solvers.pgd import PGD

import orthobench as ob
from orthobench.tools.geometry import random_point
from orthobench.tools.places import place_of

P, N, R = 23, 5, 2
X = np.random.default_rng(0).exponential(size=(P, N)) - 1
Q = random_point(N, R, np.random.default_rng(1))

ORDERS = pytest.mark.parametrize("order", [2, 3, 4])


@ORDERS
def test_gram_matrices_are_those_of_the_unfolding(order, monkeypatch):
    unfolded = moment(X, order).reshape(N, -1)
    np.testing.assert_allclose(gram_of_tensor(moment(X, order)), unfolded @ unfolded.T)
    for block in (1, 5 * P, 10**6):
        monkeypatch.setattr(arrays, "BLOCK", block)
        np.testing.assert_allclose(gram_of_samples(X, order), unfolded @ unfolded.T)


@ORDERS
def test_partial_cores_are_contractions_at_ascending_columns(order, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 12)
    columns = [*combinations_with_replacement(range(R), order - 1)]
    expected = np.stack(
        [(X.T * prod((X @ Q[:, i] for i in own), start=1.0)).mean(axis=1) for own in columns],
        axis=1,
    )
    oracle = MomentOracle(X, order, R)
    for form in ("implicit", "explicit"):
        cores, own = ArrayCores(oracle, form), partial_cores(oracle, form)
        np.testing.assert_allclose(cores.at(Q), expected, atol=1e-12)
        assert cores.n == N
        assert cores.at_flops(R) == own.at_flops(R)
        counts = cores.multiplicities(R)
        assert len(counts) == len(columns)
        assert counts.sum() == R ** (order - 1)


@ORDERS
def test_the_gradient_is_that_of_the_squared_core(order):
    cores = ArrayCores(MomentOracle(X, order, R), "auto")
    W, counts, basis = cores.at(Q).T, cores.multiplicities(R), Q.T
    inner, tangent, value, relative = evaluated(W, basis, counts, order)

    def F(Y):
        S = Y.T @ cores.at(Y)
        return float(np.sum(S**2 * counts))

    assert value == pytest.approx(F(Q))
    G = Q @ inner + tangent.T
    V = np.random.default_rng(2).standard_normal((N, R))
    slope = (F(Q + 1e-6 * V) - F(Q - 1e-6 * V)) / 2e-6
    assert np.vdot(G, V) == pytest.approx(slope, rel=1e-6)
    np.testing.assert_allclose(Q.T @ tangent.T, 0, atol=1e-12)
    assert relative == pytest.approx(np.linalg.norm(tangent) / value)
    assert evaluated(0 * W, basis, counts, order)[2:] == (0.0, np.inf)
    np.testing.assert_allclose(square_columns(inner, tangent), np.sum(G**2, axis=0))


def test_a_step_is_the_q_factor_of_a_point_along_the_gradient():
    rng = np.random.default_rng(3)
    inner, tangent = rng.standard_normal((R, R)), rng.standard_normal((R, N))
    inner, tangent = inner + inner.T, tangent - (tangent @ Q) @ Q.T
    G = Q @ inner + tangent.T
    scales = np.array([0.5, 2.0])
    expected = np.linalg.qr(Q + G * scales)[0]
    found = stepped(Q.T, inner, tangent, scales).T
    np.testing.assert_allclose(np.abs(np.diag(expected.T @ found)), 1)
    squares = np.array([3.0, 0.5])
    by_length = stepped_by_length(Q.T, inner, tangent, squares, 4.0)
    lengths = np.sqrt(squares + np.sum(G**2, axis=0))
    np.testing.assert_allclose(by_length, stepped(Q.T, inner, tangent, 4.0 / lengths))


def test_leading_eigenpairs_descend_and_have_positive_largest_entries():
    values, vectors = leading_eigenpairs(np.diag([1.0, 5.0, 3.0]), 2)
    assert values.tolist() == [5, 3]
    np.testing.assert_allclose(np.abs(vectors), np.eye(3)[:, [1, 2]])
    signs = np.array([[0.6, -0.6, 0.0], [-0.8, 0.8, 1.0]])
    np.testing.assert_array_equal(with_positive_largest(signs), signs * [-1, 1, 1])


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("weights", [hoevd_weights, tucker_weights])
def test_batches_are_followed_one_after_another(weights, order):
    """A batch of zeros moves nothing, and leaves the denominators."""
    rows, gamma, batch = Q.T, np.zeros(R), 4
    data = np.concatenate([np.zeros((4, N)), X[:8]])
    Y, squares = Q, None
    for part in (X[:4], X[4:8]):
        G = (hoevd_gradient if weights is hoevd_weights else tucker_gradient)(part, Y, order)
        if squares is None:
            squares = (1e-5 * np.linalg.norm(G)) ** 2
        squares = squares + np.sum(G**2, axis=0)
        Y = np.linalg.qr(Y + 0.7 * G / np.sqrt(squares))[0]
    none = ascend(data[:4], batch, rows, gamma, 0.7, weights(order, batch))
    np.testing.assert_array_equal(none[0], rows)
    np.testing.assert_array_equal(none[1], gamma)
    found, lengths = ascend(data, batch, rows, gamma, 0.7, weights(order, batch))
    np.testing.assert_allclose(np.abs(np.diag(Y.T @ found.T)), 1)
    np.testing.assert_allclose(lengths, np.sqrt(squares))


def test_the_unfolding_elsewhere_is_that_here_by_any_way():
    """Of few samples by their products, of many by distinct entries, and of a tensor."""
    place = place_of("array-api-strict")
    few, many = X[:4], np.tile(X, (9, 1))
    assert [by_entries(data, 3) for data in (few, many)] == [False, True]
    for here in (
        MomentOracle(few, 3, R),
        MomentOracle(many, 3, R),
        GivenTensorOracle(moment(X, 3), R),
    ):
        here.start = Q
        found = place.to_numpy(Unfolding(here.to(place), "auto").gram)
        np.testing.assert_allclose(found, Unfolding(here, "auto").gram, atol=1e-12)
    for start in ("sketch", "shoevd", "hoevd-single"):
        with pytest.raises(ob.UsageError, match=f"the start {start} takes numpy"):
            PGD(start=start).first_basis(MomentOracle(few, 3, R).to(place), None)
