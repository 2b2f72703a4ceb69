"""A user's .npy file: its parts, its errors, its digest."""

from __future__ import annotations

import os

import numpy as np
import pytest
from orthobench_stochastic_pca.problems.files import NpyPCA

from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import random_point


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((1000, 6)) * np.arange(1, 7)


def built(path, seed=0, **parameters):
    return NpyPCA(
        path=str(path), **{"normalization": "none", "shuffle": False, **parameters}
    ).build(np.random.default_rng(seed))


def training(instance):
    instance.oracle.prepare(10**6)
    return instance.oracle.take(int(instance.oracle.remaining()))


def gap(rows, U):
    C = rows.T @ rows / len(rows)
    return np.linalg.eigvalsh(C)[-U.shape[1] :].sum() - np.trace(U.T @ C @ U)


def test_in_file_order_the_parts_are_contiguous(path, X):
    instance = built(path, k=2)
    assert np.array_equal(training(instance), X[:400])
    U = random_point(6, 2, np.random.default_rng(1))
    metrics = instance.measure(Solution(U))
    assert metrics["validation_suboptimality"] == pytest.approx(gap(X[400:600], U))
    assert metrics["suboptimality"] == pytest.approx(gap(X[600:], U))


def test_normalized_rows_have_mean_zero_and_unit_norm(path, X):
    centred = X - X.mean(axis=0)
    scaled = centred / np.sqrt(np.mean(np.sum(centred**2, axis=1)))
    np.testing.assert_allclose(training(built(path, normalization="common")), scaled[:400])
    per_feature = centred / centred.std(axis=0) / np.sqrt(6)
    found = training(built(path, normalization="per-feature"))
    np.testing.assert_allclose(found, per_feature[:400])


def test_by_default_the_parts_are_drawn_anew_for_each_seed(path, X):
    first, other = (
        NpyPCA(path=str(path), normalization="none").build(np.random.default_rng(seed))
        for seed in (0, 1)
    )
    order = np.random.default_rng(0).permutation(1000)
    seen = training(first)
    assert np.array_equal(seen, X[order[:400]])
    assert not np.array_equal(training(other), seen)


def test_shuffled_parts_are_disjoint_and_cover_the_file(path, X):
    instance = built(path, k=2, shuffle=True)
    order = np.random.default_rng(0).permutation(1000)
    assert np.array_equal(training(instance), X[order[:400]])
    U = random_point(6, 2, np.random.default_rng(1))
    metrics = instance.measure(Solution(U))
    assert metrics["validation_suboptimality"] == pytest.approx(gap(X[order[400:600]], U))
    assert metrics["suboptimality"] == pytest.approx(gap(X[order[600:]], U))
    assert not np.array_equal(training(built(path, 1, shuffle=True)), X[order[:400]])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(5), "must be a matrix"),
        (np.ones((5, 2, 2)), "must be a matrix"),
        (np.ones((50, 2)) * 1j, "must be real numbers"),
        (np.array([["a", "b"]] * 10), "must be real numbers"),
        (np.array([[None, 1]] * 10, dtype=object), "cannot be read"),
        (np.asfortranarray(np.ones((50, 3))), "Fortran order"),
        (np.ones((2, 3)), "2 rows: too few"),
        (np.ones((0, 3)), "bad.npy"),
    ],
)
def test_file_without_a_real_matrix_is_refused(tmp_path, array, message):
    np.save(tmp_path / "bad.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=message) as raised:
        built(tmp_path / "bad.npy")
    assert "bad.npy" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"not numpy at all", b"\x93NUMPY\x01\x00"])
def test_foreign_and_empty_files_are_refused(tmp_path, content):
    (tmp_path / "bad.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.npy (is no|cannot be read as a) \.npy file"):
        built(tmp_path / "bad.npy")


def test_a_text_file_is_refused_with_what_reads_it(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n3,4\n")
    with pytest.raises(DataError, match=r"a text file with numpy\.loadtxt, and write it"):
        built(tmp_path / "x.csv")


def test_a_missing_file_is_named(tmp_path):
    problem = NpyPCA(path=str(tmp_path / "nowhere.npy"))
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.npy"):
        problem.build(np.random.default_rng(0))
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.npy"):
        problem.checksum()


def test_too_large_a_subspace_and_too_large_shares_are_refused(path):
    with pytest.raises(UsageError, match="k = 7 is more than the data's dimension d = 6"):
        built(path, k=7)
    with pytest.raises(UsageError, match="nothing is left to train on"):
        NpyPCA(path=str(path), validation=0.5, test=0.5)


def test_a_bad_row_is_named_by_its_row_in_the_file(path, X):
    X[123, 4] = np.nan
    np.save(path, X)
    with pytest.raises(DataError, match=r"sample 123 .*feature 4"):
        training(built(path))
    X[123, 4], X[700, 1] = 0, np.inf
    np.save(path, X)
    with pytest.raises(DataError, match=r"sample 700 .*feature 1"):
        built(path)
    with pytest.raises(DataError, match=r"sample 700 .*feature 1"):
        built(path, shuffle=True)


def test_the_checksum_changes_with_the_file_and_not_with_the_reader(path, X):
    problem = NpyPCA(path=str(path))
    first = problem.checksum()
    problem.build(np.random.default_rng(0))
    assert problem.checksum() == first == NpyPCA(path=str(path), k=3).checksum()
    status = path.stat()
    X[0, 0] += 1
    np.save(path, X)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    changed = problem.checksum()
    assert changed != first
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert problem.checksum() not in (first, changed)
