"""Solvers run to their end without a judge, for estimators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from orthobench.contract import AnySolver, Array, Oracle, Status, UsageError
from orthobench.errors import unknown
from orthobench.tools.arrays import is_number


def solver_named(
    name: str, classes: Iterable[type[AnySolver]], besides: Iterable[str], **parameters: Any
) -> AnySolver:
    """Return a solver of a family by name, with the parameters that it has.

    Raises
    ------
    UsageError
        If the name is unknown; the message lists all, those of `besides` too.
    """
    known = {cls.name: cls for cls in classes}
    if name not in known:
        raise unknown("solver of this estimator:", name, [*besides, *known])
    cls = known[name]
    return cls(**{key: value for key, value in parameters.items() if hasattr(cls, key)})


def point_of(solver: AnySolver, oracle: Oracle, start: Array) -> Array:
    """Return the point at which a solver with seed 0 ends, without a clock.

    Raises
    ------
    UsageError
        If the solver does not end by itself, cannot take the data, or fails.
    """
    if not solver.converges and not solver.reruns:
        raise UsageError(f"{solver.name} does not end by itself: pass another solver")
    oracle.start, rng = start, np.random.default_rng(0)
    state = solver.init(oracle, rng)
    while state.status is Status.RUNNING:
        solver.step(oracle, state)
    if state.status is Status.FAILED:
        raise UsageError(f"{solver.name} failed: {state.reason}; pass another solver")
    return solver.solution(state).point


def checked_tolerance(tolerance: object) -> float:
    """Return a tolerance as a float.

    Raises
    ------
    UsageError
        If it is not a number from 0 to below 1.
    """
    if not is_number(tolerance) or not 0 <= tolerance < 1:  # type: ignore[operator]
        raise UsageError(f"tolerance must be at least 0 and below 1, not {tolerance!r}")
    return float(tolerance)  # type: ignore[arg-type]
