"""Blocks of samples: one a step, or at fixed places in the stream; and samples of extreme size.

A solver that takes one sample a step may handle samples in blocks of a fixed size, counted from
the first sample, wherever the chunks of a run begin and end. If a chunk ends within a block, the
samples since the beginning of the block are kept, and so is the iterate from there: the result of
the chunk is what the incomplete block makes of that iterate, and the next chunk starts at the
beginning of the block again. So every iterate is a function of the samples alone, and
``advance(a); advance(b)`` leaves the same bits as ``advance(a + b)``. The price: at most one block
a chunk is handled twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from orthobench.contract import Array, SampleOracle, State, Status, is_plain, namespace, parameter

FEW = 10
"""Samples of a block by default, as in the code of Henriksen and Ward."""

EXTREME = 200
"""The binary exponent of samples, up or down, beyond which their fourth powers are not safe."""

I = TypeVar("I")  # noqa: E741 - the iterate, of whatever type a solver chooses


@dataclass(slots=True, kw_only=True)
class ModeratedState(State):
    """The state of a solver whose result does not depend on the unit of the samples.

    Attributes
    ----------
    exponent : int, or None
        That of the power of two which samples are divided by; None before one that is not zero.
    """

    exponent: int | None = None


def moderated(state: ModeratedState, samples: Any) -> Any:
    """Return samples divided by a power of two: by one, unless their size is extreme.

    It is that of the first sample that is not zero. Nothing is rounded; other libraries' arrays are
    left as they are.
    """
    if state.exponent is None and is_plain(samples) and samples.any():
        largest = np.abs(samples[samples.any(axis=1).argmax()]).max()
        exponent = int(np.frexp(largest)[1])
        state.exponent = exponent if abs(exponent) > EXTREME else 0
    return np.ldexp(samples, -state.exponent) if state.exponent else samples


def batch_parameter() -> Any:
    """Declare the parameter ``batch``."""
    return parameter(FEW, help="samples a step", unit="samples", low=1)


def taken(oracle: SampleOracle, state: ModeratedState, count: int) -> Array:
    """Take the samples of a step, or what is left, and count both.

    The run fails on a sample that is not finite.
    """
    samples: Array = moderated(state, oracle.take(count))
    state.work.steps += 1
    state.work.samples += len(samples)
    fail_unless_finite(state, samples)
    return samples


def fail_unless_finite(state: State, A: Any) -> None:
    """Fail if samples, or what was made of them, are not finite."""
    xp = namespace(A)
    if not xp.all(xp.isfinite(A)):
        state.status, state.reason = Status.FAILED, "a sample is not finite"


@dataclass(slots=True, kw_only=True)
class BlockState(ModeratedState, Generic[I]):
    """The state of a solver that works in blocks at fixed places.

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


def advance_blocks(
    state: BlockState[I], samples: Array, size: int, process: Callable[[I, Array, int], I]
) -> None:
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
        ``process(iterate, samples, first)`` returns the iterate after some whole blocks, or the
        beginning of one, before which there were `first` samples; it changes nothing. Called once
        for the incomplete block, once for all whole blocks that follow, and once for the samples
        that remain.
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
    """Fail where a kernel says by a bound of NaN that samples were not finite, or too large."""
    if np.isnan(drift):
        state.status = Status.FAILED
        state.reason = "a sample is not finite, or too large to be squared"
