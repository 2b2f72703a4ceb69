"""Retractions: they stay on the manifold, and agree to the order that theory says."""

from itertools import product

import numpy as np
import pytest
from orthobench_stiefel import projected
from orthobench_stiefel._kernels.retractions import (
    RETRACTIONS,
    CayleyCurve,
    cayley,
    cholesky_qr,
    iterations,
    newton_schulz,
    polar,
    qr,
)
from scipy.linalg import expm

from orthobench.contract import polar as polar_factor
from orthobench.tools.geometry import drift, random_point

SHAPES = [(40, 6), (10, 7), (8, 8), (5, 1), (60, 40), (33, 33)]


def point(n, p, seed=0):
    return random_point(n, p, np.random.default_rng(seed))


def tangent(X, norm=1.0, seed=1):
    D = projected(X, np.random.default_rng(seed).standard_normal(X.shape))
    return norm * D / np.linalg.norm(D)


@pytest.mark.parametrize("name", RETRACTIONS)
def test_the_columns_stay_orthonormal(name):
    for case in product([1e-3, 1.0, 10.0], SHAPES):
        norm, shape = case
        X = point(*shape)
        Y, flops = RETRACTIONS[name](X, tangent(X, norm))
        # the defect of a Cholesky QR grows with the square of the condition, here up to 10²
        assert drift(Y) < (1e-12 if name == "cholesky-qr" else 1e-13), case
        assert flops > 0, case


def test_the_q_factor_has_a_positive_diagonal_of_r():
    for shape in SHAPES:
        X = point(*shape)
        for norm in (1e-3, 1e6):
            Q, R = np.linalg.qr(X + tangent(X, norm))
            expected = Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)
            assert np.abs(qr(X, tangent(X, norm))[0] - expected).max() < 1e-13, shape


def euclidean_geodesic(X, D):
    """Return the geodesic of the embedded metric at 1 (Edelman, Arias and Smith 1998, eq. 2.14)."""
    p = X.shape[1]
    turn = X.T @ D
    W = np.block([[turn, -D.T @ D], [np.eye(p), turn]])
    return np.hstack([X, D]) @ expm(W)[:, :p] @ expm(-turn), 0


def canonical_geodesic(X, D):
    """Return the geodesic of the canonical metric at 1, exp(PDX' - XD'P) X."""
    PD = D - X @ (X.T @ D) / 2
    return expm(PD @ X.T - X @ PD.T) @ X, 0


def ratios(one, other, shape):
    """Return by what factors the distance of two retractions falls as the step is halved."""
    X = point(*shape)
    far, half, quarter = (
        np.linalg.norm(one(X, tangent(X, norm))[0] - other(X, tangent(X, norm))[0])
        for norm in (0.04, 0.02, 0.01)
    )
    return [far / half, half / quarter]


def test_polar_and_cayley_are_second_order_retractions():
    for shape in SHAPES[:3]:
        assert ratios(polar, euclidean_geodesic, shape) == pytest.approx([8, 8], rel=0.05), shape
        assert ratios(cayley, canonical_geodesic, shape) == pytest.approx([8, 8], rel=0.05), shape


def test_q_factors_are_geodesics_to_first_order_only():
    for shape in SHAPES[:3]:
        assert ratios(qr, euclidean_geodesic, shape) == pytest.approx([4, 4], rel=0.05), shape
        assert ratios(qr, polar, shape) == pytest.approx([4, 4], rel=0.05), shape


def test_newton_schulz_is_the_polar_factor_and_cholesky_the_q_factor():
    for norm in [1e-6, 1.0, 1.5, 100.0]:
        X = point(20, 5)
        D = tangent(X, norm)
        assert np.abs(newton_schulz(X, D)[0] - polar_factor(X + D)).max() < 1e-13, norm
        assert np.abs(polar(X, D)[0] - polar_factor(X + D)).max() < 1e-11, norm
        assert np.abs(cholesky_qr(X, D)[0] - qr(X, D)[0]).max() < 1e-11, norm


@pytest.mark.parametrize("bound", [2**0.5, 1.5, 3.0, 10.0, 1e3, 1e6])
def test_iterations_that_nobody_looks_at_are_enough(bound):
    """And hardly more; the least singular value is 1 over the bound, which up to sqrt(2) stays."""
    value, needed = (bound if bound <= 2**0.5 else 1 / bound), 0
    while abs(1 - value) > 1.2e-16:
        value, needed = value * (3 - value**2) / 2, needed + 1
    assert needed <= iterations(bound, None) <= needed + 2


@pytest.mark.parametrize(
    ("n", "p", "solve"), [(80, 50, 2 / 3 * 80**3), (600, 20, 40 / 3 * 20**3)], ids=["n", "2p"]
)
def test_a_point_of_a_cayley_curve_costs_a_solve_and_a_product(n, p, solve):
    """The factors of a system of size n or 2p, and p right-hand sides or a product of size 2p."""
    X = point(n, p)
    products = 2 * n * n * p if 2 * p >= n else 4 * n * p * p
    curve = CayleyCurve(X, tangent(X))
    assert curve.point_flops == pytest.approx(solve + products, rel=0.1)
