"""Rows that are read by blocks: however they are split, the same rows in the same order."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orthobench_kit.arrays import release
from orthobench_kit.data.row_files import Stacked
from orthobench_kit.reading import is_lazy, rows_of
from orthobench_kit.rows import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    LARGEST_CHUNK,
    DaskRows,
    OpenRows,
    Rows,
    SparseRows,
    borders,
    refuse_unwritten,
)
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.problems.files import NpyPCA
from scipy import sparse

from orthobench.errors import DataError


class Part(Rows):
    """Rows in memory with borders of their own, which notes what is read."""

    random = True

    def __init__(self, X, cuts=(), name=""):
        self.X, self.shape, self.dtype, self.name, self.reads = X, X.shape, X.dtype, name, []
        inside = sorted({cut for cut in cuts if 0 < cut < len(X)})
        self.borders = np.array([0, *inside, len(X)])

    def read(self, begin, end):
        self.reads.append((begin, end))
        return self.X[begin:end]

    def gather(self, numbers):
        return self.X[numbers]

    def place(self, row):
        return self.name, row


class Whole(Part):
    random = False


def matrix(rows, dtype=np.float64):
    return np.arange(3 * rows, dtype=dtype).reshape(rows, 3) / 7


@st.composite
def splits(draw, kind=Part):
    """A matrix, and the same one in parts with borders of their own."""
    X = matrix(draw(st.integers(1, 40)))
    cuts = draw(st.lists(st.integers(1, max(1, len(X) - 1)), unique=True, max_size=5))
    ends = sorted({cut for cut in cuts if cut < len(X)} | {len(X)})
    parts = [
        kind(X[begin:end], draw(st.lists(st.integers(0, 12), max_size=4)), f"part-{begin}")
        for begin, end in zip([0, *ends], ends, strict=False)
    ]
    return X, Stacked(parts)


@given(splits(), st.data())
def test_any_split_gives_the_same_rows(split, data):
    X, rows = split
    begin = data.draw(st.integers(0, len(X) - 1))
    end = data.draw(st.integers(begin + 1, len(X)))
    assert np.array_equal(rows.read(begin, end), X[begin:end])
    numbers = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=9)))
    assert np.array_equal(rows.gather(numbers), X[numbers])
    for row in range(len(X)):
        name, at = rows.place(row)
        assert int(name.removeprefix("part-")) + at == row


@given(splits(Whole), st.data())
def test_a_source_of_any_split_and_any_part_yields_its_rows_in_order(split, data):
    X, rows = split
    begin = data.draw(st.integers(0, len(X) - 1))
    order = range(begin, data.draw(st.integers(begin + 1, len(X))), data.draw(st.integers(1, 4)))
    source = ArraySource(rows, order, scale=2.0, centre=1.0)
    expected = (X[order] - 1.0) * 2.0
    blocks = [source.block(index) for index in range(source.count)]
    assert np.array_equal(np.concatenate(blocks), expected)
    assert [len(block) for block in blocks] == [source.height(i) for i in range(source.count)]
    assert np.array_equal(np.concatenate(list(source.one_pass())), expected)
    assert sum(map(source.height, range(source.count))) == source.length == len(order)


@settings(max_examples=10)
@given(splits(), st.randoms(use_true_random=False))
def test_a_permutation_of_any_split_is_read_in_its_order(split, random):
    X, rows = split
    order = list(range(len(X)))
    random.shuffle(order)
    source = ArraySource(rows, order)
    assert np.array_equal(np.concatenate(list(source.one_pass())), X[order])
    assert np.array_equal(np.concatenate([source.block(i) for i in range(source.count)]), X[order])


def test_blocks_stay_within_parts_and_are_read_once():
    X = matrix(20)
    parts = [Whole(X[:7], [4]), Whole(X[7:])]
    source = ArraySource(Stacked(parts), range(2, 19))
    assert [source.height(i) for i in range(source.count)] == [2, 3, 12]
    list(source.one_pass())
    assert (parts[0].reads, parts[1].reads) == ([(2, 4), (4, 7)], [(0, 12)])


def test_a_block_is_named_by_its_file():
    source = ArraySource(Stacked([Part(matrix(5), name="a"), Part(matrix(4), name="b")]))
    assert [source.label(i) for i in (0, 1)] == ["a, rows 0 to 4", "b, rows 0 to 3"]
    assert source.row_number(6) == "1 of b"
    assert ArraySource(matrix(5), range(1, 4)).label(0) == "rows 1 to 3"
    assert ArraySource(matrix(5), range(4, -1, -2)).label(0) == "rows 4 to 0"
    bad = matrix(4)
    bad[2, 1] = np.nan
    source = ArraySource(Stacked([Part(matrix(5), name="a"), Part(bad, name="b")]))
    with pytest.raises(DataError, match=r"sample 2 of b \(counted from 0\) is not finite"):
        list(source.checked_pass())


def test_rows_in_blocks_are_read_in_ascending_order():
    for order, message in (([3, 1], "one by one: shuffle them"), (range(4, 0, -1), "ascending")):
        with pytest.raises(DataError, match=message):
            ArraySource(Whole(matrix(9)), order)


def test_blocks_of_float32_stay_float32_and_streams_are_float64():
    for dtype, kept in (
        ("<f4", "<f4"),
        (">f4", "<f4"),
        ("<f8", "<f8"),
        ("u1", "<f8"),
        ("?", "<f8"),
        ("f2", "<f8"),
    ):
        X = (matrix(30) * 3).astype(dtype)
        for rows in (X, Part(X, [7])):
            source = ArraySource(rows, scale=2.0)
            assert source.block(0).dtype == np.dtype(kept), dtype
            assert source.block(0).flags.c_contiguous, dtype
            assert source.block(0).base is None or not np.shares_memory(source.block(0), X), dtype
            assert np.array_equal(
                np.concatenate([source.block(i) for i in range(source.count)]), X.astype(float) * 2
            ), dtype
            assert all(block.dtype == np.float64 for block in source.one_pass()), dtype


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 3000))
def test_blocks_of_a_format_are_whole_chunks_within_bounds(rows, columns, chunk):
    try:
        found = borders((rows, columns), "the samples", chunk)
    except DataError as error:
        assert "chunks of at most" in str(error)  # noqa: PT017
        return
    assert found[0] == 0
    assert found[-1] == rows
    assert not (found[:-1] % chunk).any()
    steps = np.diff(found)
    assert steps.min() > 0
    assert steps.max() <= max(chunk, min(BLOCK_ROWS, BLOCK_BYTES // (8 * columns)))


def parts_of(rows):
    return {
        "all": rows,
        "rows": rows[13:70],
        "view": rows[5:].view(np.ndarray),
        "every other": rows[::2],
        "columns": rows[:, 1:],
    }


def test_a_mapped_file_is_mapped_again_in_another_process(tmp_path):
    for which in ("all", "rows", "view", "every other", "columns"):
        X = matrix(9000)
        np.save(tmp_path / "x.npy", X)
        rows = parts_of(np.load(tmp_path / "x.npy", mmap_mode="r"))[which]
        source = ArraySource(rows, range(3, len(rows)))
        data = pickle.dumps(source)
        mapped = which in ("all", "rows")
        assert (len(data) < 2000) == mapped, which
        copy = pickle.loads(data)  # noqa: S301 - made here
        assert np.array_equal(copy.block(copy.count - 1), source.block(source.count - 1)), which
        assert isinstance(copy.rows, np.memmap) or not mapped, which
        release(copy.rows)


class Opened:
    """As an array of a file: read by slices, and broken on demand."""

    def __init__(self, values, broken=False):
        self.values, self.broken, self.chunks = values, broken, (2, values.shape[1])
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, at):
        if self.broken:
            raise RuntimeError("bad\n filter")
        return self.values[at]


def test_open_arrays_are_read_on_demand_or_named():
    X = matrix(5)
    rows = OpenRows(Opened(X), "x.h5")
    assert np.array_equal(rows.read(1, 3), X[1:3])
    assert (rows.place(3), len(rows), rows.shape) == (("x.h5", 3), 5, (5, 3))
    with pytest.raises(DataError, match=r"the samples in x\.h5 cannot be read: bad filter"):
        OpenRows(Opened(X, broken=True), "x.h5").read(0, 1)
    with pytest.raises(DataError, match="the samples cannot be read"):
        OpenRows(Opened(X, broken=True)).read(0, 1)


class Chunked:
    """As a Dask array: chunks along both axes, computed when asked."""

    def __init__(self, shape, chunks):
        self.shape, self.chunks, self.dtype = shape, chunks, np.dtype(float)
        self.numblocks = tuple(map(len, chunks))


def test_dask_arrays_that_cannot_be_read_by_rows_are_told_how():
    for array, message in (
        (SimpleNamespace(), "no Dask array: pass data.to_dask_array"),
        (Chunked((np.nan, 2), ((3,), (2,))), "of unknown length: call compute_chunk_sizes"),
        (Chunked((LARGEST_CHUNK // 8 + 1, 1), ((LARGEST_CHUNK // 8 + 1,), (1,))),
         "pass data.rechunk"),
        (Chunked((800, 2**17), ((1, 513, 286), (2**17,))),
         r"513 rows, 513 MiB in float64: pass data.rechunk\({0: 8, 1: -1}\)"),
        (Chunked((2, 2**27), ((2,), (2**27,))), r"2,048 MiB .* data.rechunk\({0: 1, 1: -1}\)"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=message):
            DaskRows(array)
        largest = LARGEST_CHUNK // 8
        assert DaskRows(Chunked((largest, 1), ((largest,), (1,)))).borders.tolist() == [
            0,
            largest,
        ], array


def test_sparse_matrices_and_rows_are_lazy_and_arrays_are_not():
    X = matrix(4)
    assert is_lazy(sparse.coo_array(X))
    assert is_lazy(Part(X))
    assert not is_lazy(X)
    assert not is_lazy(X.tolist())
    held = sparse.csr_array(X)
    rows = rows_of(held, "it")
    held.data[:] = 99.0
    assert isinstance(rows, SparseRows)
    assert np.array_equal(rows.read(0, 4), X)
    assert np.array_equal(ArraySource(rows, [3, 1]).block(0), X[[3, 1]])
    part = Part(X)
    assert rows_of(part, "it") is part
    assert rows_of(X, "it") is X


def test_rows_of_which_a_file_can_hold_next_to_nothing_are_refused():
    with pytest.raises(DataError, match=r"would be 8e\+12 numbers, and there are 1,400 bytes"):
        refuse_unwritten((10**12, 8), 1400, "it")
    refuse_unwritten((10**6, 8), 1400, "it")


def test_a_file_that_claims_more_than_a_disk_holds_is_refused_at_once(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("X", shape=(10**12, 8), chunks=(1000, 8), dtype="f8")
    with pytest.raises(DataError, match="most were never written"):
        NpyPCA(path=str(tmp_path / "x.h5")).build(np.random.default_rng(0))
