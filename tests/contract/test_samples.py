"""Sources yield the user's rows, each once and in order, however a run is cut into chunks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import IteratorSource, SamplerSource

from orthobench.contract.samples import BLOCK, SampleOracle
from orthobench.errors import DataError, UsageError
from orthobench.tools.places import DEFAULT

chunks = st.lists(st.integers(1, 700), min_size=1, max_size=12)


def rng(seed=0):
    return np.random.default_rng(seed)


def drained(oracle, counts):
    """Prepare and take in the given chunks, over and over, until the data end."""
    rows, at = [], 0
    while oracle.remaining() > 0:
        count = counts[at % len(counts)]
        oracle.prepare(count)
        have = int(min(count, oracle.remaining()))
        rows.append(oracle.take(have))
        at += 1
        if have < count:
            break
    return np.concatenate(rows)


def gaussian(rng, count):
    return rng.standard_normal((count, 3))


@given(n=st.integers(1, 1500), d=st.integers(1, 5), counts=chunks, passes=st.integers(1, 3))
def test_an_array_is_read_row_by_row_for_any_chunking(n, d, counts, passes):
    X = np.arange(n * d, dtype=np.float64).reshape(n, d)
    oracle = SampleOracle(ArraySource(X, passes=passes), 1)
    assert oracle.remaining() == n * passes
    assert np.array_equal(drained(oracle, counts), np.tile(X, (passes, 1)))
    oracle.prepare(1)
    assert oracle.remaining() == 0


@given(n=st.integers(1, 900), counts=chunks, seed=st.integers(0, 9))
def test_order_scale_and_centre_act_row_by_row(n, counts, seed):
    generator = rng(seed)
    X = generator.integers(0, 256, (n, 4)).astype(np.uint8)
    order = generator.permutation(n)[: max(1, n // 2)]
    centre, scale = generator.standard_normal(4), generator.uniform(0.5, 2, 4)
    source = ArraySource(X, order, scale=scale, centre=centre)
    seen = drained(SampleOracle(source, 1), counts)
    assert np.array_equal(seen, (X[order] - centre) * scale)


def test_every_real_dtype_becomes_contiguous_float64():
    for dtype in (bool, np.uint8, np.int64, np.float16, np.float32, ">f8"):
        X = np.asfortranarray(rng().integers(0, 2, (300, 7)).astype(dtype))
        oracle = SampleOracle(ArraySource(X), 1)
        oracle.prepare(300)
        rows = oracle.take(300)
        assert rows.dtype == np.float64, dtype
        assert rows.flags.c_contiguous, dtype
        assert np.array_equal(rows, X.astype(float)), dtype


@given(counts=chunks, sizes=st.lists(st.integers(1, 600), min_size=1, max_size=6))
def test_an_iterator_of_rows_and_blocks_is_regrouped_exactly(counts, sizes):
    ends = np.cumsum(sizes)
    X = rng().standard_normal((ends[-1], 3))
    pieces = [X[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    pieces = [piece[0] if len(piece) == 1 else piece for piece in pieces]
    for stream in (pieces, iter(pieces)):
        assert np.array_equal(drained(SampleOracle(IteratorSource(stream), 1), counts), X)


def test_iterator_that_reuses_its_buffer_is_copied():
    def stream():
        buffer = np.empty(2)
        for value in range(600):
            buffer[:] = value
            yield buffer

    seen = drained(SampleOracle(IteratorSource(stream()), 1), [100])
    assert np.array_equal(seen[:, 0], np.arange(600))


def test_a_generator_survives_one_prepare_and_then_runs_once():
    for first in (1, 256, 2000):
        X = rng().standard_normal((5000, 2))
        oracle = SampleOracle(IteratorSource(row for row in X), 1)
        oracle.prepare(first)
        oracle.rewind(rng())
        assert np.array_equal(drained(oracle, [300]), X), first
        with pytest.raises(DataError, match="used up"):
            oracle.rewind(rng())


def test_a_generator_that_fails_fails_again_rather_than_end():
    def stream():
        yield np.ones((300, 2))
        raise OSError("the disk is gone")

    oracle = SampleOracle(IteratorSource(stream()), 1)
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            oracle.prepare(400)
        oracle.rewind(rng())


@given(first=chunks, second=chunks)
def test_a_sampler_stream_does_not_depend_on_chunks(first, second):
    total = min(sum(first), sum(second))
    streams = []
    for counts in (first, second):
        oracle = SampleOracle(SamplerSource(gaussian, 3), 1)
        oracle.rewind(rng(5))
        rows = []
        for count in counts:
            oracle.prepare(count)
            rows.append(oracle.take(count))
        assert oracle.remaining() == float("inf")
        streams.append(np.concatenate(rows)[:total])
    assert np.array_equal(*streams)


def test_ready_samples_are_taken_without_a_copy():
    oracle = SampleOracle(ArraySource(np.ones((10, 2))), 1)
    oracle.prepare(4)
    first = oracle.take(2)
    oracle.prepare(2)
    assert oracle.take(2).base is first.base is not None


def test_a_solver_that_takes_more_than_prepared_is_stopped():
    oracle = SampleOracle(ArraySource(np.ones((10, 2))), 1)
    oracle.prepare(3)
    with pytest.raises(RuntimeError, match="took 1000 samples, and 10 were prepared"):
        oracle.take(1000)


def test_a_bad_row_is_named():
    for bad, what in (
        (np.nan, "is not finite"),
        (np.inf, "is not finite"),
        (-np.inf, "is not finite"),
        (1e200, "too large"),
    ):
        for row in (0, 255, 256, 1234):
            X = np.ones((2000, 6))
            X[row, 4] = bad
            with pytest.raises(DataError, match=rf"sample {row} .*{what}.*feature 4"):
                drained(SampleOracle(ArraySource(X), 1), [300])


def test_a_bad_row_is_named_by_its_place_in_the_array():
    X = np.ones((1000, 2))
    X[17, 1] = np.nan
    order = np.arange(1000)[::-1].copy()
    with pytest.raises(DataError, match="sample 17 "):
        drained(SampleOracle(ArraySource(X, order), 1), [300])


def test_an_iterator_of_anything_else_is_refused():
    for items, message in (
        ([], "empty"),
        ([np.ones(3), np.ones(4)], "sample 1 .* has 4 features, those before it have 3"),
        ([np.ones((5, 3)), np.ones((2, 2))], "sample 5 .* has 2 features"),
        (["abc"], "sample 0 .* are a path"),
        ([np.ones((2, 3, 4))], "sample 0 .* real numbers"),
        ([np.ones(3), [[1, 2], [3]]], "sample 1 .* different lengths"),
        ([np.ones(3) * 1j], "sample 0 .* real numbers"),
    ):
        with pytest.raises(DataError, match=message):
            drained(SampleOracle(IteratorSource(items), 1), [10])


def test_a_sampler_that_returns_anything_else_is_refused():
    for sampler in (
        lambda _rng, count: np.ones((count, 2)),
        lambda _rng, count: np.ones((count - 1, 3)),
        lambda _rng, _count: np.ones((0, 3)),
        lambda _rng, _count: np.ones(3),
        lambda _rng, count: np.ones((count, 3), dtype=complex),
    ):
        with pytest.raises(DataError, match="sampler"):
            SampleOracle(SamplerSource(sampler, 3), 1).prepare(1)


def test_arrays_that_are_not_real_matrices_are_refused():
    for X in (np.ones(3), np.ones((0, 3)), np.ones((3, 0)), np.array([["a"]])):
        with pytest.raises(DataError):
            ArraySource(X)


@given(
    n=st.integers(1, 900),
    begin=st.integers(0, 900),
    step=st.integers(1, 3),
    down=st.booleans(),
    counts=chunks,
)
@example(n=900, begin=0, step=1, down=True, counts=[100])
@example(n=1, begin=0, step=3, down=True, counts=[1])
def test_a_range_of_rows_is_read_like_the_rows_that_it_names(n, begin, step, down, counts):
    X = np.arange(2.0 * n).reshape(n, 2)
    part = range(min(begin, n - 1), n, step)
    part = part[::-1] if down else part
    source = ArraySource(X, part)
    assert np.array_equal(drained(SampleOracle(source, 1), counts), X[list(part)])
    assert [source.row_number(index) for index in range(len(part))] == list(part)


def test_an_empty_part_and_no_pass_are_refused():
    with pytest.raises(DataError, match="no row"):
        ArraySource(np.ones((3, 1)), np.array([], dtype=np.intp))
    with pytest.raises(DataError, match="no row"):
        ArraySource(np.ones((3, 1)), [])
    with pytest.raises(UsageError, match="passes"):
        ArraySource(np.ones((3, 1)), passes=0)


def test_a_copy_draws_what_a_new_oracle_draws():
    oracle = SampleOracle(SamplerSource(gaussian, 3), 1)
    oracle.prepare(5)
    first = oracle.take(5)
    for copy in (pickle.loads(pickle.dumps(oracle)), oracle.to(DEFAULT)):  # noqa: S301
        copy.prepare(5)
        assert np.array_equal(copy.take(5), first)
        assert np.array_equal(first, gaussian(rng(0), BLOCK)[:5])
