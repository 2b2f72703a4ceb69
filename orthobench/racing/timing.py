"""Calls that are timed one after another in a new process, as in pasted code."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Sequence
from statistics import median

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.harness.objects import pickled
from orthobench.harness.stopping import Budget
from orthobench.stats.calls import Stop
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, ProcessError

REPEATS = 5
"""Maximum number of timed calls after the first one."""

ENOUGH = 0.5
"""Total seconds of calls after which no further one is timed."""

THREADS = 1
"""Threads of the libraries in a call without the argument ``threads``."""


def time_calls(
    problem: AnyProblem, calls: Sequence[tuple[int, AnySolver, Stop]], seconds: float
) -> Iterator[tuple[float, float]]:
    """Yield the median seconds of each call, and those of its first one, in one process.

    A call has a seed, a solver and a stop; the data of the last seed are kept. It ends if a call
    fails or the ``seconds`` are over; each has at most half of the rest.
    """
    end = time.monotonic() + seconds
    with Process("orthobench.racing.timing", threads=THREADS) as process:
        process.send(pickled(problem))
        for i, (seed, solver, stop) in enumerate(calls):
            left = (end - time.monotonic()) / (1 + (i < len(calls) - 1))
            process.send((seed, pickled(solver), dict(stop.limits), left))
            try:
                yield process.receive(max(left, 0.0))
            except (ProcessError, TimeoutError):
                return


def main(channel: Channel) -> None:
    """Make calls until the parent closes the channel; the error of a call ends the process."""
    from orthobench.api import instance

    problem, built = pickle.loads(channel.receive()), 0  # noqa: S301 - the parent wrote it
    made = instance(problem)
    while (message := channel.receive()) is not None:
        seed, *call = message
        if seed != built:
            del made  # so that memory has one instance at a time
            built, made = seed, instance(problem, seed)
        channel.send(_seconds(made, seed, *call))


def _seconds(
    made: AnyInstance, seed: int, solver: bytes, limits: dict[str, float], left: float
) -> tuple[float, float]:
    from orthobench.api import solve

    call = pickle.loads(solver), made, Budget(**limits) if limits else None  # noqa: S301 - the parent wrote it
    spent: list[float] = []
    end = time.perf_counter() + left
    while len(spent) <= REPEATS and sum(spent[1:]) < ENOUGH:
        begin = time.perf_counter()
        if spent and begin + spent[-1] > end:
            break
        solve(*call, seed=seed)
        spent.append(time.perf_counter() - begin)
    return median(spent[1:] or spent), spent[0]
