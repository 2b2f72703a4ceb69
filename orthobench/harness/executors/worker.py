"""A process that executes cells for another: requests come by standard input, pickled.

It trusts its parent, and nobody else can write into the pipe. Its true standard output carries
the replies; what solvers print goes to standard error, which the parent keeps.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

if TYPE_CHECKING:
    from orthobench.contract.solution import Solution
    from orthobench.harness.cell import Cell
    from orthobench.harness.stopping import Stop
    from orthobench.harness.trace import Mark, Outcome, Recording


@dataclass(frozen=True)
class Run:
    """Request: execute a cell, and tell each point as it is recorded."""

    cell: Cell


@dataclass(frozen=True)
class Judge:
    """Request: judge what is left of a run that broke off."""

    cell: Cell
    recording: Recording
    stop: Stop


@dataclass(frozen=True)
class Point:
    """Reply: a point of the run under way."""

    mark: Mark
    solution: Solution


@dataclass(frozen=True)
class Done:
    """Reply: the cell is finished."""

    outcome: Outcome


Request: TypeAlias = Run | Judge
Reply: TypeAlias = Point | Done


def main(memory: int | None) -> None:
    """Serve requests until standard input ends.

    Parameters
    ----------
    memory : int, optional
        Bytes of memory that the process may take (on Linux).
    """
    replies = _replies()
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import faulthandler

    faulthandler.enable()
    if memory is not None:
        _limit_memory(memory)
    while (packed := receive(sys.stdin.buffer)) is not None:
        send(replies, Done(_served(packed, replies)))


def send(stream: BinaryIO, message: Request | Reply) -> None:
    """Write a message, after its length."""
    packed = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(struct.pack("<q", len(packed)) + packed)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """Return the next message, pickled; None where the stream has ended, or breaks off in it."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    (length,) = struct.unpack("<q", head)
    packed = stream.read(length)
    return packed if len(packed) == length else None


def _served(packed: bytes, replies: BinaryIO) -> Outcome:
    from orthobench.harness.cell import broken_off, execute
    from orthobench.harness.stopping import Ending, Stop
    from orthobench.harness.trace import Outcome

    try:
        request: Request = pickle.loads(packed)  # noqa: S301 - from the parent
    except Exception as error:
        where = "".join(traceback.format_exception(error))
        reason = f"a worker process cannot import it ({error}); take the inline executor"
        return Outcome(Stop(Ending.ERROR, reason, where))

    if isinstance(request, Judge):
        return broken_off(request.cell, request.recording, request.stop)
    return execute(request.cell, lambda mark, solution: send(replies, Point(mark, solution)))


def _replies() -> BinaryIO:
    """Return the true standard output, and send what is printed to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _die_with_parent() -> None:
    """Ask Linux to kill this process with its parent, also while compiled code hangs."""
    if sys.platform != "linux":
        return
    import ctypes

    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _limit_memory(most: int) -> None:
    """Let allocations beyond `most` bytes fail, so that numpy raises a MemoryError."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
