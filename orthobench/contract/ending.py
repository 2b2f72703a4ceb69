"""Ends of runs that only the device knows: `EndingState`, `ends` and `read_end`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.contract.solver import State, Status, Work
from orthobench.tools.arrays import AnyArray, namespace
from orthobench.tools.scalars import chosen


@dataclass(slots=True, kw_only=True)
class EndingState(State):
    """The state of an `ArraySolver` whose steps see whether they were the last.

    With NumPy a step sets the status. Elsewhere it would wait for the device to know: `ends` notes
    the end there, `unless_ended` keeps the iterate from then on, and `ArraySolver.advance` reads
    the note when all steps are asked for.

    Attributes
    ----------
    ended : array of shape (), optional
        Zero while it runs, else how many notes there were at the end, negative where it failed.
    notes : list of Work
        What was counted at each note since `advance` began.
    """

    ended: Any = None
    notes: list[Work] = field(default_factory=list)


def ends(state: EndingState, converged: Any, failed: Any = False) -> bool:
    """Set the status where a run ends, or note it on the device.

    Parameters
    ----------
    state : EndingState
    converged, failed : bool or array of shape ()
        Failure counts where both are true.

    Returns
    -------
    bool
        Whether it has ended; False where only the device knows.
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
    now = chosen(failed, none - number, xp.where(converged, none + number, none))
    state.ended = now if state.ended is None else xp.where(state.ended == 0, now, state.ended)


def unless_ended(state: EndingState, new: AnyArray, old: AnyArray) -> AnyArray:
    """Return the new iterate, or the old one where the run has ended before."""
    if state.ended is None:
        return new
    kept: AnyArray = namespace(new).where(state.ended == 0, new, old)
    return kept


def read_end(oracle: Oracle, state: EndingState) -> None:
    """Set status and work by what `ends` noted, the only reading; wait for the device."""
    number = 0 if state.ended is None else int(state.ended)
    if number:
        state.status = Status.FAILED if number < 0 else Status.CONVERGED
        state.work = state.notes[abs(number) - 1]
        state.work.samples = max(state.work.samples, oracle.taken)
    state.ended, state.notes = None, []
