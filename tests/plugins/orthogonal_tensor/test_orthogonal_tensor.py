"""The instance maker, the judge and the starts of orthogonal tensor decomposition."""

from itertools import permutations

import numpy as np
import pytest
from cases import case
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import composed, symmetrized
from orthobench_orthogonal_tensor import Judge, OrthogonalTensor
from orthobench_orthogonal_tensor.judge import recovery_error

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools.geometry import random_point

seeds = st.integers(0, 2**32 - 1)


def noisy(n, seed=0):
    """A symmetric tensor without an orthogonal decomposition."""
    A = rng(seed).standard_normal((n, n, n))
    return symmetrized(sum(A.transpose(p) for p in permutations(range(3))) / 6)


@given(n=st.integers(2, 8), seed=seeds)
def test_the_metrics_are_those_of_the_explicit_tensors(n, seed):
    T, U = noisy(n, seed), random_point(n, n, rng(seed))
    metrics = Judge(T, random_point(n, n, rng(seed + 1)), 1.5 * n)(Solution(U))
    captured = np.einsum("abc,ai,bi,ci->i", T, U, U, U)
    residual = np.linalg.norm(T - np.einsum("ai,bi,ci,i->abc", U, U, U, captured))
    assert next(iter(metrics)) == OrthogonalTensor.primary == "residual"
    assert metrics["residual"] == pytest.approx(residual / np.linalg.norm(T))
    assert metrics["objective"] == pytest.approx(captured.sum())
    assert metrics["objective_gap"] == pytest.approx(1 - captured.sum() / (1.5 * n))
    inner = np.einsum("ai,abc,bj,cj->ij", U, T, U, U)
    gradient = np.linalg.norm(inner - inner.T) / 2 / np.linalg.norm(T)
    assert metrics["relative_gradient"] == pytest.approx(gradient, rel=1e-10)
    assert {type(value) for value in metrics.values()} == {float}


@given(n=st.integers(1, 8), seed=seeds, size=st.sampled_from([0.0, 1e-9, 1e-2]))
def test_recovery_error_is_the_distance_up_to_order_and_sign(n, seed, size):
    V = random_point(n, n, rng(seed))
    r = int(rng(seed).integers(1, n + 1))
    off = size * rng(seed + 1).standard_normal((n, n))
    turned = ((V + off) * rng(seed).choice([-1.0, 1.0], n))[:, rng(seed + 2).permutation(n)]
    expected = np.linalg.norm(off[:, :r], axis=0).max()
    assert recovery_error(turned, V[:, :r]) == pytest.approx(expected, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_residual_far_below_rounding_of_the_norm_is_exact(angle):
    V, w = random_point(6, 6, rng(1)), np.arange(1.0, 7.0)
    U = V.copy()
    U[:, 0], U[:, 1] = (
        np.cos(angle) * V[:, 0] + np.sin(angle) * V[:, 1],
        np.cos(angle) * V[:, 1] - np.sin(angle) * V[:, 0],
    )
    # to first order each factor's error is orthogonal to it: three slots, w_i angle each
    expected = angle * np.sqrt(3 * (w[0] ** 2 + w[1] ** 2)) / np.sqrt(w @ w)
    residual = ob.orthogonal_tensor(composed(V, w)).measure(Solution(U))["residual"]
    assert residual == pytest.approx(expected, rel=5e-3)


def test_true_factors_in_any_order_and_sign_are_the_optimum():
    V, w = random_point(7, 5, rng(1)), np.array([1.0, -2.0, 3.0, 0.5, 1.5])
    instance = ob.orthogonal_tensor(composed(V, w), factors=V, weights=w)
    full = np.hstack([V * np.sign(w), np.linalg.svd(V)[0][:, 5:]])
    metrics = instance.measure(Solution(full[:, rng(2).permutation(7)]))
    assert instance.best == {"objective_gap": 0.0}
    assert all(abs(metrics[m]) < 1e-14 for m in ("residual", "objective_gap", "recovery_error"))
    assert metrics["objective"] == pytest.approx(8.0)


def test_signed_permutations_are_local_maxima_for_the_judge():
    # misprint of Theorem 3: weights (1, 3), U = [e2, -e1] has negative curvature and f = 2 < 4
    T = composed(np.eye(2), np.array([1.0, 3.0]))
    instance = ob.orthogonal_tensor(T, factors=np.eye(2), weights=np.array([1.0, 3.0]))
    metrics = instance.measure(Solution(np.array([[0.0, -1.0], [1.0, 0.0]])))
    assert metrics["objective"] == 2.0
    assert metrics["objective_gap"] == 0.5
    assert metrics["residual"] == metrics["recovery_error"] == 0.0


def off_by(entry, value):
    T = np.ones((3, 3, 3))
    T[entry] += value
    return T


REFUSED = [
    ({"T": np.ones((2, 2))}, r"cubic .* not of shape \(2, 2\)"),
    ({"T": np.ones((2, 2, 3))}, r"cubic .* not of shape \(2, 2, 3\)"),
    ({"T": np.empty((0, 0, 0))}, "cubic"),
    ({"T": np.ones((2,) * 5)}, "cubic"),
    ({"T": np.ones((2, 2, 2)) * 1j}, "real numbers, not of dtype complex128"),
    ({"T": off_by((0, 1, 2), np.nan)}, r"entry \(0, 1, 2\) of the tensor is nan"),
    ({"T": off_by((2, 1, 0), -np.inf)}, r"entry \(2, 1, 0\) of the tensor is -inf"),
    ({"T": np.zeros((3, 3, 3))}, "zero: there is nothing"),
    ({"T": np.full((3, 3, 3), 1e200)}, "rescale"),
    ({"T": np.full((3, 3, 3), 1e-200)}, "rescale"),
    (
        {"T": off_by((0, 2, 1), 0.6)},
        r"not symmetric: entry \(0, 2, 1\) is 1.6, and the mean .* 1.1, 3.1e-01 of the largest",
    ),
    ({"T": off_by((1, 1, 2), 1e-5)}, r"entry \(1, 1, 2\)"),
    ({"factors": np.eye(4)}, r"factors must be of shape \(3, r\)"),
    ({"factors": 2 * np.eye(3)}, "not orthonormal"),
    ({"factors": np.full((3, 1), np.nan)}, "not orthonormal"),
    ({"factors": np.eye(3) + 0j}, "true factors must be real numbers, not of dtype complex128"),
    ({"factors": np.full((3, 3), "1")}, "factors .* real .* <U1"),
    ({"weights": np.ones(3) * 1j}, "true weights must be real numbers, not of dtype complex128"),
    ({"weights": ["1", "2", "3"]}, "weights .* real .* <U1"),
    ({"factors": np.eye(3), "weights": np.ones(2)}, r"must be 3 weights, not of shape \(2,\)"),
    ({"weights": np.ones((3, 1))}, "at most 3 weights"),
    ({"weights": np.zeros(3)}, "not all zero"),
    ({"weights": np.array([1, np.nan, 1])}, "finite"),
]
"""Arguments, of which the tensor is one of ones by default, and what is said of them."""


def test_bad_arguments_are_refused():
    for arguments, message in REFUSED:
        with case(message), pytest.raises(DataError, match=message):
            ob.orthogonal_tensor(**{"T": np.ones((3, 3, 3)), **arguments})
