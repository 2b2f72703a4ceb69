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
    from orthobench.contract.problem import Solution
    from orthobench.harness.executors.guard import Guard, Job
    from orthobench.harness.executors.messages import Point
    from orthobench.harness.stopping import Termination
    from orthobench.harness.trace import Checkpoint, Outcome, Recording
    from orthobench.tools.child import Channel


@dataclass(frozen=True)
class RunRequest:
    """Request: run a job; with `journal` send each point as it is recorded."""

    job: Job
    journal: bool


@dataclass(frozen=True)
class JudgeRequest:
    """Request: judge the points that a run had recorded before its process was gone."""

    job: Job
    recording: Recording
    stop: Termination


@dataclass(frozen=True)
class Done:
    """Reply: the request is finished."""

    outcome: Outcome


Request: TypeAlias = RunRequest | JudgeRequest
Reply: TypeAlias = "Point | Done"
"""A recorded point of the run under way, or the end of the request."""


def main(channel: Channel, threads: int, memory: int | None) -> None:
    """Serve requests until the parent closes the channel.

    Parameters
    ----------
    channel : Channel
        To and from the parent.
    threads : int
        Threads of the libraries in the process of the solver.
    memory : int, optional
        Bytes of memory that this process, and that of the solver, may take (on Linux).
    """
    prepare_process(channel, memory)
    from orthobench.harness.executors.guard import Guard

    guard = Guard(threads, memory)
    while True:
        try:
            request: Request | None = channel.receive()
        except Exception as error:
            channel.send(Done(_unimportable(error)))
            continue
        if request is None:
            return guard.close()
        channel.send(Done(_outcome(request, guard, channel)))


def prepare_process(channel: Channel, memory: int | None) -> None:
    """Let this process say where it crashes, and limit its memory."""
    faulthandler.enable()
    if hasattr(os, "register_at_fork"):
        # a copy that a solver forks and that outlives this process would hold the channel open
        os.register_at_fork(after_in_child=channel.close)
    if memory is not None:
        _limit_memory(memory)


def unimportable(error: Exception) -> Termination:
    """Return how a cell ended whose classes this process cannot import."""
    from orthobench.harness.stopping import RunStatus, Termination
    from orthobench.tools.files import hide_home

    where = hide_home("".join(traceback.format_exception(error)))
    reason = f"a worker process cannot import it ({error}); take the inline executor"
    return Termination(RunStatus.ERROR, reason, where)


def _outcome(request: Request, guard: Guard, channel: Channel) -> Outcome:
    from orthobench.harness.executors.guard import broken_off
    from orthobench.harness.executors.messages import Point

    if isinstance(request, JudgeRequest):
        return broken_off(request.job, request.recording, request.stop)

    def journal(mark: Checkpoint, solution: Solution) -> None:
        channel.send(Point(mark, solution))

    return guard.execute(request.job, journal if request.journal else None)


def _unimportable(error: Exception) -> Outcome:
    from orthobench.harness.trace import Outcome

    return Outcome(unimportable(error))


def _limit_memory(most: int) -> None:
    """Let allocations beyond `most` bytes fail, so that numpy raises a MemoryError."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
