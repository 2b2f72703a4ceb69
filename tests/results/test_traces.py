"""Traces in a store: what is packed comes back, and blocks of today are read for ever."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.solver import Work
from orthobench.errors import StoreError
from orthobench.harness.trace import Checkpoint
from orthobench.results.traces import Trace, packed, unpacked

GOLDEN = bytes.fromhex("63608045f040bb6390820b30063b65e63c908700fb7ab8d07f2820890100")
"""A block as it was first written."""

counts = st.integers(0, 2**40)
reported = st.dictionaries(st.sampled_from("abc"), st.floats(allow_nan=False))
marks = st.builds(
    Checkpoint,
    seconds=st.integers(0, 2**30).map(lambda ns: ns * 1e-9),
    readout_seconds=st.integers(0, 2**30).map(lambda ns: ns * 1e-9),
    work=st.builds(Work, counts, counts, counts),
    metrics=reported,
)


def trace():
    steps = [0, 1, 2, 3, 4, 5, 6, 7, 9, 11]
    return [
        Checkpoint(1000 * n * 1e-9, 1000 * 1e-9, Work(n, 2 * n, 60 * n), {"gap": 0.5**n})
        for n in steps
    ]


@given(st.lists(marks, min_size=1, max_size=40))
def test_packed_checkpoints_come_back(made):
    names, block = packed(made)
    found = Trace(len(made), names, made[-1], block)
    assert (found[-1], found[-1:]) == (made[-1], (made[-1],))
    assert found == made
    assert found != made[:-1]
    assert (found[0], found[-len(made)], found[:2]) == (made[0], made[0], tuple(made[:2]))
    columns = found.columns
    for i, mark in enumerate(made):
        costs = (
            column[i] for column in (columns.seconds, columns.readout_seconds, columns.work.flops)
        )
        assert (*costs,) == (mark.seconds, mark.readout_seconds, mark.work.flops)


def test_the_last_checkpoint_is_there_without_the_block():
    last = trace()[-1]
    found = Trace(9, ("gap",), last, b"damaged", where="s.sqlite")
    assert (found[-1], found[-1:], len(found)) == (last, (last,), 9)
    with pytest.raises(StoreError, match=r"s\.sqlite: its trace cannot be read"):
        found[-2:]


def test_a_block_of_the_first_stores_is_read():
    made = trace()
    assert Trace(len(made), ("gap",), made[-1], GOLDEN) == made


def test_a_block_of_another_number_of_checkpoints_is_refused():
    _, block = packed([*trace(), trace()[-1]])
    assert unpacked(block, 10, 1, trace()[-1])[0].shape == (3, 10)
    for points in (-1, 9, 11, 2**20 + 1):
        with pytest.raises(ValueError, match=f"{points} checkpoints"):
            unpacked(block, points, 1, trace()[-1])


def test_counts_below_zero_are_refused():
    made = trace()
    made[3] = replace(made[3], work=Work(3, -1, 3))
    with pytest.raises(ValueError, match="negative"):
        unpacked(packed(made)[1], 9, 1, made[-1])


def test_small_block_that_expands_to_gigabytes_is_refused():
    _, block = packed(trace())
    for points, metrics in ((2**20, 1), (2, 2**28)):
        with pytest.raises(ValueError, match=f"in {len(block)} bytes"):
            unpacked(block, points, metrics, trace()[-1])


def test_checkpoint_by_its_number_is_that_of_the_whole_trace():
    marks = [Checkpoint(s, 0.5, Work(s, 2 * s), {"gap": 1.0 / (s + 1)}) for s in (0, 1, 2, 5)]
    marks[1] = replace(marks[1], metrics={})
    names, block = packed(marks)
    trace = Trace(len(marks), names, marks[-1], block)
    assert [trace[i] for i in range(-4, 4)] == [*marks, *marks]
    assert trace[1:3] == tuple(marks[1:3])
    with pytest.raises(IndexError):
        trace[4]


def test_numbers_in_which_nothing_repeats_take_seven_bytes():
    rng, steps = np.random.default_rng(0), np.arange(40)
    marks = [
        Checkpoint(
            10_000 * int(s) * 1e-9, 0.5, Work(int(s), 2 * int(s)), {"a": x, "b": y, "rank": 3.0}
        )
        for s, x, y in zip(steps, *rng.random((2, 40)).tolist(), strict=True)
    ]
    names, block = packed(marks)
    assert Trace(40, names, marks[-1], block) == marks
    assert len(block) < 2 * 39 * 7.5 + 60


def test_an_unusual_number_of_flops_comes_back():
    works = [Work(0, 0, 0), Work(1, 2**62, 2**62), Work(2**40, 2**62, 2**62 + 1), Work(2**40 + 1)]
    marks = [Checkpoint(0.0, 0.0, work, {}) for work in works]
    names, block = packed(marks)
    assert Trace(4, names, marks[-1], block) == marks
    marks.append(Checkpoint(9e8, 0.0, Work(2**62, 2**62, 2**62), {"late": 1.0}))
    names, block = packed(marks)
    assert Trace(5, names, marks[-1], block) == marks
