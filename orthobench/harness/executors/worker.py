"""The program of a worker process that executes cells: takes requests and sends replies, pickled.

It trusts its parent, and nobody else can write into the pipe.
"""

from __future__ import annotations

import faulthandler
import os
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from orthobench.contract.solution import Solution
    from orthobench.harness.cell import Cell
    from orthobench.harness.stopping import Stop
    from orthobench.harness.trace import Mark, Outcome, Recording
    from orthobench.tools.child import Channel


@dataclass(frozen=True)
class Run:
    """Request: execute a cell, and send each point as it is recorded."""

    cell: Cell


@dataclass(frozen=True)
class Judge:
    """Request: judge the points that a run had recorded before its process was gone."""

    cell: Cell
    recording: Recording
    stop: Stop


@dataclass(frozen=True)
class Point:
    """Reply: a recorded point of the run under way."""

    mark: Mark
    solution: Solution


@dataclass(frozen=True)
class Done:
    """Reply: the cell is finished."""

    outcome: Outcome


Request: TypeAlias = Run | Judge
Reply: TypeAlias = Point | Done


def main(channel: Channel, memory: int | None) -> None:
    """Serve requests until the parent closes the channel.

    Parameters
    ----------
    channel : Channel
        To and from the parent.
    memory : int, optional
        Bytes of memory that the process may take (on Linux).
    """
    faulthandler.enable()
    if hasattr(os, "register_at_fork"):
        # a copy that a solver forks and that outlives this process would hold the channel open
        os.register_at_fork(after_in_child=channel.close)
    if memory is not None:
        _limit_memory(memory)
    while True:
        try:
            request: Request | None = channel.receive()
        except Exception as error:
            channel.send(Done(_not_importable(error)))
            continue
        if request is None:
            return
        channel.send(Done(_outcome(request, channel)))


def _outcome(request: Request, channel: Channel) -> Outcome:
    from orthobench.harness.cell import broken_off, execute

    if isinstance(request, Judge):
        return broken_off(request.cell, request.recording, request.stop)
    return execute(request.cell, lambda mark, solution: channel.send(Point(mark, solution)))


def _not_importable(error: Exception) -> Outcome:
    """Return the outcome of a cell whose classes this process cannot import."""
    from orthobench.harness.stopping import Ending, Stop
    from orthobench.harness.trace import Outcome

    where = "".join(traceback.format_exception(error))
    reason = f"a worker process cannot import it ({error}); take the inline executor"
    return Outcome(Stop(Ending.ERROR, reason, where))


def _limit_memory(most: int) -> None:
    """Let allocations beyond `most` bytes fail, so that numpy raises a MemoryError."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
