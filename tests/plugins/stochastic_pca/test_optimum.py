"""The subspace of largest variance, and gaps to it that are far below rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.second_moments import DenseMoment, RowMoment, second_moment
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.maker import Optimum

from orthobench.tools.geometry import orthonormalize, random_point, subspace_error


def rng(seed=0):
    return np.random.default_rng(seed)


def rows(n, d, seed=0):
    """Rows with a decaying spectrum, so that the leading subspaces are well separated."""
    return rng(seed).standard_normal((n, d)) * 0.8 ** np.arange(d)


@given(d=st.integers(1, 25), seed=st.integers(0, 2**32 - 1), exponent=st.integers(-12, 12))
def test_the_gap_is_the_difference_of_the_objectives_and_never_negative(d, seed, exponent):
    C = rows(2 * d, d, seed)
    C = 10.0**exponent * (C.T @ C)
    k = int(rng(seed).integers(1, d + 1))
    optimum = Optimum(DenseMoment(C), k)
    U = random_point(d, k, rng(seed + 1))
    explicit = np.linalg.eigvalsh(C)[::-1][:k].sum() - np.trace(U.T @ C @ U)
    assert optimum.gap(U) == pytest.approx(explicit, abs=1e-12 * np.trace(C))
    assert optimum.gap(U) >= -1e-15 * optimum.value


@pytest.mark.parametrize("angle", [1e-2, 1e-5, 1e-8, 1e-11])
@pytest.mark.parametrize("kind", [DenseMoment, RowMoment])
def test_a_gap_far_below_rounding_is_exact(angle, kind):
    d = 12
    values = 0.7 ** np.arange(d)
    turned = random_point(d, d, rng(3))
    if kind is DenseMoment:
        moment = DenseMoment((turned * values) @ turned.T)
    else:
        moment = RowMoment(np.sqrt(values * d)[:, None] * turned.T)
    U = turned[:, :3].copy()
    U[:, 2] = np.cos(angle) * turned[:, 2] + np.sin(angle) * turned[:, 3]
    expected = np.sin(angle) ** 2 * (values[2] - values[3])
    assert Optimum(moment, 3).gap(U) == pytest.approx(expected, rel=1e-3)


def test_the_gap_does_not_depend_on_the_basis():
    optimum = Optimum(second_moment(ArraySource(rows(50, 9))), 4)
    U = random_point(9, 4, rng(1))
    assert optimum.gap(U @ random_point(4, 4, rng(2))) == pytest.approx(optimum.gap(U))
    assert optimum.gap(optimum.subspace @ random_point(4, 4, rng(3))) < 1e-28


def test_equal_eigenvalues_leave_no_gap_between_their_subspaces():
    optimum = Optimum(DenseMoment(np.eye(6)), 2)
    assert optimum.gap(random_point(6, 2, rng(1))) == pytest.approx(0, abs=1e-14)


def test_an_eigenvector_basis_need_not_be_in_order():
    optimum = Optimum(DenseMoment(np.diag([1.0, 5.0, 3.0])), 2)
    assert optimum.value == pytest.approx(8)
    assert subspace_error(optimum.subspace, orthonormalize(np.eye(3)[:, 1:])) < 1e-15
