"""The local executor: worker processes on this machine, each cell in one of them.

A process that dies, hangs or takes too much memory costs its own cell and nothing else; what the
cell had recorded until then is judged by the process that takes its place.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from queue import Empty, SimpleQueue
from typing import TypeAlias

from orthobench.contract.problem import AnyProblem
from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Event, Events, Limits
from orthobench.harness.executors.child import Child
from orthobench.harness.executors.worker import Done, Judge, Reply, Request, Run
from orthobench.harness.stopping import Ending, Stop
from orthobench.harness.trace import Outcome, Recording

Told: TypeAlias = "SimpleQueue[tuple[Child, Reply | None]]"
"""Replies with the process that they come from; None says that it is gone."""

Data: TypeAlias = tuple[AnyProblem, int]
"""What cells share an instance by: the problem and the seed."""


def run(
    cells: Sequence[Cell], workers: int = 1, threads: int = 1, limits: Limits | None = None
) -> Events:
    """Yield an event as each cell begins and as it is finished.

    Parameters
    ----------
    cells : sequence of Cell
    workers : int
        Processes.
    threads : int
        Threads of the libraries in each: set before they are loaded.
    limits : Limits, optional
        What one cell may take.

    Raises
    ------
    UsageError
        Where a class of a cell is defined in a script, which other processes cannot import.
    """
    refuse_scripts(cells)
    told: Told = SimpleQueue()
    jobs = _Jobs(cells)
    names = [str(i + 1) for i in range(min(workers, len(cells)))]
    crew = [Worker(name, threads, limits or Limits(), told) for name in names]
    try:
        while True:
            yield from _begun(crew, jobs)
            if not any(worker.request for worker in crew):
                return
            yield from _heard(crew, told)
    finally:
        for worker in crew:
            worker.close()


def refuse_scripts(cells: Iterable[Cell]) -> None:
    """Refuse cells whose classes are defined in a script, which other processes cannot import."""
    for cell in cells:
        for item in (cell.solver, cell.problem):
            if type(item).__module__ == "__main__":
                raise UsageError(
                    f"{item.name} is defined in the script itself, which other processes cannot "
                    "import: put it into a module, or use the inline executor"
                )


def execute(worker: Worker, cell: Cell) -> Outcome:
    """Execute one cell on a worker that is idle."""
    worker.begin(Run(cell))
    while True:
        for event in _heard([worker], worker.told):
            if event.outcome is not None:
                return event.outcome


class _Jobs:
    """The cells left, those on the same data together."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._left: dict[Data, list[Cell]] = {}
        for cell in cells:
            self._left.setdefault((cell.problem, cell.seed), []).append(cell)

    def take(self, held: Data | None) -> Cell | None:
        """Return the next cell for a worker that holds some data, or None where none is left.

        One on the same data, or else of those data that nobody has begun, or most are left of.
        """
        if not self._left:
            return None
        data = held if held in self._left else max(self._left, key=self._waiting)
        cells = self._left[data]
        cell = cells.pop(0)
        if not cells:
            del self._left[data]
        return cell

    def _waiting(self, data: Data) -> int:
        return len(self._left[data])


@dataclass
class Worker:
    """One place in the crew: its process, which may be replaced, and the request that it has.

    Attributes
    ----------
    name : str
        What people call it.
    threads : int
        Threads of the libraries that its process loads.
    limits : Limits
        What one cell may take.
    told : SimpleQueue
        Where processes tell their replies.
    """

    name: str
    threads: int
    limits: Limits
    told: Told
    child: Child | None = None
    request: Request | None = None
    recording: Recording = field(default_factory=Recording)
    deadline: float = inf
    held: Data | None = None

    def begin(self, request: Request) -> None:
        """Send a request to the process; start one where there is none, or it died idle."""
        if self.child is not None and not self.child.alive:
            self.close()
        if self.child is None:
            self.child = Child(self.threads, self.limits.memory, lambda *told: self.told.put(told))
        self.request, self.recording = request, Recording()
        self.held = request.cell.problem, request.cell.seed
        self.deadline = time.monotonic() + (self.limits.timeout or inf)
        self.child.ask(request)

    def hear(self, reply: Reply | None) -> Event | None:
        """Take a reply, or None for a process that is gone; return the event of a finished cell."""
        if reply is None:
            return self.broken_off(self.child.ending()) if self.child else None
        if isinstance(reply, Done):
            spoilt = reply.outcome.stop.status is Ending.MEMORY
            return self._finished(reply.outcome, self.limits.isolate or spoilt)
        self.recording.marks.append(reply.mark)
        self.recording.solutions.append(reply.solution)
        return None

    def overdue(self) -> Event | None:
        """Kill the process of a request past its time; return the event where it is finished."""
        if time.monotonic() < self.deadline:
            return None
        limit = f"{self.limits.timeout:g} s"
        return self.broken_off(Stop(Ending.TIMEOUT, f"killed after its time limit of {limit}"))

    def broken_off(self, stop: Stop) -> Event | None:
        """Have what was recorded judged by a new process, or finish with nothing recorded."""
        request, recording = self.request, self.recording
        if isinstance(request, Run) and recording.marks:
            self.close()
            self.begin(Judge(request.cell, recording, stop))
            return None
        lost = request.stop if isinstance(request, Judge) else stop
        return self._finished(Outcome(lost), fresh=True)

    def close(self) -> None:
        """End the process."""
        if self.child is not None:
            self.child.close()
        self.child, self.held = None, None

    def _finished(self, outcome: Outcome, fresh: bool) -> Event | None:
        request, self.request, self.deadline = self.request, None, inf
        if fresh:
            self.close()
        return None if request is None else Event(request.cell, self.name, outcome)


def _begun(crew: Iterable[Worker], jobs: _Jobs) -> Iterator[Event]:
    """Give every idle worker a cell."""
    for worker in crew:
        if worker.request is None and (cell := jobs.take(worker.held)):
            worker.begin(Run(cell))
            yield Event(cell, worker.name)


def _heard(crew: Sequence[Worker], told: Told) -> Iterator[Event]:
    """Wait for a reply or a deadline, and yield the event of a cell that is finished by it."""
    left = min(worker.deadline for worker in crew) - time.monotonic()
    try:
        child, reply = told.get(timeout=None if left == inf else max(0.0, left))
    except Empty:
        found = [worker.overdue() for worker in crew]
    else:
        # a process that was killed may still have told something
        found = [worker.hear(reply) for worker in crew if worker.child is child]
    yield from (event for event in found if event is not None)
