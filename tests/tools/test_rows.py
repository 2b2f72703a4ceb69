"""Rows that are read by blocks: however they are split, the same rows in the same order."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orthobench_problems.row_files import Stacked

from orthobench.errors import DataError
from orthobench.families.sources import ArraySource
from orthobench.tools.arrays import release
from orthobench.tools.rows import BLOCK_BYTES, BLOCK_ROWS, MappedFile, Rows, borders


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


def test_no_block_crosses_the_border_of_two_parts_and_each_is_read_once_a_pass():
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


def test_what_is_read_by_blocks_is_read_in_ascending_order():
    for order, message in (([3, 1], "one by one: shuffle them"), (range(4, 0, -1), "ascending")):
        with pytest.raises(DataError, match=message):
            ArraySource(Whole(matrix(9)), order)


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [("<f4", "<f4"), (">f4", "<f4"), ("<f8", "<f8"), ("u1", "<f8"), ("?", "<f8"), ("f2", "<f8")],
)
def test_blocks_of_float32_stay_float32_and_streams_are_float64(dtype, kept):
    X = (matrix(30) * 3).astype(dtype)
    for rows in (X, Part(X, [7])):
        source = ArraySource(rows, scale=2.0)
        assert source.block(0).dtype == np.dtype(kept)
        assert source.block(0).flags.c_contiguous
        assert source.block(0).base is None or not np.shares_memory(source.block(0), X)
        assert np.array_equal(
            np.concatenate([source.block(i) for i in range(source.count)]), X.astype(float) * 2
        )
        assert all(block.dtype == np.float64 for block in source.one_pass())


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


@pytest.mark.parametrize("which", ["all", "rows", "view", "every other", "columns"])
def test_a_mapped_file_is_mapped_again_in_another_process(tmp_path, which):
    X = matrix(9000)
    np.save(tmp_path / "x.npy", X)
    rows = parts_of(np.load(tmp_path / "x.npy", mmap_mode="r"))[which]
    source = ArraySource(rows, range(3, len(rows)))
    data = pickle.dumps(source)
    mapped = which in ("all", "rows")
    assert (len(data) < 2000) == mapped
    copy = pickle.loads(data)  # noqa: S301 - made here
    assert np.array_equal(copy.block(copy.count - 1), source.block(source.count - 1))
    assert isinstance(copy.rows, np.memmap) or not mapped
    release(copy.rows)


def test_private_changes_of_a_map_travel_with_it(tmp_path):
    np.save(tmp_path / "x.npy", matrix(10))
    rows = np.load(tmp_path / "x.npy", mmap_mode="c")
    rows[4, 1] = 99.0
    assert MappedFile.of(rows) is None
    assert pickle.loads(pickle.dumps(ArraySource(rows))).block(0)[4, 1] == 99.0  # noqa: S301 - made here


def test_a_file_that_is_gone_is_named(tmp_path):
    np.save(tmp_path / "x.npy", matrix(10))
    data = pickle.dumps(ArraySource(np.load(tmp_path / "x.npy", mmap_mode="r")))
    (tmp_path / "x.npy").unlink()
    with pytest.raises(DataError, match=r"x\.npy cannot be mapped here"):
        pickle.loads(data)  # noqa: S301 - made here
