"""The mathematics of the claims of four papers on the Stiefel manifold."""

import numpy as np
import pytest
from orthobench_papers import landing_2022, oft_2026
from orthobench_papers.pogo_2026 import N, P, quartic, unit_gradient
from orthobench_papers.public_pca import CONDITION, matrix, pca
from orthobench_stiefel import projected

from orthobench.contract import random_point


def test_the_public_matrix_has_other_eigenvalues_than_the_printed_one():
    values = np.linalg.eigvalsh(matrix(40, 0, printed=True))
    assert values == pytest.approx(10 * np.geomspace(1 / CONDITION, 1, 40), rel=1e-9)
    assert np.linalg.eigvalsh(matrix(40, 0, printed=False))[0] < -1


def test_the_oracle_of_pca_is_consistent():
    made = pca(9, 4, 0, printed=False)
    X = random_point(9, 4, np.random.default_rng(0))
    oracle, rows = made.oracle, np.array([5, 2])
    value, G = oracle.value_and_gradient(X)
    assert value == pytest.approx(oracle.value(X), rel=1e-14)
    assert np.allclose(oracle.gradient_rows(X, rows), G[rows], rtol=1e-14)
    best = np.linalg.eigh(oracle.A)[1][:, -4:]
    assert oracle.value(best) == pytest.approx(made.best["objective"], rel=1e-12)
    assert np.linalg.norm(projected(best, oracle.gradient(best))) < 1e-13


def test_the_quartic_is_the_squared_defect():
    X = random_point(N, P, np.random.default_rng([3, 1]))
    G = unit_gradient(3)
    M = X - 0.3 * (G - X @ (G.T @ X)) / 2
    for weight in (0.0, 0.5, 1.3):
        Y = M + weight * (M - M @ M.T @ M)
        expected = np.sum((Y.T @ Y - np.eye(P)) ** 2)
        assert np.polyval(quartic(3, 0.3), weight) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("d", "a", "field"), [(0.1, 0.7, 2.0), (0.4, 3.0, 5.0)])
def test_safe_steps_are_roots_of_their_bounds(d, a, field):
    t = landing_2022.unbounded(d, a, field)
    assert d - 2 * t * d * (1 - d) + t**2 * field**2 == pytest.approx(0.5)
    s = landing_2022.public(d, a, field)
    spread = a**2 * (1 + d) + 2 * a * d**2 + d**3
    assert d + 2 * s * d * (1 + a) + s**2 * spread == pytest.approx(0.5)
    assert landing_2022.bounded(d, a, field) == min(t, 0.5)
    assert landing_2022.bounded(d, a, 1e-3) == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_a_start_is_in_the_component_of_the_known_optimum(seed):
    made, X = landing_2022.procrustes(seed, 5)
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, 5, 5))
    U, _, V = np.linalg.svd(B @ A.T)
    assert made.oracle.value(U @ V) == pytest.approx(made.best["objective"])
    assert np.linalg.norm(made.oracle.gradient(U @ V) @ (U @ V).T -
                          (U @ V) @ made.oracle.gradient(U @ V).T) < 1e-12  # fmt: skip
    assert np.linalg.det(X) * np.linalg.det(U @ V) == pytest.approx(1)


def test_the_error_of_a_neumann_series_is_a_power_of_the_norm():
    """(I + Q)(I - Q)⁻¹ less t terms is (I + Q)(I - Q)⁻¹ Qᵗ, of norm |Q|ᵗ, since Q is skew."""
    for size in (0.3, 0.9, 2.0):
        Q = oft_2026.skew(size, 0)
        off = np.linalg.norm(oft_2026.neumann(Q) - oft_2026.cayley(Q), 2)
        assert off == pytest.approx(size**oft_2026.TERMS, rel=1e-10)
        assert oft_2026.off_power(Q) < 1e-10
