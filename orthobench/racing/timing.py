"""Calls made one after another in a process of their own, as pasted code makes them."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass
from statistics import median
from typing import Any, Self

from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.harness.objects import pickled
from orthobench.harness.stopping import Budget
from orthobench.stats.calls import Stop
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, ProcessError

REPEATS = 5
"""Number of calls after the first that are timed."""

ENOUGH = 0.5
"""Seconds of calls after which no further one is timed."""

THREADS = 1
"""Threads of the libraries in a call without the argument ``threads``."""


@dataclass(frozen=True)
class CallTimes:
    """What a call took.

    Attributes
    ----------
    first : float
        Seconds of the first call in the process, which loads and compiles what it needs.
    later : tuple of float
        Seconds of the calls after it; empty if there was no time for any.
    samples : int
        Samples that the call took.
    """

    first: float
    later: tuple[float, ...]
    samples: int

    @property
    def seconds(self) -> float:
        """The median of the later calls; the first without any."""
        return median(self.later or (self.first,))


class Caller:
    """A process that makes calls on one problem.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: AnyProblem) -> None:
        self._process = Process("orthobench.racing.timing", threads=THREADS)
        self._process.send(problem)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def times(self, solver: AnySolver, stop: Stop, seconds: float) -> CallTimes | None:
        """Make a call some times; return None if it failed, or took longer than there is time."""
        found: CallTimes | None = self._reply(solver, stop, seconds, None)
        return found

    def value(self, solver: AnySolver, stop: Stop, metric: str, seconds: float) -> float | None:
        """Return the metric that the judge finds at the end of a call; None as of `times`."""
        found: float | None = self._reply(solver, stop, seconds, metric)
        return found

    def _reply(self, solver: AnySolver, stop: Stop, seconds: float, metric: str | None) -> Any:
        self._process.send((pickled(solver), dict(stop.limits), seconds, metric))
        try:
            return self._process.receive(max(seconds, 0.0))[0]
        except (ProcessError, TimeoutError):
            return None


def main(channel: Channel) -> None:
    """Make calls until the parent closes the channel.

    Parameters
    ----------
    channel : Channel
        To and from the parent.
    """
    from orthobench.api import instance

    made = instance(channel.receive())
    while (message := channel.receive()) is not None:
        try:
            channel.send((_made(made, *message),))
        except Exception:
            channel.send((None,))


def _made(
    instance: Any, data: bytes, limits: dict[str, float], left: float, metric: str | None
) -> Any:
    from orthobench.api import solve

    solver = pickle.loads(data)  # noqa: S301 - the parent wrote it
    budget = Budget(**limits) if limits else None
    if metric is not None:
        return solve(solver, instance, budget).trace[-1].metrics[metric]
    spent: list[float] = []
    end = time.perf_counter() + left
    while len(spent) <= REPEATS and sum(spent[1:]) < ENOUGH:
        begin = time.perf_counter()
        if spent and begin + spent[-1] > end:
            break
        outcome = solve(solver, instance, budget)
        spent.append(time.perf_counter() - begin)
    return CallTimes(spent[0], tuple(spent[1:]), outcome.work.samples)
