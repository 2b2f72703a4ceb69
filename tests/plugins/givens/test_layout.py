"""Where columns of sparse PCA lie in memory, and what their rotations are counted as."""

import numpy as np
import pytest
from orthobench_givens._kernels.sparse_columns import Columns
from orthobench_givens._kernels.sparse_layout import LINE, PAGE, WORD, empty_columns
from orthobench_givens._kernels.sparse_tally import Tally, plane_flops
from orthobench_givens._kernels.tensor_start import rotated_blocks


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


def test_flops_of_planes_are_those_of_searches_and_rotations():
    each = {"gain": 0, "planes": 3, "values": 12, "slopes": 24, "rotated": 6, "entries": 0}
    for field in Tally._fields:
        assert plane_flops(7, Tally()._replace(**{field: 5})) == 7 * 5 * each[field]
    assert set(Tally()) == {0}


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


@pytest.mark.parametrize(("blocks", "size"), [(1, 4), (2, 2), (2, 3), (4, 1)])
def test_blocks_of_a_rotated_tensor_are_those_of_ascending_indices(blocks, size):
    rng = np.random.default_rng(0)
    d, V, U = 4, rng.standard_normal((4, 6)), rng.standard_normal((4, 4))
    T = np.einsum("ai,bi,ci->abc", V, V, V)
    whole = np.zeros((blocks * size,) * 3)
    whole[:d, :d, :d] = np.einsum("abc,ai,bj,ck->ijk", T, U, U, U)
    expected = [
        whole[
            p * size : (p + 1) * size, q * size : (q + 1) * size, r * size : (r + 1) * size
        ].ravel()
        for p in range(blocks)
        for q in range(p, blocks)
        for r in range(q, blocks)
    ]
    np.testing.assert_allclose(rotated_blocks(T, U, blocks, size), expected, atol=1e-10)
