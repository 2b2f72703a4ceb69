"""A user's .npy file: its parts, its errors, its digest."""

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


@pytest.mark.parametrize("shuffle", [False, True])
def test_parts_cover_the_file_in_its_order_or_a_random_one(path, X, shuffle):
    instance = built(path, k=2, shuffle=shuffle)
    order = np.random.default_rng(0).permutation(1000) if shuffle else np.arange(1000)
    assert np.array_equal(training(instance), X[order[:400]])
    U = random_point(6, 2, np.random.default_rng(1))
    metrics = instance.measure(Solution(U))
    assert metrics["validation_suboptimality"] == pytest.approx(gap(X[order[400:600]], U))
    assert metrics["suboptimality"] == pytest.approx(gap(X[order[600:]], U))
    other = training(built(path, 1, shuffle=shuffle))
    assert np.array_equal(other, X[order[:400]]) is not shuffle


def test_a_text_file_is_refused_with_what_reads_it(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n3,4\n")
    with pytest.raises(DataError, match=r"a text file with numpy\.loadtxt, and write it"):
        built(tmp_path / "x.csv")


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
