"""Blocks of samples: one a step, or at fixed places in the stream; and samples of extreme size.

Blocks at fixed places are counted from the first sample, wherever the chunks of a run end. If a
chunk ends within a block, its samples and the iterate before it are kept, and the next chunk
repeats the block. So ``advance(a); advance(b)`` leaves the same bits as ``advance(a + b)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from orthobench.contract import Array, SampleOracle, State, Status, is_plain, namespace, parameter

FEW = 10
"""Default number of samples in a block, that of Henriksen and Ward."""

EXTREME = 200
"""Maximum binary exponent of samples, up or down, with safe fourth powers."""

I = TypeVar("I")  # noqa: E741 - the iterate, of whatever type a solver chooses


@dataclass(slots=True, kw_only=True)
class ModeratedState(State):
    """The state of a solver whose result does not depend on the unit of the samples.

    Samples are divided by two to the `exponent`; None before the first sample that is not zero.
    """

    exponent: int | None = None


def moderated(state: ModeratedState, samples: Any) -> Any:
    """Return samples divided by a power of two, if the first nonzero one has an extreme size."""
    if state.exponent is None and is_plain(samples) and samples.any():
        largest = np.abs(samples[samples.any(axis=1).argmax()]).max()
        exponent = int(np.frexp(largest)[1])
        state.exponent = exponent if abs(exponent) > EXTREME else 0
    return np.ldexp(samples, -state.exponent) if state.exponent else samples


def batch_parameter() -> Any:
    """Declare the parameter ``batch``."""
    return parameter(FEW, help="samples a step", unit="samples", low=1)


def taken(oracle: SampleOracle, state: ModeratedState, count: int) -> Array:
    """Take the samples of a step, and count both; fail if one is not finite."""
    samples: Array = moderated(state, oracle.take(count))
    state.work.steps += 1
    state.work.samples += len(samples)
    fail_unless_finite(state, samples)
    return samples


def fail_unless_finite(state: State, A: Any) -> None:
    """Fail if an array is not finite."""
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
    """Update the state by samples (count, d), and count them as its steps and samples.

    ``process(iterate, samples, first)`` returns the iterate after some whole blocks, or the
    beginning of one, with `first` samples before it; it changes nothing.
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
    """Fail if a kernel's bound is NaN, as samples are not finite or too large."""
    if np.isnan(drift):
        state.status = Status.FAILED
        state.reason = "a sample is not finite, or too large to be squared"
