"""The driver of blocks: iterates do not depend on chunks."""

import pickle
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from orthobench_stochastic_pca.blocks import BlockState, advance_blocks

SIZE = 4


def cut(total, cuts):
    edges = [0, *sorted(c % (total + 1) for c in cuts), total]
    return [slice(a, b) for a, b in pairwise(edges)]


def begun():
    return BlockState(iterate=(), base=(), pending=np.empty((0, 1)))


def recorder(calls):
    """A process whose iterate spells out which samples it saw, block by block."""

    def process(iterate, samples, first):
        calls.append(SimpleNamespace(first=first, count=len(samples)))
        assert sum(map(len, iterate)) == first
        values = [int(v) for v in samples[:, 0]]
        return iterate + tuple(tuple(values[i : i + SIZE]) for i in range(0, len(values), SIZE))

    return process


@given(st.integers(0, 40), st.lists(st.integers(0, 100), max_size=8))
def test_blocks_begin_at_multiples_of_their_size(total, cuts):
    samples = np.arange(total, dtype=float)[:, None]
    state, calls = begun(), []
    for part in cut(total, cuts):
        advance_blocks(state, samples[part], SIZE, recorder(calls))
        state = pickle.loads(pickle.dumps(state))  # noqa: S301
    whole = tuple(tuple(range(i, min(i + SIZE, total))) for i in range(0, total, SIZE))
    assert state.iterate == whole
    assert state.base == whole[: total // SIZE]
    assert (state.work.steps, state.work.samples) == (total, total)
    assert all(call.first % SIZE == 0 for call in calls)
