"""Distinct monomials against the full symmetric power."""

from functools import reduce
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker.sample_moments import monomials

sizes = {"r": st.integers(1, 5), "m": st.integers(1, 5)}


def power(z, m):
    """z ⊗ ... ⊗ z."""
    return reduce(np.multiply.outer, [z] * m)


@given(**sizes, seed=st.integers(0, 2**32 - 1))
def test_monomials_and_their_expansion_are_the_symmetric_power(r, m, seed):
    table, z = monomials(r, m), np.random.default_rng(seed).uniform(0.5, 2, (r, 3))
    found = table.of(z)
    assert found.shape == (table.size, 3)
    for column, values in zip(z.T, found.T, strict=True):
        full = power(column, m)
        np.testing.assert_allclose(values[table.expansion].reshape(full.shape), full, rtol=1e-13)
        np.testing.assert_allclose(values, full.ravel()[table.positions], rtol=1e-13)
        assert table.multiplicities @ values**2 == pytest.approx(np.vdot(full, full), rel=1e-13)


@given(**sizes)
def test_every_entry_is_counted_once(r, m):
    table = monomials(r, m)
    assert table.size == len(table.indices) == comb(r + m - 1, m)
    assert list(table.indices) == sorted({tuple(sorted(i)) for i in product(range(r), repeat=m)})
    assert np.array_equal(np.bincount(table.expansion, minlength=table.size), table.multiplicities)
    assert np.array_equal(table.expansion[table.positions], np.arange(table.size))
    assert np.all(np.diff(table.positions) > 0)
