"""Blocks at fixed places in the stream, so that results do not depend on the chunks of a run.

A streaming solver handles samples in blocks of a fixed size, counted from the first sample,
wherever the chunks of a run begin and end. If a chunk ends within a block, the samples since the
beginning of the block are kept, and so is the iterate from there: the result of the chunk is what
the incomplete block makes of that iterate, and the next chunk starts at the beginning of the block
again. So every iterate is a function of the samples alone, and ``advance(a); advance(b)`` leaves
the same bits as ``advance(a + b)``. The price: at most one block a chunk is handled twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from orthobench.contract import Array, State, Status
from orthobench_stochastic_pca.mini_batches import ModeratedState

BLOCK = 16
"""Samples in a block: for the usual ranks m near the minimizer b of 2(m + b/2) + 2m(m + b)/b."""

I = TypeVar("I")  # noqa: E741 - the iterate, of whatever type a solver chooses


@dataclass(slots=True, kw_only=True)
class BlockState(ModeratedState, Generic[I]):
    """The state of a solver that works in blocks.

    Attributes
    ----------
    iterate : object
        The iterate after all samples so far; never changed in place.
    base : object
        The iterate at the beginning of the incomplete block.
    pending : ndarray, shape (fewer than the block's size, d)
        The samples of the incomplete block.
    """

    iterate: I
    base: I
    pending: Array

    @classmethod
    def initial(cls, iterate: I, d: int) -> BlockState[I]:
        """Return the state before the first sample.

        Parameters
        ----------
        iterate : object
        d : int
            Length of a sample.

        Returns
        -------
        BlockState
        """
        return cls(iterate=iterate, base=iterate, pending=np.empty((0, d)))


class Process(Protocol[I]):
    """The update of a solver by samples; a pure function."""

    def __call__(self, iterate: I, samples: Array, first: int, /) -> I:
        """Return the iterate after `samples`, without changing `iterate`.

        Parameters
        ----------
        iterate : object
            The iterate at the beginning of a block.
        samples : ndarray, shape (count, d), C order
            Several whole blocks, or the beginning of one.
        first : int
            Number of samples before these.

        Returns
        -------
        object
        """


def advance_blocks(state: BlockState[I], samples: Array, size: int, process: Process[I]) -> None:
    """Update the state by samples, and count them as its steps and samples.

    Parameters
    ----------
    state : BlockState
        Changed in place.
    samples : ndarray, shape (count, d), C order
        Copied where they are kept.
    size : int
        Samples in a block.
    process : callable
        Called once for the incomplete block, once for all whole blocks that follow, and once for
        the samples that remain.
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
    """Fail if samples were not finite, or too large to be squared.

    Parameters
    ----------
    state : State
    drift : float
        The bound on the orthogonality defect of the basis: NaN after such samples
        (`orthobench_stochastic_pca._kernels.span.expand`).
    """
    if np.isnan(drift):
        state.status = Status.FAILED
        state.reason = "a sample is not finite, or too large to be squared"
