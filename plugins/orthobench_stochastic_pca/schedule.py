"""Step sizes eta_t: a constant c, a schedule in t, and the unit of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from orthobench_kit.arrays import like

from orthobench.contract import Array, is_plain, namespace, parameter

GRID = tuple(2.0**i for i in range(-3, 6))
"""Constants c to try, for data with E|x|² = 1."""

FIRST = 16
"""Number of samples that are not zero whose mean |x|² is the unit."""

_POWER = {"1/sqrt(t)": 0.5, "constant": 0.0, "1/t": 1.0}


class Unit(NamedTuple):
    """The mean |x|² of the first `FIRST` samples that are not zero, in which steps are measured.

    `energy` is the sum of |x|², `samples` their number so far.
    """

    energy: Any = 0.0
    samples: Any = 0

    def along(self, rows: Any) -> tuple[Any, Unit]:
        """Return the unit at each of some samples, 1 if all were zero, and after them."""
        plain, count = is_plain(rows), rows.shape[0]
        xp = namespace(rows)
        squares = xp.sum(rows * rows, axis=-1)
        some = xp.where(squares > 0, xp.ones_like(squares), xp.zeros_like(squares))
        samples = _running(some, self.samples)
        squares = xp.where(samples <= FIRST, squares, xp.zeros_like(squares))
        energy = _running(squares, self.energy)
        samples = xp.where(samples <= FIRST, samples, xp.full_like(samples, FIRST))
        means = xp.where(samples > 0, energy, xp.ones_like(energy))
        means = means / xp.where(samples > 0, samples, xp.ones_like(samples))
        if not plain:
            return means, Unit(energy[count - 1], samples[count - 1])
        return means, Unit(float(energy[-1]), int(samples[-1])) if count else self


def _running(x: Any, before: Any) -> Any:
    """Return cumulative sums, in NumPy one after the other."""
    if is_plain(x):
        return np.cumsum(np.concatenate([[before], x]))[1:]
    return before + namespace(x).cumulative_sum(x)


UNKNOWN = Unit()
"""The unit before the first sample."""


def relative_parameter() -> Any:
    """Declare the parameter ``relative``."""
    return parameter(True, help="divide eta_t by the mean |x|² of the first 16 samples")


@dataclass(frozen=True)
class Scheduled:
    """The parameters of a solver with step sizes eta_t; a base class to name before `Solver`."""

    step_size: float = parameter(
        1.0, name="step", help="constant c of the step size eta_t", above=0.0, high=1e100, grid=GRID
    )
    schedule: str = parameter(
        "1/sqrt(t)", help="how eta_t falls from c with the step t", choices=tuple(_POWER)
    )
    relative: bool = relative_parameter()

    def etas_along(self, first: int, samples: Any, unit: Unit) -> tuple[Any, Unit]:
        """Return the step sizes for samples from number `first` on, and the unit after them."""
        etas = self.etas(first, samples.shape[0])
        if not self.relative:
            return etas, unit
        if isinstance(unit.samples, int) and unit.samples == FIRST:  # of NumPy
            return etas / (unit.energy / FIRST), unit
        means, unit = unit.along(samples)
        if isinstance(means, np.ndarray):
            return like(etas, means) / means, unit
        return self._sizes(_numbers(first, means)) / means, unit

    def etas(self, first: int, count: int) -> Array:
        """Return eta_t for t = first, ..., first + count - 1; first >= 1."""
        return np.asarray(self._sizes(np.arange(first, first + count, dtype=np.float64)))

    def _sizes(self, t: Any) -> Any:
        power, xp = _POWER[self.schedule], namespace(t)
        if power == 0.0:
            return xp.full_like(t, self.step_size)
        return self.step_size / (xp.sqrt(t) if power == 0.5 else t)


def _numbers(first: int, x: Any) -> Any:
    """Return first, first + 1, ... as an array like x."""
    from array_api_compat import device

    stop = first + x.shape[0]
    return namespace(x).arange(first, stop, dtype=x.dtype, device=device(x))
