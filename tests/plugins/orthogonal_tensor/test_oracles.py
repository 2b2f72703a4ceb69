"""Oracles of orthogonal tensors: objectives, signs and optima."""

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor.oracle import TensorOracle, decomposition

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.tools.geometry import random_point

N = 4
U = random_point(N, N, np.random.default_rng(0))
W = np.array([4.0, -3.0, 2.0, 1.0])


def test_the_objective_is_minus_the_sum_of_squared_weights():
    value, work = TensorOracle(composed(U, W)).objective(Solution(U, weights=W))
    assert (value, work.flops, work.samples) == (-30, 2 * N, 0)


def test_signs_are_turned_where_the_order_is_odd_only():
    for order, signs in ((3, [1, -1, 1, 1]), (4, [1, 1, 1, 1]), (5, [1, -1, 1, 1])):
        found = decomposition(U, W, order)
        np.testing.assert_array_equal(found.point, U * signs)
        np.testing.assert_array_equal(found.weights, W * signs)
        np.testing.assert_allclose(
            composed(found.point, found.weights, order), composed(U, W, order)
        )
        assert not np.shares_memory(found.point, U)
        assert not np.shares_memory(found.weights, W)
    assert decomposition(U, 0 * W).weights.tolist() == [0, 0, 0, 0]


def test_the_optimum_is_the_sum_of_the_absolute_weights():
    def gap(factors, weights, order=3, at=U):
        T = composed(U, W if order == 3 else np.abs(W), order)
        instance = ob.orthogonal_tensor(T, factors=factors, weights=weights)
        return instance.measure(Solution(at))["objective_gap"]

    signs = np.sign(W)
    assert gap(U, W, at=U * signs) == pytest.approx(0, abs=1e-14)
    assert gap(None, W) == pytest.approx((10 - 4) / 10)
    assert gap(U, np.abs(W), order=4) == pytest.approx(0, abs=1e-14)
    assert gap(None, W[:2]) == pytest.approx((7 - 4) / 7)
