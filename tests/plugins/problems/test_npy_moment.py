"""The moments of a user's .npy file: its parts, its scaling, its errors."""

from __future__ import annotations

import os

import numpy as np
import pytest
from orthobench_tucker import MomentOracle, MomentStream
from orthobench_tucker.problems.files import NpyMoment
from orthobench_tucker.whole_tensor import refusal

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools import machine
from orthobench.tools.geometry import random_point


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.exponential(size=(1000, 6)) * np.arange(1, 7) + np.linspace(-3, 9, 6)


@pytest.fixture
def path(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def recipe(path, **parameters):
    return NpyMoment(path=str(path), **{"rank": 2, **parameters})


def built(path, seed=0, **parameters):
    return recipe(path, **parameters).build(np.random.default_rng(seed))


def raw(path, **parameters):
    return built(path, normalization="none", centre=False, **parameters)


def parts(instance):
    judge = instance.measure
    return [m.X for m in (judge.train, judge.validation, judge.test)]


def test_in_file_order_the_parts_are_contiguous(path, X):
    instance = raw(path, shuffle=False, test=0.3)
    for found, expected in zip(parts(instance), (X[:500], X[500:700], X[700:]), strict=True):
        assert np.array_equal(found, expected)
    assert type(instance.oracle) is MomentOracle
    assert np.array_equal(instance.oracle.X, X[:500])


def test_shuffled_parts_are_disjoint_and_cover_the_file(path, X):
    order = np.random.default_rng(7).permutation(1000)
    found = parts(raw(path, seed=7))
    assert np.array_equal(np.concatenate(found), X[order])
    assert [len(part) for part in found] == [600, 200, 200]
    assert not np.array_equal(parts(raw(path, seed=8))[0], found[0])


def test_the_judge_may_measure_on_the_training_part(path):
    instance = raw(path, test=0.0)
    assert instance.measure.test is instance.measure.train
    assert [len(part) for part in parts(instance)] == [800, 200, 800]


def test_the_metrics_are_those_of_the_family(path, X):
    Q = Solution(random_point(6, 2, np.random.default_rng(1)))
    train, validation, test = (X[i:j] for i, j in ((0, 600), (600, 800), (800, 1000)))
    expected = ob.symmetric_tucker(
        train, validation=validation, test=test, order=4, rank=2
    ).measure(Q)
    assert raw(path, shuffle=False, order=4).measure(Q) == pytest.approx(expected, rel=1e-12)
    assert NpyMoment.tuned_by in expected


@pytest.mark.parametrize("centre", [True, False])
def test_rows_are_centred_and_scaled_over_the_whole_file(path, X, centre):
    moved = X - X.mean(axis=0) if centre else X
    squares = np.mean(moved**2, axis=0)
    scaled = {
        "none": moved,
        "common": moved / np.sqrt(squares.mean()),
        "per-feature": moved / np.sqrt(squares),
    }
    for normalization, expected in scaled.items():
        found = parts(built(path, shuffle=False, normalization=normalization, centre=centre))
        np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-12)


def test_a_common_factor_changes_no_relative_metric(path):
    Q = Solution(random_point(6, 2, np.random.default_rng(1)))
    scaled, plain = (built(path, normalization=n).measure(Q) for n in ("common", "none"))
    assert scaled["relative_error"] == pytest.approx(plain["relative_error"])
    assert scaled["objective"] != pytest.approx(plain["objective"])


def test_scaling_saves_moments_from_overflow(path, X):
    np.save(path, X * 1e60)
    with pytest.raises(DataError, match=r"x\.npy: the largest entry .* rescale"):
        raw(path)
    assert np.isfinite(list(built(path).measure(Solution(np.eye(6)[:, :2])).values())).all()


def test_constant_features_become_zero_or_stay(path, X):
    X[:, 2] = 5.0
    np.save(path, X)
    assert not parts(built(path))[0][:, 2].any()
    kept = parts(built(path, centre=False))[0][:, 2]
    assert np.ptp(kept) == 0
    assert kept[0] > 0


def test_a_stream_leaves_the_training_part_in_the_file(path, X):
    problem = recipe(path, stream=True, passes=2, shuffle=False, normalization="none")
    assert problem.streamed
    assert "only stream" in refusal(problem, "auto")
    instance = problem.build(np.random.default_rng(0))
    oracle = instance.oracle
    assert type(oracle) is MomentStream
    assert isinstance(oracle.source.rows, np.memmap)
    oracle.prepare(10**6)
    np.testing.assert_allclose(
        oracle.take(1200), np.tile(X[:600] - X.mean(axis=0), (2, 1)), atol=1e-12
    )
    assert "relative_gradient" not in instance.measure(Solution(np.eye(6)[:, :2]))


def test_a_stream_and_the_samples_at_once_are_the_same_rows(path):
    streamed, held = built(path, 3, stream=True), built(path, 3)
    rows = []
    for instance in (streamed, held):
        instance.oracle.prepare(600)
        rows.append(instance.oracle.take(600))
    assert np.array_equal(*rows)
    Q = Solution(random_point(6, 2, np.random.default_rng(1)))
    metrics = held.measure(Q)
    metrics.pop("relative_gradient")
    assert streamed.measure(Q) == metrics


def test_the_shape_is_read_from_the_header(path, tmp_path):
    assert recipe(path, order=4).tensor_shape == (6,) * 4
    assert recipe(tmp_path / "nowhere.npy").tensor_shape is None
    assert refusal(recipe(path), "explicit") is None


def test_the_transpose_of_samples_in_columns_may_be_saved_but_not_streamed(path, tmp_path, X):
    np.save(tmp_path / "f.npy", np.ascontiguousarray(X.T).T)
    assert not np.load(tmp_path / "f.npy").flags.c_contiguous
    for found, expected in zip(parts(built(tmp_path / "f.npy")), parts(built(path)), strict=True):
        assert np.array_equal(found, expected)
    with pytest.raises(DataError, match=r"f\.npy is in Fortran order"):
        built(tmp_path / "f.npy", stream=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, ">f8"])
def test_every_real_dtype_is_taken(tmp_path, dtype):
    X = np.random.default_rng(0).integers(0, 9, (50, 3)).astype(dtype)
    np.save(tmp_path / "x.npy", X)
    assert np.array_equal(parts(raw(tmp_path / "x.npy", shuffle=False))[0], X[:30].astype(float))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(5), "must be a matrix"),
        (np.ones((50, 2)) * 1j, "must be real numbers"),
        (np.array([[None, 1]] * 10, dtype=object), "cannot be read"),
        (np.ones((2, 3)), "2 rows: too few"),
        (np.full((50, 3), 7.0), "all rows are equal"),
        (np.where(np.arange(150).reshape(50, 3) == 100, np.nan, 1), "sample 33 .* feature 1 is n"),
    ],
)
def test_what_is_no_real_matrix_is_refused(tmp_path, array, message):
    np.save(tmp_path / "bad.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=message) as raised:
        built(tmp_path / "bad.npy")
    assert "bad.npy" in str(raised.value)


def test_zeros_are_refused_also_where_they_are_not_scaled(tmp_path):
    np.save(tmp_path / "bad.npy", np.zeros((50, 3)))
    with pytest.raises(DataError, match=r"bad\.npy: the .*samples are all zero"):
        raw(tmp_path / "bad.npy")
    with pytest.raises(DataError, match=r"bad\.npy: all rows are zero"):
        built(tmp_path / "bad.npy", centre=False)


def test_a_missing_file_is_named(tmp_path):
    problem = recipe(tmp_path / "nowhere.npy")
    for call in (problem.checksum, lambda: problem.build(np.random.default_rng(0))):
        with pytest.raises(DataError, match=r"there is no file .*nowhere\.npy"):
            call()


def test_bad_parameters_are_refused(path):
    with pytest.raises(UsageError, match=r"rank = 7 is more than the 6 features in .*x\.npy"):
        built(path, rank=7)
    with pytest.raises(UsageError, match="nothing is left to train on"):
        recipe(path, validation=0.5, test=0.5)
    with pytest.raises(UsageError, match="a stream needs a test part"):
        recipe(path, stream=True, test=0.0)
    with pytest.raises(UsageError, match="order must be >= 2"):
        recipe(path, order=1)
    with pytest.raises(UsageError, match="validation must be > 0"):
        recipe(path, validation=0.0)


def test_rows_that_do_not_fit_into_memory_are_refused_before_they_are_read(path, monkeypatch):
    monkeypatch.setattr(machine, "total", lambda: 8 * 6 * 1000 - 1)
    with pytest.raises(UsageError, match=r"1,000 rows of 6 numbers needs .*; set stream = true"):
        built(path)
    monkeypatch.setattr(machine, "total", lambda: 8 * 6 * 400)
    assert built(path, stream=True).oracle.n == 6
    with pytest.raises(UsageError, match=r"410 rows .*; hold out less"):
        built(path, stream=True, test=0.21)


def test_the_checksum_changes_with_the_file(path, X):
    problem = recipe(path)
    first, status = problem.checksum(), path.stat()
    assert recipe(path, order=5).checksum() == first
    np.save(path, 2 * X)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert problem.checksum() != first
