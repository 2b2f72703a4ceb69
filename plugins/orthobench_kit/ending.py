"""Ends of runs that only a device knows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from orthobench.contract import ArraySolver, Oracle, State, Status, namespace
from orthobench.contract.solver import OracleT_contra, Work
from orthobench.tools.arrays import AnyArray
from orthobench_kit.arrays import where


@dataclass(slots=True, kw_only=True)
class EndingState(State):
    """The state of an `ArraySolver` whose steps test whether the run ends.

    With NumPy a step sets the status. On a device that would wait: `finish_if` notes the end,
    `unless_ended` keeps the iterate, and `EndingSolver.advance` reads the note once.

    Attributes
    ----------
    ended : array of shape (), optional
        Zero while it runs, else the number of notes at the end, negative for a failure.
    notes : list of Work
        The work at each note since `advance` began.
    """

    ended: Any = None
    notes: list[Work] = field(default_factory=list)


def finish_if(state: EndingState, converged: Any, failed: Any = False) -> bool:
    """Set the status at the end of a run, or note it on the device; failure wins.

    Returns
    -------
    bool
        Whether it has ended; False if only the device knows.
    """
    if converged is False and failed is False:
        return False
    if not isinstance(converged, (bool, np.bool_)):
        _note(state, converged, failed)
        return False
    if failed or converged:
        state.status = Status.FAILED if failed else Status.CONVERGED
    return state.status is not Status.RUNNING


def _note(state: EndingState, converged: Any, failed: Any) -> None:
    xp = namespace(converged)
    state.notes.append(replace(state.work))
    none, number = xp.zeros_like(converged, dtype=xp.int32), len(state.notes)
    now = where(failed, none - number, xp.where(converged, none + number, none))
    state.ended = now if state.ended is None else xp.where(state.ended == 0, now, state.ended)


def unless_ended(state: EndingState, new: AnyArray, old: AnyArray) -> AnyArray:
    """Return the new iterate, or the old one if the run has ended."""
    if state.ended is None:
        return new
    kept: AnyArray = namespace(new).where(state.ended == 0, new, old)
    return kept


def read_end(oracle: Oracle, state: EndingState) -> None:
    """Set status and work from the notes of `finish_if`; wait for the device."""
    number = 0 if state.ended is None else int(state.ended)
    if number:
        state.status = Status.FAILED if number < 0 else Status.CONVERGED
        state.work = state.notes[abs(number) - 1]
        state.work.samples = max(state.work.samples, oracle.taken)
    state.ended, state.notes = None, []


EndingT = TypeVar("EndingT", bound=EndingState)


class EndingSolver(ArraySolver[OracleT_contra, EndingT]):
    """Base of solvers whose steps test whether the run ends."""

    def advance(self, oracle: OracleT_contra, state: EndingT, count: int) -> None:
        """Do `count` steps, or fewer if the status leaves ``RUNNING``; called on the clock."""
        super().advance(oracle, state, count)
        read_end(oracle, state)
