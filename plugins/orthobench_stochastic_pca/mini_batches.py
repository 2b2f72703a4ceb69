"""What the methods share that take a block of samples a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthobench.contract import Array, SampleOracle, State, Status, is_plain, namespace, parameter

FEW = 10
"""Samples of a block by default, as in the code of Henriksen and Ward."""


EXTREME = 200
"""The binary exponent of samples, up or down, beyond which their fourth powers are not safe."""


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
    """Take the samples of a step and count both; the run fails on one that is not finite.

    The last step takes what is left.

    Parameters
    ----------
    oracle : SampleOracle
    state : State
    count : int

    Returns
    -------
    ndarray, shape (<= count, d)
    """
    samples: Array = moderated(state, oracle.take(count))
    state.work.steps += 1
    state.work.samples += len(samples)
    fail_unless_finite(state, samples)
    return samples


def fail_unless_finite(state: State, A: Any) -> None:
    """Fail where samples, or what was made of them, are not finite."""
    xp = namespace(A)
    if not xp.all(xp.isfinite(A)):
        state.status, state.reason = Status.FAILED, "a sample is not finite"
