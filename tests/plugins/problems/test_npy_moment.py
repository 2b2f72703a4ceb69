"""The moments of a user's .npy file: its parts, its scaling, its errors."""

import numpy as np
import pytest
from orthobench_kit import memory
from orthobench_tucker import MomentStream
from orthobench_tucker.problems.files import NpyMoment
from orthobench_tucker.whole_tensor import refusal

from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import random_point


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.exponential(size=(1000, 6)) * np.arange(1, 7) + np.linspace(-3, 9, 6)


def recipe(path, **parameters):
    return NpyMoment(path=str(path), **{"rank": 2, **parameters})


def built(path, seed=0, **parameters):
    return recipe(path, **parameters).build(np.random.default_rng(seed))


def raw(path, **parameters):
    return built(path, normalization="none", centre=False, **parameters)


def parts(instance):
    judge = instance.measure
    return [m.X for m in (judge.train, judge.validation, judge.test)]


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


def test_transposed_samples_may_be_saved_but_not_streamed(path, tmp_path, X):
    np.save(tmp_path / "f.npy", np.ascontiguousarray(X.T).T)
    assert not np.load(tmp_path / "f.npy").flags.c_contiguous
    for found, expected in zip(parts(built(tmp_path / "f.npy")), parts(built(path)), strict=True):
        assert np.array_equal(found, expected)
    with pytest.raises(DataError, match=r"f\.npy is in Fortran order"):
        built(tmp_path / "f.npy", stream=True)


def test_zeros_are_refused_also_where_they_are_not_scaled(tmp_path):
    np.save(tmp_path / "bad.npy", np.zeros((50, 3)))
    with pytest.raises(DataError, match=r"bad\.npy: the .*samples are all zero"):
        raw(tmp_path / "bad.npy")
    with pytest.raises(DataError, match=r"bad\.npy: all rows are zero"):
        built(tmp_path / "bad.npy", centre=False)


def test_rows_beyond_memory_are_refused_before_reading(path, monkeypatch):
    monkeypatch.setattr(memory, "total", lambda: 8 * 6 * 1000 - 1)
    with pytest.raises(UsageError, match=r"1,000 rows of 6 numbers needs .*; set stream = true"):
        built(path)
    monkeypatch.setattr(memory, "total", lambda: 8 * 6 * 400)
    assert built(path, stream=True).oracle.n == 6
    with pytest.raises(UsageError, match=r"410 rows .*; hold out less"):
        built(path, stream=True, test=0.21)
