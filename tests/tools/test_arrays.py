"""Ranks of rows of numbers, against scipy."""

import numpy as np
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from orthobench.tools.arrays import average_ranks

few_values = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf])
tables = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=few_values
)


@given(tables)
def test_average_ranks_are_scipys(table):
    np.testing.assert_array_equal(average_ranks(table), scipy.stats.rankdata(table, axis=-1))
