"""The subspace of largest variance, and gaps to it that are far below rounding."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.second_moments import DenseMoment, RowMoment
from orthobench_stochastic_pca.judge import Optimum

from orthobench.tools.geometry import random_point


def rows(n, d, seed=0):
    """Rows with a decaying spectrum, so that the leading subspaces are well separated."""
    return rng(seed).standard_normal((n, d)) * 0.8 ** np.arange(d)


@given(d=st.integers(1, 25), seed=st.integers(0, 2**32 - 1), exponent=st.integers(-12, 12))
def test_gap_is_the_difference_of_objectives_and_nonnegative(d, seed, exponent):
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
