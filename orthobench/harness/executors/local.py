"""The local executor: worker processes on this machine, each cell in one of them.

Each process keeps the solver in another one (`guard`). One that dies, hangs or takes too much
memory costs its own cell and nothing else; points that the cell had recorded are judged.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from queue import Empty, SimpleQueue
from typing import TypeAlias

from orthobench.harness.cell import Cell
from orthobench.harness.executors import Event, Events, Limit, Limits
from orthobench.harness.executors.cell_queue import CellQueue, Cells, Data
from orthobench.harness.executors.guard import Guard, SealedCell, sealed
from orthobench.harness.executors.solving import prepare_process, unimportable
from orthobench.harness.judging import stop_of
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, Replies

Request: TypeAlias = tuple[SealedCell, Limit]
"""A cell that a worker process is to run, and when to cut it."""

NO_LIMITS = Limits()

LATE = 15.0
"""The seconds after which a cell is said to take long; then at twice the time, and so on."""

PATIENCE = 5.0
"""The least seconds that a problem may take to build its data or to judge, beside a limit."""


def run(
    cells: Cells | Iterable[Cell],
    workers: int = 1,
    threads: int = 1,
    limits: Limits = NO_LIMITS,
) -> Events:
    """Yield an event as each cell begins and as it is finished; arguments as of `Executor`."""
    waiting = CellQueue.of(cells)
    replies: Replies = SimpleQueue()
    crew = [Worker(str(i + 1), threads, limits, replies) for i in range(workers)]
    try:
        while True:
            yield from _assign(crew, waiting)
            if not any(worker.request for worker in crew):
                return
            yield from next_events(crew, replies, waiting.deadline)
            if time.monotonic() >= waiting.deadline:
                return
            for worker in crew:
                worker.slowest = max(other.slowest for other in crew)
    finally:
        for worker in crew:
            worker.close()


def execute(worker: Worker, cell: Cell) -> Outcome:
    """Execute one cell on a worker that is idle."""
    worker.begin(cell)
    while True:
        for event in next_events([worker], worker.replies):
            if event.outcome is not None:
                return event.outcome


class Worker:
    """A worker: its process, which may be replaced, and the cell that it works on.

    Attributes
    ----------
    name : str
        Shown to people.
    threads : int
        Threads of the libraries that the process loads.
    limits : Limits
        The most that one cell may take.
    replies : Replies
        Takes what the process sends.
    slowest : float
        The seconds of the slowest cell that was finished so far.
    """

    process: Process | None = None
    cell: Cell | None = None
    request: tuple[Cell, Limit] | None = None
    deadline: float = inf
    late: float = inf
    held: Data | None = None
    slowest: float = 0.0

    def __init__(self, name: str, threads: int, limits: Limits, replies: Replies) -> None:
        self.name, self.threads, self.limits, self.replies = name, threads, limits, replies

    def begin(self, cell: Cell) -> None:
        """Begin a cell; start a process where there is none, or it died idle."""
        if self.process is not None and not self.process.alive:
            self.close()
        if self.process is None:
            settings = {"threads": self.threads, "memory": self.limits.memory}
            module = "orthobench.harness.executors.local"
            self.process = Process(module, settings, self.threads, self.replies)
        self.cell, self.held = cell, (cell.problem, cell.seed)
        self.began, limit = time.monotonic(), self.limits.limit(cell, self.slowest)
        self.late, self.request = self.began + LATE, (cell, limit)
        if limit.whole:  # the process itself cuts the solver; this is for the judge
            self.deadline = self.began + 2 * limit.seconds + PATIENCE
        try:
            request = sealed(cell), limit
        except Exception as error:
            self.replies.put((self.process, Outcome(stop_of(error, cell.solver.name))))
        else:
            self.process.send(request)

    def take(self, reply: Outcome | None) -> Event | None:
        """Take a reply, None from a process that is gone; return the event of a finished cell."""
        if reply is None and self.process is not None:
            death = self.process.death()
            stop = Termination(RunStatus.CRASHED, death.reason, death.stderr)
            return self._finish(Outcome(stop), fresh=True)
        if reply is None:
            return None
        status = reply.stop.status
        if status is not RunStatus.TIMEOUT:
            self.slowest = max(self.slowest, time.monotonic() - self.began)
        return self._finish(reply, self.limits.isolate or status is RunStatus.MEMORY)

    def check_deadline(self) -> Event | None:
        """End the process if its time is up; return the event of a finished cell, or a late one."""
        now = time.monotonic()
        if self.request is None or now < min(self.deadline, self.late):
            return None
        cell, limit = self.request
        if now >= self.deadline:
            when = "while its data were built or its points judged"
            return self._finish(Outcome(Termination.cut(limit.seconds, when)), fresh=True)
        spent = now - self.began
        self.late = now + spent
        then = "in all" if limit.whole else "of its warm-up or without a checkpoint"
        said = (
            f"{spent:.0f} s so far; it is cut after {limit.seconds:.0f} s {then}, "
            "unless --timeout says otherwise"
        )
        return Event(cell, self.name, late=said)

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
        self.process, self.held = None, None

    def _finish(self, outcome: Outcome, fresh: bool) -> Event | None:
        """Return the event of the finished cell; `fresh` ends the process that it ran in."""
        cell, self.cell, self.request = self.cell, None, None
        self.deadline = self.late = inf
        if fresh:
            self.close()
        return None if cell is None else Event(cell, self.name, outcome)


def _assign(crew: Sequence[Worker], waiting: Cells) -> Iterator[Event]:
    """Give every idle worker a cell."""
    for i, worker in enumerate(crew):
        beside = [other.cell for other in crew if other.cell]
        if worker.request is None and (
            cell := waiting.take(worker.held, last=bool(i % 2), beside=beside)
        ):
            worker.begin(cell)
            yield Event(cell, worker.name)


def next_events(crew: Sequence[Worker], replies: Replies, until: float = inf) -> Iterator[Event]:
    """Wait for a reply or a deadline, and yield the events of cells that are finished then.

    It waits no longer than until a time of the monotonic clock.
    """
    times = (min(worker.deadline, worker.late) for worker in crew)
    left = min(until, *times) - time.monotonic()
    try:
        ready = [replies.get(timeout=None if left == inf else max(0.0, left))]
    except Empty:
        found = [worker.check_deadline() for worker in crew]
    else:
        ready += [replies.get() for _ in range(replies.qsize())]
        # a reply may still come from a process that was replaced
        found = [w.take(reply) for process, reply in ready for w in crew if w.process is process]
    events = [event for event in found if event is not None]
    yield from (replace(event, more=event is not events[-1]) for event in events)


def main(channel: Channel, threads: int, memory: int | None) -> None:
    """Be a worker process: serve requests until the parent closes the channel.

    It trusts its parent, and nobody else can write into the pipe.

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
    guard = Guard(threads, memory)
    while True:
        try:
            request: Request | None = channel.receive()
        except Exception as error:
            channel.send(Outcome(unimportable(error)))
            continue
        if request is None:
            return guard.close()
        channel.send(guard.execute(*request))
