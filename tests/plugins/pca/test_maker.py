"""Ranges of numbers, scales and what the judge looks at, at their bounds."""

import pickle
import tempfile
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca import judge as judges
from orthobench_pca.judge import CHANGED, GAP, Judge
from orthobench_pca.maker import RANGE, matrix_of, pca
from orthobench_pca.matrices import (
    COLUMNS,
    Chunked,
    Dense,
    Operator,
    Sparse,
    block_length,
)
from orthobench_pca.oracle import SMALL, PCAOracle, finite
from orthobench_pca.own_optimum import _sampled, own_optimum
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


def test_a_block_has_as_many_rows_as_fit_and_one_at_least():
    assert block_length(10, np.float64, 800) == 10
    assert block_length(10, np.float64, 879) == 10
    assert block_length(10, np.float32, 800) == 20
    assert block_length(10, np.float64, 79) == 1
    assert block_length(2**20, np.float64) == 1


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


@pytest.mark.parametrize(("rows", "n"), [(12, 5), (5, 12)])
@pytest.mark.parametrize("center", [True, False])
def test_products_of_an_oracle_are_counted_with_that_for_the_mean(rows, n, center):
    X = data(rows, n)
    oracle = PCAOracle(matrix_of(X), 2, center, X.std(axis=0))
    Z = ((X - X.mean(axis=0)) if center else X) / X.std(axis=0)
    V, U = np.eye(n, 3), np.eye(rows, 3)
    np.testing.assert_allclose(oracle.times(V), Z @ V, atol=1e-12)
    assert (oracle.passes, oracle.products) == (1 + center, 3 + center)
    np.testing.assert_allclose(oracle.transposed_times(U), Z.T @ U, atol=1e-12)
    assert (oracle.passes, oracle.products) == (2 + center, 6 + center)
    np.testing.assert_allclose(oracle.normal_times(V), Z.T @ Z @ V, atol=1e-12)
    assert (oracle.passes, oracle.products) == (3 + center, 12 + center)
    operator = oracle.operator()
    np.testing.assert_allclose(operator @ V[:, 0], Z[:, 0], atol=1e-12)
    square = Z @ Z.T if rows < n else Z.T @ Z
    np.testing.assert_allclose(oracle.normal_operator() @ np.eye(5), square, atol=1e-12)
    oracle.rewind(None)
    assert (oracle.passes, oracle.products) == (0, 0)
    assert oracle.mean().any() == center


def test_a_miniature_has_twice_the_components_and_sixty_four_more_or_all():
    oracle = pca(np.eye(2000, SMALL + 7), 4).oracle
    assert oracle.miniature().sizes == (SMALL + 8, SMALL + 7, 4)
    assert SMALL == 64


def test_what_is_not_finite_is_refused_and_sums_that_overflow_are_not():
    large = np.full(3, 1e308)
    with np.errstate(over="ignore"):
        assert finite(large) is large
        with pytest.raises(DataError, match="NaN or infinite"):
            finite(np.array([1.0, np.nan]))


def test_there_is_an_angle_where_the_gap_is_above_its_bound():
    for share, known in ((0.5, False), (2.0, True)):
        values = np.sqrt([1.0, 0.5, 0.5 - share * GAP])
        found = pca(np.diag(values), 2, center=False).measure(ob.Solution(np.eye(3, 2)))
        assert ("angle" in found) is known


def test_a_change_is_seen_in_rows_that_are_looked_at_and_is_larger_than_rounding():
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


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_gram_matrix_is_decomposed_up_to_its_side(form, monkeypatch):
    """And at any side where nearly all components are sought, which Lanczos does not find."""
    name = "DENSE_SIDE" if form is np.asarray else "SPARSE_SIDE"
    monkeypatch.setattr(Judge, "_by_lanczos", lambda self: None)
    for most, k, lanczos in ((5, 2, False), (4, 2, True), (4, 3, True), (4, 4, False)):
        monkeypatch.setattr(judges, name, most)
        for shape in ((12, 5), (5, 12)):
            found = pca(form(data(*shape)), k).measure._computed()
            assert (found is None) is lanczos, (most, k, shape)


def test_a_run_is_held_to_its_own_end_where_rows_are_many(monkeypatch):
    """80 times as many rows as columns."""
    whole = np.random.default_rng(0).standard_normal((320, 4)) * [8.0, 4.0, 1.0, 0.5] + 3
    for rows, points, least, taken in (
        (320, 2, 0, True), (319, 2, 0, False), (320, 1, 0, False), (320, 2, 320 * 16, True),
        (320, 2, 320 * 16 + 1, False),
    ):  # fmt: skip
        monkeypatch.setattr("orthobench_pca.own_optimum.LEAST", least)
        for center, scale in ((True, None), (False, None), (True, np.array([2.0, 1, 1, 2]))):
            X = whole[:rows]
            oracle = PCAOracle(matrix_of(X), 1, center, scale)
            Z = (X - X.mean(axis=0) if center else X) / (1.0 if scale is None else scale)
            values, Vt = np.linalg.svd(Z)[1:]
            V, start = Vt[:1].T, np.eye(4, 1)
            found = own_optimum(oracle, [start, V][-points:])
            case = (rows, points, least, center, scale)
            assert (found is not None) is taken, case
            if not taken:
                continue
            reference, products = found
            assert reference.optimal == pytest.approx(values[0] ** 2), case
            assert reference.off < 1e-12, case
            # the gap is estimated, and rather too small
            gap = 1 - (values[1] / values[0]) ** 2
            assert 0.5 * gap < reference.gap <= gap * (1 + 1e-12), case
            np.testing.assert_allclose(products[0], Z.T @ (Z @ start), rtol=1e-9)
            # of any number of points, each has its product
            other = np.full((4, 1), 0.5)
            _, products = own_optimum(oracle, [start, other, V])
            for U, product in zip((start, other, V), products, strict=True):
                np.testing.assert_allclose(product, Z.T @ (Z @ U), rtol=1e-9, atol=1e-6)
            # an end that is a little off is no optimum, nor is another eigenvector
            near = (V + 1e-5 * Vt[1:2].T) / np.sqrt(1 + 1e-10)
            for end in (near, Vt[1:2].T):
                assert own_optimum(oracle, [start, end]) is None, case
            nearer = (V + 1e-7 * Vt[1:2].T) / np.sqrt(1 + 1e-14)
            reference, _ = own_optimum(oracle, [start, nearer])
            assert 0.99e-7 < reference.off < 2e-7, case


def test_some_rows_have_the_covariance_that_they_have():
    X = np.random.default_rng(1).standard_normal((2000, 6)) + 2
    for center, scale in ((True, None), (False, None), (True, np.arange(1.0, 7))):
        mean, moment, share = _sampled(PCAOracle(matrix_of(X), 2, center, scale))
        some = X[:: len(X) // round(len(X) / share)]
        Z = (some - some.mean(axis=0) if center else some) / (1 if scale is None else scale)
        np.testing.assert_allclose(moment, Z.T @ Z, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(mean, some.mean(axis=0) if center else np.zeros(6))
        assert share * len(some) == len(X)


def test_an_operator_has_no_rows():
    with pytest.raises(UsageError, match="no rows to read"):
        matrix_of(aslinearoperator(data())).rows(0, 1)


def test_a_frame_is_taken_by_its_numbers():
    class Tensor:
        def detach(self):
            return data()

    for given in (SimpleNamespace(to_numpy=data), Tensor()):
        np.testing.assert_array_equal(matrix_of(given).X, data())


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_mapped_matrix_goes_by_its_name_where_it_lies_in_one_piece(order, tmp_path):
    X = data(40, 6)
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    whole = np.load(tmp_path / "X.npy", mmap_mode="r")
    inside = whole[3:20] if order == "C" else whole[:, 2:5]
    across = whole[:, 2:5] if order == "C" else whole[3:20]
    with tempfile.TemporaryFile() as nameless:
        nameless.write(X.tobytes())
        mapped = np.memmap(nameless, X.dtype, "r", shape=X.shape)
    for given, named in (
        (whole, True), (inside, True), (across, False), (mapped, False), (X, False)
    ):  # fmt: skip
        matrix = matrix_of(given)
        assert ("file" in matrix.__getstate__()) is named
        again = pickle.loads(pickle.dumps(matrix))  # noqa: S301 - its own
        assert bool(getattr(again.X, "filename", None)) is named
        np.testing.assert_array_equal(again.X, given)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, aslinearoperator])
def test_a_matrix_like_another_has_its_kind_and_precision(form):
    values = np.arange(6.0).reshape(2, 3)
    matrix = matrix_of(form(data().astype(np.float32)))
    like = matrix.like(values)
    assert type(like) is type(matrix)
    assert like.dtype == matrix.dtype
    factor = 8 if type(matrix) is Dense else 1
    np.testing.assert_allclose(like.times(np.eye(3)), factor * values)


def test_whole_numbers_have_no_ones_of_a_unit_like_them():
    like = matrix_of(np.ones((4, 4), np.int8)).like(np.full((2, 2), 0.5))
    assert like.X.dtype == np.int8
    assert like.X.tolist() == [[4, 4], [4, 4]]
