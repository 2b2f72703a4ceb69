"""The program of a solver's process: it holds the oracle, the solver, and nothing else.

The problem with its judge is in the process that started this one, which gets the recorded points
(`orthobench.harness.executors.guard`).
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.harness.execution import CLOCK, ready_oracle
from orthobench.harness.executors.conduct import Conduct
from orthobench.harness.executors.messages import (
    BEGUN,
    CHANGED,
    NOTICED,
    OVER,
    PackedOracle,
    Reply,
    SampleRequest,
    Start,
    unpacked,
)
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
    with TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        while (start := channel.receive()) is not None:
            packed_oracle = start.packed_oracle or packed_oracle
            before = ProcessState()
            stop = _run(start, packed_oracle, channel, output.fileno())
            if before.changed():
                channel.send(CHANGED)
            channel.send(stop)


def _run(start: Start, packed_oracle: PackedOracle, channel: Channel, output: int) -> Termination:
    """Run a solver on an oracle; return how the run ended."""
    try:
        with _collected_once():
            solver = pickle.loads(start.solver)  # noqa: S301 - the parent wrote it
            oracle = unpacked(packed_oracle, partial(_rows, channel))
    except Exception as error:
        return unimportable(error)
    conduct = Conduct(oracle, output)

    def journal(mark: Checkpoint, solution: Solution) -> None:
        channel.send((mark, solution))
        conduct.point(mark.work.steps)

    rule = (lambda *_: _asked(channel, OVER)) if start.target else None
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
                journal, rule, measure=start.measure,
            )  # fmt: skip
        except KeyboardInterrupt as error:  # nobody else can interrupt this process
            return stop_of(error, solver.name)
        if faults := conduct.faults():
            channel.send((NOTICED, faults))
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


WATCHED = (
    "numpy", "numpy.linalg", "numpy.random", "scipy.linalg", "scipy.sparse.linalg", "builtins",
    "time", "threading", "pickle", "os", "gc",
)  # fmt: skip
"""The modules whose functions and classes nobody is to replace, beside those of this project."""

_noted: dict[str, list[tuple[Mapping[str, Any], list[str], list[Any]]]] = {}
"""Of each module that was seen: namespaces, names in them, and functions with these names."""

_seen: set[str] = set()
"""All modules that were seen."""


class ProcessState:
    """The state of this process when it is made."""

    def __init__(self) -> None:
        self._state = _state()
        if len(sys.modules) != len(_seen):
            _note_functions()

    def changed(self) -> bool:
        """Return whether the process is in another state now."""
        try:
            return self._state != _state() or any(
                [*map(space.get, names)] != items
                for spaces in _noted.values()
                for space, names, items in spaces
            )
        except Exception:  # what cannot even be compared
            return True


def _state() -> dict[str, object]:
    tiny, half = np.float64(5e-324), np.float64(2.0**-53)
    state: dict[str, object] = {
        "errors": (np.geterr(), np.geterrcall()),
        "arithmetic": [float(x) for x in (tiny * 1.0, half + 1.0, half - 1.0, half * 3 + 1.0)],
        "threads": {thread.ident for thread in threading.enumerate()},
        "interpreter": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold()),
        "collector": gc.isenabled(),
        "tracing": (sys.gettrace(), sys.getprofile(), CLOCK.get()),
        "folder": None,
    }
    with suppress(OSError):  # the folder may be removed
        state["folder"] = os.getcwd()  # noqa: PTH109 - pathlib is slower
    if sys.platform == "linux":
        import resource

        limits = (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_CPU,
                  resource.RLIMIT_NOFILE, resource.RLIMIT_STACK)  # fmt: skip
        state["limits"] = [resource.getrlimit(limit) for limit in limits]
        state["schedule"] = (os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0))
    return state


def _note_functions() -> None:
    """Note the functions and classes of modules that were loaded since the last time."""
    for name, module in list(sys.modules.items()):
        _seen.add(name)
        if name in _noted or not (name in WATCHED or name.startswith("orthobench.")):
            continue
        space = vars(module)
        kinds = [k for k in space.values() if isinstance(k, type) and k.__module__ == name]
        _noted[name] = []
        for own in (space, *map(vars, kinds)):
            names = [key for key, item in own.items() if callable(item)]
            _noted[name].append((own, names, [own[key] for key in names]))
