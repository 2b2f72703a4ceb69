"""Data of users: what is taken for an array, what is refused, and which numbers are whole."""

import math

import array_api_strict as strict
import numpy as np
import pytest
from orthobench_kit.arrays import like, ratio, rows_of, unshared

from orthobench.errors import DataError, UsageError
from orthobench.tools import arrays
from orthobench.tools.arrays import check_rows, is_number, matrix, whole

X = np.random.default_rng(0).standard_normal((4, 3))


def test_read_only_arrays_are_shared_and_others_copied():
    frozen = X.copy()
    frozen.flags.writeable = False
    assert unshared(frozen) is frozen
    part = frozen[1:]
    assert unshared(part) is part
    view = X.view()
    view.flags.writeable = False
    for given in (X, view, np.asfortranarray(X), np.frombuffer(bytearray(X.tobytes()))):
        kept = unshared(given)
        assert not np.shares_memory(kept, given)
        assert kept.flags.f_contiguous == given.flags.f_contiguous
        np.testing.assert_array_equal(kept, given)


def test_numbers_are_real_and_fit_a_float():
    for value in (1, -2.5, np.float32(1), np.int8(3), 2**1023 - 1, np.nextafter(2.0**1023, 0)):
        assert is_number(value)
    for value in (True, "1", 1j, None, math.nan, math.inf, 2**1023, -(2**1023), np.bool_(True)):
        assert not is_number(value)


def test_a_whole_number_within_its_bounds_is_one_of_python():
    assert all(type(whole(kind(3), "k")) is int for kind in (int, np.int64, np.uint8))
    assert whole(1, "k") == 1
    assert [whole(value, "k", 2, 4) for value in (2, 4)] == [2, 4]
    for value, low, high, message in (
        (0, 1, math.inf, "k must be a whole number >= 1, not 0, since"),
        (1, 2, 4, "k must be a whole number between 2 and 4, not 1, since"),
        (5, 2, 4, "between 2 and 4, not 5"), (2.0, 1, math.inf, "not 2.0"),
        (True, 1, math.inf, "not True"), (np.True_, 1, math.inf, "not np.True_"),
        ("2", 1, 4, "not '2'"), (None, 1, 4, "not None"), (np.float64(2), 1, 4, "2.0"),
        (np.array(2), 1, 4, "array"), (np.array([2, 3]), 1, 4, "array"), (math.nan, 1, 4, "nan"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            whole(value, "k", low, high, ", since")


def test_arrays_that_are_not_real_matrices_are_refused():
    for data, message in (
        (X[0], r"must be a matrix \(samples, features\), not of shape \(3,\)"),
        (X[None], r"not of shape \(1, 4, 3\)"),
        (X[:0], r"the data are empty: shape \(0, 3\)"),
        (X[:, :0], r"the data are empty: shape \(4, 0\)"),
        (X * 1j, "must be real numbers, not of dtype complex128"),
        (np.array([["a"]]), "must be real numbers"),
    ):
        with pytest.raises(DataError, match=message):
            matrix(data, "the data")


def test_the_first_bad_row_is_named_with_its_column_and_value():
    for value, reason in (
        (math.nan, "is not finite: feature 1 is nan"),
        (-math.inf, "is not finite: feature 1 is -inf"),
        (-1e155, r"is too large to be squared: feature 1 is -1e\+155"),
    ):
        block = X.copy()
        block[2, 1] = value
        with pytest.raises(DataError, match=rf"sample 12 \(counted from 0\) {reason}; clean"):
            check_rows(block, 10)
        block[3, 0] = math.nan
        with pytest.raises(
            DataError, match=rf"row no 2 .*{reason} \(2 such rows in its block\); clean"
        ):
            check_rows(block, number=lambda index: f"no {index}", what="row")


def test_arrays_of_numpy_and_of_others_are_made_alike():
    for x in (X, X.astype(np.float32), strict.asarray(X), strict.asarray(X, dtype=strict.float32)):
        eye, values = arrays.identity(3, x), like(np.arange(2.0), x)
        assert eye.dtype == values.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(eye), np.eye(3))
        np.testing.assert_array_equal(np.asarray(values), [0, 1])
        assert type(eye) is type(x)
        whole_numbers = like(np.arange(2), x)
        assert np.asarray(whole_numbers).dtype.kind == "i"
        rows = rows_of(x, like(np.array([2, 0]), x))
        np.testing.assert_array_equal(np.asarray(rows), np.asarray(x)[[2, 0]])
        copy = arrays.copied(x)
        copy[0, 0] = 7.0
        assert float(x[0, 0]) != 7
        assert arrays.namespace(x) is arrays.namespace(copy)


def test_a_ratio_over_what_is_not_positive_is_another_number():
    for under in (0.0, -1.0, math.nan):
        assert ratio(1.0, under, 7.0) == 7
        assert float(ratio(strict.asarray(1.0), strict.asarray(under), 7.0)) == 7
