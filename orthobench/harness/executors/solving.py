"""The program of a solver's process: it holds the oracle, the solver, and nothing else.

The problem with its judge is in the process that started this one, which gets the recorded points
(`orthobench.harness.executors.guard`).
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from orthobench.contract.problem import Solution
from orthobench.harness.execution import ready_oracle
from orthobench.harness.executors.messages import (
    BEGUN,
    CHANGED,
    OVER,
    PackedOracle,
    Reply,
    SampleRequest,
    Start,
    unpacked,
)
from orthobench.harness.executors.process_state import ProcessState
from orthobench.harness.judging import stop_of
from orthobench.harness.run import record
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.tools.arrays import Array
from orthobench.tools.child import Channel
from orthobench.tools.environment import limited
from orthobench.tools.files import hide_home


def main(channel: Channel, memory: int | None) -> None:
    """Run solvers until the parent closes the channel.

    Parameters
    ----------
    channel : Channel
        To and from the parent.
    memory : int, optional
        Bytes of memory that the process may take (on Linux).
    """
    prepare_process(channel, memory)
    packed_oracle: Any = None  # the first job brings one
    while (start := channel.receive()) is not None:
        packed_oracle = start.packed_oracle or packed_oracle
        before = ProcessState()
        stop = _run(start, packed_oracle, channel)
        if before.changed():
            channel.send(CHANGED)
        channel.send(stop)


def _run(start: Start, packed_oracle: PackedOracle, channel: Channel) -> Termination:
    """Run a solver on an oracle; return how the run ended."""
    try:
        with _collected_once():
            solver = pickle.loads(start.solver)  # noqa: S301 - the parent wrote it
            oracle = unpacked(packed_oracle, partial(_rows, channel))
    except Exception as error:
        return unimportable(error)
    rule = partial(_over, channel) if start.target else None
    with limited(start.threads):
        solver.place.limit(start.threads)
        try:
            with _collected_once():
                oracle, warmed = ready_oracle(oracle, solver, start.streams)
        except BaseException as error:
            return stop_of(error, solver.name)
        channel.send(BEGUN)
        try:
            stop, _ = record(
                oracle, solver, start.budget.after(warmed), start.streams,
                lambda *point: channel.send(point), rule, measure=start.measure,
            )  # fmt: skip
        except KeyboardInterrupt as error:  # nobody else can interrupt this process
            return stop_of(error, solver.name)
    return stop


@contextmanager
def _collected_once() -> Iterator[None]:
    """Collect garbage at the end only: compilers make much, and leave little that is not used.

    To look through it again and again takes 7 % of the time of compilation, and more from caches.
    """
    try:
        gc.disable()
        yield
    finally:
        gc.collect(0)
        gc.enable()


def _rows(channel: Channel, source: int, first: bool) -> Array | None:
    """Ask for samples."""
    rows: Array | None = _asked(channel, (source, first))
    return rows


def _over(channel: Channel, mark: Checkpoint, solution: Solution) -> Termination | None:
    """Ask whether the run stops at the point that was sent last."""
    del mark, solution
    stop: Termination | None = _asked(channel, OVER)
    return stop


def _asked(channel: Channel, question: SampleRequest | str) -> Any:
    channel.send(question)
    reply: Reply | None = channel.receive()
    if reply is None:
        raise EOFError("the process that judges is gone")
    value, error = reply
    if error is not None:
        raise error
    return value


def prepare_process(channel: Channel, memory: int | None) -> None:
    """Let this process say where it crashes, and limit its memory.

    Allocations beyond the limit fail, so that numpy raises a MemoryError.
    """
    faulthandler.enable()
    if hasattr(os, "register_at_fork"):
        # a copy that a solver forks and that outlives this process would hold the channel open
        os.register_at_fork(after_in_child=channel.close)
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def unimportable(error: Exception) -> Termination:
    """Return how a cell ended whose classes this process cannot import."""
    where = hide_home("".join(traceback.format_exception(error)))
    reason = f"a worker process cannot import it ({error}); take the inline executor"
    return Termination(RunStatus.ERROR, reason, where)
