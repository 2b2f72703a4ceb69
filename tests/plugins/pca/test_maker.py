"""Ranges of numbers, scales and what the judge looks at, at their bounds."""

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca.judge import CHANGED
from orthobench_pca.maker import RANGE, matrix_of, pca
from orthobench_pca.matrices import COLUMNS, Chunked, Dense, Operator, Sparse
from scipy.sparse.linalg import aslinearoperator

import orthobench as ob
from orthobench.errors import DataError, UsageError


def data(rows=12, d=5):
    return np.random.default_rng(0).standard_normal((rows, d)) * np.linspace(2, 1, d) + 1


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_numbers_whose_squares_are_none_get_another_unit(form):
    """A power of two, with which the largest entry is just below one; of sums that overflow, too.

    The largest entry is negative.
    """
    for kind, exponents in (("float32", (-43, 43, 126)), ("float64", (-440, 440, 1022))):
        X = -data().astype(kind)
        np.testing.assert_array_equal(matrix_of(pca(form(X), 2).oracle.X).times(np.eye(5)), X)
        for exponent in exponents:
            given = pca(form(np.ldexp(X, exponent)), 2).oracle.X
            dense = given.toarray() if sp.issparse(given) else given
            assert 0.5 <= np.abs(dense).max() < 1
            np.testing.assert_array_equal(dense, np.ldexp(X, -int(np.frexp(np.abs(X).max())[1])))
    # of rows whose products overflow, though no entry does
    signs = np.sign(np.random.default_rng(0).standard_normal(5))
    rows = np.tile(1.5 * signs, (12, 1))
    rows[0] *= -1
    given = pca(form(np.ldexp(rows, 1023)), 2).oracle.X
    assert abs(given).max() == 0.75
    assert RANGE == {"float32": (1e-12, 1e12), "float64": (1e-130, 1e130)}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_columns_that_are_constant_to_rounding_keep_their_unit(form):
    X = data(50, 4)
    X[:, 1], X[:, 2] = 3.0, 3.0 + 1e-9 * X[:, 2]
    scale = pca(form(X), 1, scale=True).oracle.scale
    assert scale == pytest.approx([X[:, 0].std(), 1.0, 1.0, X[:, 3].std()])
    X[:, 2] = 3.0 + 1e-5 * data(50, 4)[:, 2]
    scale = pca(form(X), 1, scale=True).oracle.scale
    assert scale[2] == pytest.approx(X[:, 2].std(), rel=1e-4)


def test_each_kind_of_matrix_has_its_precision():
    for given, cls, dtype in (
        (data().astype(np.float32), Dense, np.float32),
        (data().astype(np.float16), Dense, np.float64),
        (data() > 0, Dense, np.float64),
        (data().tolist(), Dense, np.float64),
        (sp.coo_matrix(data()), Sparse, np.float64),
        (sp.csc_matrix(data().astype(np.float32)), Sparse, np.float32),
        (sp.csr_matrix(data().astype(int)), Sparse, np.float64),
        (aslinearoperator(data()), Operator, np.float64),
    ):
        found = matrix_of(given)
        assert (type(found), found.dtype, found.shape) == (cls, dtype, (12, 5))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix, aslinearoperator])
def test_products_with_many_columns_are_those_of_the_matrix(form):
    X = data(12, 50)
    matrix, rng = matrix_of(form(X)), np.random.default_rng(1)
    for columns in (1, COLUMNS - 1, COLUMNS, COLUMNS + 1, 2 * COLUMNS + 1):
        V, U, shift = (rng.standard_normal(s) for s in ((50, columns), (12, columns), columns))
        np.testing.assert_allclose(matrix.times(V), X @ V)
        np.testing.assert_allclose(matrix.transposed_times(U), X.T @ U)
        product, sums, passes = matrix.normal_times(V, shift)
        np.testing.assert_allclose(product, X.T @ (X @ V - shift), atol=1e-9)
        np.testing.assert_allclose(sums, (X @ V - shift).sum(axis=0), atol=1e-9)
        assert passes == (1 if form is np.asarray else 2)
    np.testing.assert_allclose(matrix.column_sums(), X.sum(axis=0))
    if form is not aslinearoperator:
        np.testing.assert_array_equal(np.vstack([rows for _, rows in matrix.pieces()]), X)
        np.testing.assert_array_equal(np.hstack([part for _, part in matrix.column_blocks()]), X)


def test_a_dask_array_is_read_chunk_by_chunk():
    dask = pytest.importorskip("dask.array")
    X, rng = data(12, 5), np.random.default_rng(1)
    matrix = matrix_of(dask.from_array(X, chunks=(5, 2)))
    assert type(matrix) is Chunked
    assert [(begin, len(block)) for begin, block in matrix.blocks()] == [(0, 5), (5, 5), (10, 2)]
    V, shift = rng.standard_normal((5, 3)), rng.standard_normal(3)
    product, sums, passes = matrix.normal_times(V, shift)
    np.testing.assert_allclose(product, X.T @ (X @ V - shift))
    np.testing.assert_allclose(sums, (X @ V - shift).sum(axis=0))
    assert passes == 1


def test_as_many_components_as_the_smaller_side_has():
    for X in (data(12, 5), data(5, 12)):
        for k in (1, 5):
            assert pca(X, k).oracle.k == k
        for k, said in (
            (0, "whole number"),
            (-1, "whole number"),
            (6, "between 1 and 5"),
            (1.5, "whole"),
        ):
            with pytest.raises(UsageError, match=rf"^k .*{said}"):
                pca(X, k)


def test_change_of_x_beyond_rounding_is_refused():
    for change, seen in ((0.1 * CHANGED, False), (100 * CHANGED, True)):
        X = data(40, 5)
        measure = pca(X, 2).measure
        X[::2] *= 1 + change
        if seen:
            with pytest.raises(DataError, match="X is not what it was"):
                measure(ob.Solution(np.eye(5, 2)))
        else:
            measure(ob.Solution(np.eye(5, 2)))
    X = data(12, 5)  # of so few rows, all
    measure = pca(X, 2).measure
    X[1] *= 2
    with pytest.raises(DataError, match="X is not what it was"):
        measure(ob.Solution(np.eye(5, 2)))
