"""Generated matrices, and matrices of files: sizes, spectra, shares and digests."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from orthobench_pca.problems.matrices import (
    PROBE_BYTES,
    FlatSpectrumPCA,
    NpyPCA,
    SparseCountsPCA,
    TallPCA,
    WidePCA,
    deviations,
    log_normalized,
)
from orthobench_pca.problems.spectra import SparseSVD, SpectrumSVD, singular_values

import orthobench as ob


def built(problem):
    return problem.build(np.random.default_rng(0)).oracle


def test_spectra_are_those_that_are_said():
    assert deviations("exponential", 3, 1) == pytest.approx([1, 0.8, 0.64])
    assert deviations("exponential", 40, 1)[-1] == 1e-3
    assert deviations("power", 3, 1) == pytest.approx([1, 1 / 2, 1 / 3])
    assert deviations("spiked", 5, 3) == pytest.approx([2, 1.6, 1.2, 1, 1])
    assert deviations("flat", 3, 1) == pytest.approx([1, 0.99, 0.98])


def test_matrices_have_their_shape_precision_and_a_mean():
    for cls in (TallPCA, WidePCA, FlatSpectrumPCA):
        oracle = built(cls(n=30, d=8, k=8, dtype="float32"))
        assert oracle.X.shape == (30, 8)
        assert oracle.X.dtype == np.float32
        assert np.abs(oracle.mean()).max() > 0.5
        with pytest.raises(ob.UsageError, match=r"k = 9 components of a matrix \(30, 8\)"):
            built(cls(n=30, d=8, k=9))


def test_counts_have_their_draws_and_are_alike_within_kinds():
    oracle = built(SparseCountsPCA(n=60, d=200, k=2, density=0.1, kinds=2, log1p=False))
    X = oracle.X
    assert np.asarray(X.sum(axis=1)).ravel().tolist() == 60 * [20]
    assert 0.05 < X.nnz / (60 * 200) < 0.1
    assert X.data.max() > 1
    # so many kinds have one direction fewer between them
    for kinds in (2, 3):
        X = built(SparseCountsPCA(n=90, d=200, k=2, density=0.1, kinds=kinds, log1p=False)).X
        values = np.linalg.svd(X.toarray() - X.toarray().mean(axis=0), compute_uv=False)
        assert values[kinds - 2] > 1.5 * values[kinds - 1]
    # the log of a share is the sum of two normal numbers, of all rows and of a kind
    X = built(SparseCountsPCA(n=400, d=400, k=2, density=1.0, kinds=1, log1p=False)).X
    assert np.log(np.asarray(X.sum(axis=0)) + 0.5).std() == pytest.approx(np.sqrt(2), rel=0.1)


def test_rows_are_scaled_to_the_median_sum_of_those_with_entries():
    X = sp.csr_matrix(np.array([[1.0, 3.0], [0.0, 0.0], [0.5, 0.0], [10.0, 10.0]]))
    found = log_normalized(X).toarray()
    np.testing.assert_allclose(found, np.log1p([[1.0, 3.0], [0.0, 0.0], [4.0, 0.0], [2.0, 2.0]]))


def test_log1p_is_for_sparse_files(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    np.savez(tmp_path / "X.npz", np.arange(12.0).reshape(4, 3))
    with pytest.raises(ob.UsageError, match="log1p is for the sparse matrix"):
        built(NpyPCA(path=str(tmp_path / "X.npy"), log1p=True))
    assert built(NpyPCA(path=str(tmp_path / "X.npz"))).X.shape == (4, 3)
    np.savez(tmp_path / "two.npz", np.eye(2), np.eye(2))
    with pytest.raises(ob.DataError, match="cannot be read as a matrix"):
        built(NpyPCA(path=str(tmp_path / "two.npz")))


def test_a_digest_sees_the_size_and_the_time_of_change(tmp_path):
    file = tmp_path / "X.npy"
    digests = set()
    for size, time in ((5 * PROBE_BYTES, 0), (5 * PROBE_BYTES + 8, 0), (5 * PROBE_BYTES, 1)):
        file.write_bytes(bytes(size))
        os.utime(file, ns=(0, time))
        digests.add(NpyPCA(path=str(file)).checksum())
    assert len(digests) == 3
    with pytest.raises(ob.DataError, match="there is no file"):
        NpyPCA(path=str(tmp_path / "none.npy")).checksum()


@pytest.mark.parametrize("spectrum", ["power", "flat", "clustered", "low-rank"])
@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
def test_given_singular_values_are_those_of_the_matrix(spectrum, shape):
    problem = SpectrumSVD(n=shape[0], d=shape[1], k=6, spectrum=spectrum, unit=1e-3)
    found = np.linalg.svd(built(problem).X, compute_uv=False)
    expected = 1e-3 * singular_values(spectrum, 15, 6)
    np.testing.assert_allclose(found, expected, atol=1e-17)
    assert np.count_nonzero(expected) == (3 if spectrum == "low-rank" else 15)


def test_second_differences_have_known_singular_values():
    X = built(SparseSVD(d=30, k=3, kind="difference")).X.toarray()
    i = np.arange(30, 0, -1)
    found = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(found, 2 - 2 * np.cos(i * np.pi / 31), atol=1e-13)


def test_survey_rows_have_five_entries_in_columns_of_many_units():
    X = built(SparseSVD(n=300, d=40, k=3, kind="survey")).X
    assert set(np.diff(X.indptr)) == {5}
    norms = np.sort(np.linalg.norm(X.toarray(), axis=0))
    assert norms[-1] / norms[0] > 100
