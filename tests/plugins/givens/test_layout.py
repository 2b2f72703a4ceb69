"""Columns of sparse PCA in memory, and the loadings that they become."""

import numpy as np
import pytest
from orthobench_givens._kernels.sparse_columns import LINE, PAGE, WORD, Columns, empty_columns


@pytest.mark.parametrize("m", [1, 3])
def test_columns_begin_at_cache_lines_and_are_no_whole_pages_apart(m):
    for rows in (1, WORD - 1, WORD, WORD + 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE) * 5:
        columns = empty_columns(m, rows)
        assert len(columns) == m
        width = columns.shape[1]
        assert columns.ctypes.data % LINE == 0
        assert width % WORD == 0
        assert width % PAGE != 0
        assert rows <= width <= rows + 2 * WORD - 1
        assert not columns.any()


def test_loadings_are_over_the_penalty_and_of_the_rows_that_are_kept():
    array = np.array([[3.0, 0.5, -2.0, 0.0], [1.0, 4.0, 0.0, 0.0]])
    columns = Columns(array, np.array([1, 4, 5]), 7, 1.0)
    assert columns.objective == 2.0**2 + 1.0**2 + 3.0**2
    np.testing.assert_array_equal(columns.AU, array[:, :3].T)
    found = columns.loadings(3, "thresholded")
    assert found.shape == (7, 3)
    expected = np.zeros((7, 3))
    expected[[1, 5], 0] = np.array([2.0, -1.0]) / np.sqrt(5)
    expected[4, 1] = 1.0
    np.testing.assert_allclose(found, expected)
    filled = columns.loadings(2, "filled")
    np.testing.assert_array_equal(filled != 0, expected[:, :2] != 0)
