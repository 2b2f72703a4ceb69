"""Rows of arrays as samples: every row once, in its order, in blocks, refused by number."""

import numpy as np
import pytest
from numbered_rows import lengths, read, rows
from orthobench_kit.rows import BLOCK_ROWS, SparseRows
from orthobench_kit.sources import GATHERED, ArraySource
from scipy import sparse

from orthobench.contract.samples import BLOCK
from orthobench.errors import DataError, UsageError


def test_reads_all_passes_in_blocks_of_one_length():
    source = ArraySource(rows(2 * BLOCK + 1), passes=2)
    assert lengths(read(source)) == 2 * [BLOCK, BLOCK, 1]
    assert (source.length, source.size) == (2 * BLOCK + 1, 2 * (2 * BLOCK + 1))
    np.testing.assert_array_equal(np.concatenate(read(source)[:3]), rows(2 * BLOCK + 1))


@pytest.mark.parametrize(
    "order", [range(2, 9, 3), range(8, -1, -2), [4, 1, 1], np.array([2, 7], np.uint8)]
)
def test_reads_an_order_centred_and_scaled(order):
    source = ArraySource(rows(9), order, scale=2.0, centre=np.array([1.0, 0.0, 5.0]))
    expected = 2 * (rows(9)[list(order)] - [1, 0, 5])
    np.testing.assert_array_equal(np.concatenate(read(source)), expected)
    np.testing.assert_array_equal(source.block(0), expected)
    assert source.length == len(order)
    assert [source.row_number(i) for i in range(len(order) + 1)] == [*order, order[0]]


def test_gathers_more_rows_than_are_copied_at_once():
    order = np.random.default_rng(0).permutation(2 * GATHERED + 1)
    np.testing.assert_array_equal(
        ArraySource(rows(len(order)), order).block(0), rows(len(order))[order]
    )


def test_blocks_for_workers_are_larger_and_cover_all_rows():
    count = BLOCK_ROWS + 2
    source = ArraySource(rows(count + 1), range(1, count + 1))
    assert [source.height(i) for i in range(source.count)] == [BLOCK_ROWS, 2]
    assert source.label(0) == f"rows 1 to {BLOCK_ROWS}"
    assert source.label(1) == f"rows {BLOCK_ROWS + 1} to {count}"
    np.testing.assert_array_equal(source.block(1), rows(count + 1)[-2:])
    assert ArraySource(rows(4), [3, 1]).label(0) == "samples 0 to 1 of their order"


def test_nobody_can_write_into_the_data_through_a_block():
    X = rows(4)
    for order in (None, range(3), [0, 1]):
        source = ArraySource(X, order)
        source.block(0)[:] = -1
        read(source)[0][:] = -1
    np.testing.assert_array_equal(X, rows(4))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([], "no row in this part"), (range(3, 3), "no row in this part"),
        ([0, 9], "not among the 9 rows"), ([-1], "not among the 9 rows"),
        (range(9, -1, -1), "not among the 9 rows"), (range(-1, 3), "not among the 9 rows"),
        ([0.0, 1.0], "integers of shape"), ([[0]], "integers of shape"),
        ([True] * 9, "of a mask take np.flatnonzero"),
    ],
)  # fmt: skip
def test_an_order_that_is_none_is_refused(order, message):
    with pytest.raises(DataError, match=message):
        ArraySource(rows(9), order)


def test_the_first_and_the_last_row_may_be_named():
    np.testing.assert_array_equal(ArraySource(rows(9), [8, 0]).block(0), rows(9)[[8, 0]])


@pytest.mark.parametrize("passes", [0, 1.5, True])
def test_passes_are_a_whole_number(passes):
    with pytest.raises(UsageError, match="passes must be a whole number >= 1"):
        ArraySource(rows(2), passes=passes)


def test_a_bad_row_is_named_by_its_number_in_the_data():
    X = rows(BLOCK + 9)
    X[BLOCK + 3, 1] = np.nan
    with pytest.raises(DataError, match=rf"sample {BLOCK + 3} \(counted from 0\) is not finite"):
        list(ArraySource(X, range(1, len(X))).checked_pass())
    assert sum(map(len, ArraySource(rows(BLOCK + 9)).checked_pass())) == BLOCK + 9


@pytest.mark.parametrize("order", [None, range(1, 9, 2), [5, 0, 7]])
def test_sparse_rows_are_those_of_the_matrix(order):
    X = rows(9)
    source = ArraySource(SparseRows(sparse.csr_array(X)), order, passes=2)
    expected = X if order is None else X[list(order)]
    np.testing.assert_array_equal(np.concatenate(read(source)), np.tile(expected, (2, 1)))
    np.testing.assert_array_equal(
        np.concatenate([source.block(i) for i in range(source.count)]), expected
    )
