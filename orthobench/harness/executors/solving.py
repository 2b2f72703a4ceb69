"""The process of a solver, which has the oracle and the solver only.

The process that started it has the problem and the judge, and gets the checkpoints
(`orthobench.harness.executors.guard`).
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import random
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Oracle, Solution
from orthobench.harness.execution import CLOCK, ready_oracle
from orthobench.harness.executors import messages
from orthobench.harness.executors.messages import PackedOracle, Start
from orthobench.harness.judging import stop_of
from orthobench.harness.run import record
from orthobench.harness.stopping import FAULTS, RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.tools.child import Channel
from orthobench.tools.environment import limited
from orthobench.tools.machine import resident
from orthobench.tools.object_graph import arrays, walk

CLUSTER = ("random", "threads")
"""Faults that Dask causes in a process that is connected to a cluster, not the solver."""

ENTRIES = 64
"""Number of entries of each array that are compared."""

GROWTH = 32 * 2**20
"""Minimum growth of memory in each half of the steps of a run, in bytes."""


def main(channel: Channel, memory: int | None) -> None:
    """Run solvers in at most `memory` bytes until the parent closes the channel."""
    prepare_process(channel, memory)
    packed_oracle: Any = None  # the first job brings one
    with TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        while (start := channel.receive()) is not None:
            packed_oracle = start.packed_oracle or packed_oracle
            before = ProcessState()
            stop = _run(start, packed_oracle, channel, output.fileno())
            if before.changed():
                channel.send(messages.CHANGED)
            channel.send((stop.status.value, stop.reason, stop.traceback))


def _run(start: Start, packed_oracle: PackedOracle, channel: Channel, output: int) -> Termination:
    try:
        solver = pickle.loads(start.solver)  # noqa: S301 - the parent wrote it
        oracle = messages.unpacked(packed_oracle, lambda *request: _asked(channel, request))
    except Exception as error:
        return unimportable(error)
    conduct = Conduct(oracle, output)

    def journal(checkpoint: Checkpoint, solution: Solution) -> None:
        channel.send((checkpoint, solution))
        conduct.point(checkpoint.work.steps)

    rule = partial(_asked, channel, messages.OVER) if start.target else None
    with limited(start.threads):
        solver.place.limit(start.threads)
        try:
            oracle, warmed = ready_oracle(oracle, solver, start.streams)
            channel.send(messages.BEGUN)
            stop, _ = record(
                oracle, solver, start.budget.after(warmed), start.streams,
                journal, rule, measure=start.measure,
            )  # fmt: skip
        except BaseException as error:  # an interrupt too, which only the solver can raise here
            return stop_of(error, solver.name)
        faults = conduct.faults()
        if solver.place.reduction.startswith("dask"):
            faults = [name for name in faults if name not in CLUSTER]
        if faults:
            channel.send((messages.NOTICED, faults))
    return stop


def _asked(channel: Channel, question: messages.SampleRequest | str) -> Any:
    channel.send(question)
    reply: messages.Reply | None = channel.receive()
    if reply is None:
        raise EOFError("the process that judges is gone")
    value, error = reply
    if error is not None:
        raise error
    return value


def prepare_process(channel: Channel, memory: int | None) -> None:
    """Report crashes of this process, and limit its memory, so that NumPy raises a MemoryError."""
    faulthandler.enable()
    if hasattr(os, "register_at_fork"):
        # a copy that a solver forks and that outlives this process would hold the channel open
        os.register_at_fork(after_in_child=channel.close)
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def unimportable(error: Exception) -> Termination:
    """Return the end of a cell whose classes this process cannot import."""
    reason = f"a worker process cannot import it ({error}); take the inline executor"
    return replace(stop_of(error, ""), status=RunStatus.ERROR, reason=reason)


class Conduct:
    """The process of a solver before a run, to compare with it after the run.

    `output` is the descriptor of the file of standard output.
    """

    def __init__(self, oracle: Oracle, output: int) -> None:
        self._oracle, self._output = oracle, output
        self._random, self._threads = generators(), set(threading.enumerate())
        self._printed = self._size()
        self._data = [(a, _some(a)) for a in arrays(oracle).values() if a.flags.writeable]
        self._memory: list[tuple[int, int]] = []

    def point(self, steps: int) -> None:
        """Record the memory in use at a checkpoint."""
        self._memory.append((steps, resident()))

    def faults(self) -> list[str]:
        """Return the names of `FAULTS` that apply."""
        written = any(getattr(item, "written", False) for _, item in walk(self._oracle))
        found = {
            "random": generators() != self._random,
            "output": self._size() > self._printed,
            "inputs": written or any(_some(array) != before for array, before in self._data),
            "threads": bool(set(threading.enumerate()) - self._threads),
            "memory": self._grows(),
        }
        return [name for name in FAULTS if found[name]]

    def _size(self) -> int:
        with suppress(Exception):  # a solver may have replaced it
            sys.stdout.flush()
        return os.fstat(self._output).st_size

    def _grows(self) -> bool:
        if len(self._memory) < 3:
            return False
        (_, first), (steps, last) = self._memory[0], self._memory[-1]
        middle = next(size for at, size in self._memory if 2 * at >= steps)
        return min(middle - first, last - middle) > GROWTH


def generators() -> dict[str, object]:
    """Return the states of the global random generators, by name."""
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is checked
    words = np.asarray(keys).tobytes()
    return {"numpy.random": (kind, words, *rest), "random": random.getstate()}


def _some(array: NDArray[Any]) -> bytes:
    """Return some entries from all over an array."""
    return np.asarray(array.flat[:: max(1, array.size // ENTRIES)]).tobytes()


WATCHED = (
    "numpy", "numpy.linalg", "numpy.random", "scipy.linalg", "scipy.sparse.linalg", "builtins",
    "time", "threading", "pickle", "os", "gc",
)  # fmt: skip
"""Other modules whose functions a solver must not replace."""

_noted: list[tuple[Mapping[str, Any], list[str], list[Any]]] = []
"""Namespaces of these modules and of the core, with the names and the functions in them."""

_seen: set[str] = set()
"""Names of all modules that were seen."""


class ProcessState:
    """The state of this process when it is made."""

    def __init__(self) -> None:
        self._state = _state()
        if len(sys.modules) != len(_seen):
            _note_functions()

    def changed(self) -> bool:
        """Return whether the state is different now."""
        try:
            return self._state != _state() or any(
                [*map(space.get, names)] != items for space, names, items in _noted
            )
        except Exception:  # values that cannot be compared
            return True


def _state() -> list[object]:
    tiny, half = np.float64(5e-324), np.float64(2.0**-53)
    state: list[object] = [
        np.geterr(), np.geterrcall(),
        [float(x) for x in (tiny * 1.0, half + 1.0, half - 1.0, half * 3 + 1.0)],  # rounding
        {thread.ident for thread in threading.enumerate()},
        sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold(), gc.isenabled(),
        sys.gettrace(), sys.getprofile(), CLOCK.get(),
    ]  # fmt: skip
    with suppress(OSError):  # the folder may be removed
        state.append(os.getcwd())  # noqa: PTH109 - pathlib is slower
    if sys.platform == "linux":
        import resource

        limits = (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_CPU,
                  resource.RLIMIT_NOFILE, resource.RLIMIT_STACK)  # fmt: skip
        state += map(resource.getrlimit, limits)
        state += [os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)]
    return state


def _note_functions() -> None:
    for name, module in list(sys.modules.items()):
        if name in _seen:
            continue
        _seen.add(name)
        if name in WATCHED or name.startswith("orthobench."):
            space = vars(module)
            kinds = [k for k in space.values() if isinstance(k, type) and k.__module__ == name]
            for own in (space, *map(vars, kinds)):
                names = [key for key, item in own.items() if callable(item)]
                _noted.append((own, names, [own[key] for key in names]))
