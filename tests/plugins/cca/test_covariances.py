"""Covariances, singular ones too, and the judge that uses them."""

import numpy as np
import pytest
from orthobench_cca.canonical import whitened
from orthobench_cca.covariances import SINGULAR, normalized
from orthobench_cca.judge import Judge, distance
from orthobench_cca.oracle import Centred
from orthobench_kit.polar import inverse_root

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.tools.geometry import random_point

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 4)), RNG.standard_normal((30, 3))


def test_directions_that_a_matrix_lacks_are_not_blown_up():
    M = np.eye(3, 2)
    M[:, 1] = 0
    np.testing.assert_array_equal(normalized(M, np.eye(3)), M)
    assert not normalized(np.zeros((3, 2)), np.eye(3)).any()
    M[1, 1] = 1e-6
    np.testing.assert_allclose(normalized(M, np.eye(3)), np.eye(3, 2))


def test_wide_data_keep_directions_that_vary_without_a_ridge():
    data = RNG.standard_normal((4, 9))
    side = Centred(data, data.mean(axis=0))
    found = whitened(side, 0.0)
    assert found.W.shape == (9, 3)
    assert found.least == 0
    S = np.cov(data.T, bias=True)
    np.testing.assert_allclose(found.W.T @ S @ found.W, np.eye(3), atol=1e-10)
    ridged = whitened(side, 0.5)
    assert ridged.W.shape == (9, 4)
    assert ridged.least == pytest.approx(0.5 / (np.linalg.eigvalsh(S)[-1] + 0.5))


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_a_judge_measures_errors_and_the_gradient_by_covariances(ridge):
    """Metrics of random weights equal those from the covariances of all pairs."""
    instance = ob.cca(X, Y, k=2, ridge=ridge)
    S = np.cov(np.hstack([X, Y]).T, bias=True) + ridge * np.eye(7)
    xx, yy, xy = S[:4, :4], S[4:, 4:], S[:4, 4:]
    point = np.random.default_rng(5).standard_normal((7, 2))
    A, B = normalized(point[:4], xx), normalized(point[4:], yy)
    P, rho, Qt = np.linalg.svd(A.T @ xy @ B)
    A, B = A @ P, B @ Qt.T
    found = instance.measure(Solution(point))
    assert found["captured"] == pytest.approx(rho.sum())
    assert found["correlation"] == pytest.approx(rho[0])
    W, V = inverse_root(xx, SINGULAR), inverse_root(yy, SINGULAR)
    U, truth, Zt = np.linalg.svd(W @ xy @ V)
    assert found["suboptimality"] == pytest.approx(1 - rho.sum() / truth[:2].sum())
    assert found["x_error"] == pytest.approx(distance(A, W @ U[:, :2], xx), rel=1e-6)
    assert found["y_error"] == pytest.approx(distance(B, V @ Zt[:2].T, yy), rel=1e-6)
    off = []
    for image, back, metric in ((xy @ B, A * rho, xx), (xy.T @ A, B * rho, yy)):
        units = np.sqrt(np.diag(metric))[:, None]
        rest = (image - metric @ back) / units
        off.append(np.linalg.norm(rest) / np.linalg.norm(image / units))
    assert found["relative_gradient"] == pytest.approx(max(off), rel=1e-6)
    straight = [
        a @ xy @ b / np.sqrt((a @ xx @ a) * (b @ yy @ b))
        for a, b in zip(point[:4].T, point[4:].T, strict=True)
    ]
    rise = abs(straight[1]) - abs(straight[0])
    assert found["disorder"] == pytest.approx(max(rise, 0))
    white = max(
        np.abs(M.T @ C @ M - np.eye(2)).max() for M, C in ((point[:4], xx), (point[4:], yy))
    )
    assert found["whitening_error"] == pytest.approx(white)


def test_unknown_truth_is_bounded_by_one_for_each_variable():
    oracle = ob.cca(X, Y, k=2).oracle
    judge = Judge(oracle, None)
    found = judge(Solution(random_point(7, 2, RNG)))
    assert found["suboptimality"] == pytest.approx(1 - found["captured"] / 2)
    assert "x_error" not in found
    assert "test_captured" not in found
    assert "passes" not in found
