"""Step sizes eta_t: a constant c, and a schedule in t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array, parameter

GRID = tuple(2.0**i for i in range(-3, 6))
"""Constants c to try in tuning, for data with E|x|² = 1."""

_POWER = {"1/sqrt(t)": 0.5, "constant": 0.0, "1/t": 1.0}


@dataclass(frozen=True)
class Scheduled:
    """The parameters of a solver with step sizes; a base class to name before `Solver`.

    Parameters
    ----------
    step_size : float
        The constant c > 0; called ``step`` in suites.
    schedule : {"1/sqrt(t)", "constant", "1/t"}
        eta_t = c / sqrt(t), c or c / t, with t counted from 1.
    """

    step_size: float = parameter(
        1.0,
        name="step",
        help="constant c of the step size eta_t",
        above=0.0,
        high=1e100,
        grid=GRID,
    )
    schedule: str = parameter(
        "1/sqrt(t)", help="how eta_t falls from c with the step t", choices=tuple(_POWER)
    )

    def etas(self, first: int, count: int) -> Array:
        """Return the step sizes eta_t for t = first, ..., first + count - 1.

        Parameters
        ----------
        first : int
            At least 1.
        count : int

        Returns
        -------
        ndarray, shape (count,)
        """
        t = np.arange(first, first + count, dtype=np.float64)
        power = _POWER[self.schedule]
        if power == 0.0:
            return np.full(count, self.step_size)
        return self.step_size / (np.sqrt(t) if power == 0.5 else t)
