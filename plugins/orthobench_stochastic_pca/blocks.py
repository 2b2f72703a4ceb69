"""Blocks at fixed places in the stream, so that a run's bits do not depend on its chunks.

A streaming solver handles samples in blocks of `size`, cut at multiples of `size` from the first
sample on, wherever the chunks of a run begin and end. Where a chunk ends inside a block, the
samples since the block's beginning are kept, and so is the iterate from there: the chunk's
result is what the incomplete block makes of that iterate, and the next chunk begins at the
block's beginning again. So every iterate is a function of the samples alone, and
``advance(a); advance(b)`` leaves the same bits as ``advance(a + b)``, at the cost of handling
at most one block twice a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from orthobench.contract import Array, State, Status

BLOCK = 16
"""Samples in a block: near the least of 2(m + b/2) + 2m(m + b)/b products for the usual m."""

I = TypeVar("I")  # noqa: E741 - the iterate, whatever a solver makes it


@dataclass(slots=True, kw_only=True)
class BlockState(State, Generic[I]):
    """The state of a solver that works in blocks; begin with `BlockState.at`.

    Attributes
    ----------
    iterate : object
        The iterate after all samples so far; never changed in place.
    base : object
        The iterate at the beginning of the block that is incomplete.
    pending : ndarray, shape (fewer than the block's size, d)
        The samples since then.
    """

    iterate: I
    base: I
    pending: Array

    @classmethod
    def at(cls, iterate: I, d: int) -> BlockState[I]:
        """Return the state before the first sample, of samples of length `d`."""
        return cls(iterate=iterate, base=iterate, pending=np.empty((0, d)))


class Process(Protocol[I]):
    """What a solver does with samples; a pure function."""

    def __call__(self, iterate: I, samples: Array, first: int, /) -> I:
        """Return the iterate after `samples`; leave `iterate` as it is.

        Parameters
        ----------
        iterate : object
            The iterate at the beginning of a block.
        samples : ndarray, shape (count, d), C order
            Several whole blocks, or the beginning of one.
        first : int
            How many samples came before.
        """


def advance_blocks(state: BlockState[I], samples: Array, size: int, process: Process[I]) -> None:
    """Take `samples` into the state, and count them as steps and samples of its work.

    Parameters
    ----------
    state : BlockState
    samples : ndarray, shape (count, d), C order
        Not kept.
    size : int
        Samples in a block.
    process : callable
        Called for the block that was incomplete, once for all whole blocks that follow, and
        for what is left.
    """
    at = state.work.samples - len(state.pending)
    state.work.steps += len(samples)
    state.work.samples += len(samples)
    head = (size - len(state.pending)) % size
    parts = [np.concatenate([state.pending, samples[:head]]), samples[head:]]
    for part in parts:
        whole = len(part) // size * size
        if whole:
            state.base = process(state.base, part[:whole], at)
            at += whole
        state.pending = part[whole:]
        if len(state.pending):
            break
    state.pending = state.pending.copy()
    state.iterate = process(state.base, state.pending, at) if len(state.pending) else state.base


def fail_on_nan(state: State, drift: float) -> None:
    """End the run where the bound on the drift of the basis says that samples were not finite."""
    if np.isnan(drift):
        state.status = Status.FAILED
        state.reason = "a sample is not finite, or too large to be squared"
