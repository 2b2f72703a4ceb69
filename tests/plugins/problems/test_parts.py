"""Splits and normalizations against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.data.normalization import normalization_of
from orthobench_stochastic_pca.problems.parts import independent, split

from orthobench.errors import DataError


@given(n=st.integers(5, 3000), seed=st.integers(0, 2**32 - 1))
def test_the_parts_are_disjoint_cover_all_and_have_their_sizes(n, seed):
    parts = split(n, np.random.default_rng(seed))
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(n))
    for part, share in zip(parts, (0.4, 0.2, 0.4), strict=True):
        assert abs(len(part) - share * n) < 2
        assert len(part) > 0


def test_too_few_rows_are_refused():
    with pytest.raises(DataError, match="too few"):
        split(4, np.random.default_rng(0))


@given(n=st.integers(2, 700), d=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_normalized_data_have_mean_zero_and_unit_norm(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.uniform(-5, 5, d)
    for normalization in ("common", "per-feature"):
        centre, scale = normalization_of(X, normalization)
        Z = (X - centre) * scale
        assert np.allclose(Z.mean(axis=0), 0, atol=1e-11)
        assert np.mean(np.sum(Z**2, axis=1)) == pytest.approx(1)
        if normalization == "common":
            assert np.ptp(scale) == 0
        else:
            assert np.allclose(Z.var(axis=0), 1 / d)


def test_equal_rows_are_refused():
    with pytest.raises(DataError, match="no variance"):
        normalization_of(np.full((50, 3), 0.1), "common")


def test_a_generator_apart_repeats_nothing_and_is_reproducible():
    draws = np.random.default_rng(3).random(1000)
    inner = independent(np.random.default_rng(3)).random(1000)
    assert not np.isin(inner, draws).any()
    assert np.array_equal(inner, independent(np.random.default_rng(3)).random(1000))
