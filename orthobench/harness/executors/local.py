"""The local executor: worker processes on this machine.

Each of them keeps the solver in another process (`guard`). A process that dies, hangs or takes too
much memory costs its own cell only; checkpoints that the cell had recorded are judged.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from queue import Empty, SimpleQueue
from typing import TypeAlias

from orthobench.harness.cell import Cell
from orthobench.harness.executors import CellQueue, Cells, Data, Event, Events, Limit, Limits
from orthobench.harness.executors.guard import Guard, SealedCell, sealed
from orthobench.harness.executors.solving import prepare_process, unimportable
from orthobench.harness.judging import stop_of
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, Replies

Request: TypeAlias = tuple[SealedCell, Limit]
"""A cell for a worker process, and its limit."""

NO_LIMITS = Limits()

LATE = 15.0
"""Time after which a cell takes long, in seconds; again at twice the time, and so on."""

JUDGE_PATIENCE = 5.0
"""Minimum time to build data and to judge besides a limit, in seconds."""


def run(
    cells: Cells | Iterable[Cell], workers: int = 1, threads: int = 1, limits: Limits = NO_LIMITS
) -> Events:
    """Yield an event as each cell begins and as it ends; parameters as of `Executor`."""
    waiting = CellQueue.of(cells)
    replies: Replies = SimpleQueue()
    crew = [Worker(str(i + 1), threads, limits, replies) for i in range(workers)]
    try:
        while True:
            for i, worker in enumerate(crew):
                if worker.cell is None and (cell := waiting.take(worker.held, bool(i % 2))):
                    worker.begin(cell)
                    yield Event(cell, worker.name)
            if not any(worker.cell for worker in crew):
                return
            yield from next_events(crew, replies, waiting.deadline)
            if time.monotonic() >= waiting.deadline:
                return
            for worker in crew:
                worker.slowest = max(other.slowest for other in crew)
    finally:
        for worker in crew:
            worker.close()


class Worker:
    """A worker: its process, which may be replaced, and its cell.

    `slowest` is the time of the slowest finished cell, in seconds.
    """

    process: Process | None = None
    cell: Cell | None = None
    limit: Limit = Limit(inf)
    deadline: float = inf
    late: float = inf
    held: Data | None = None
    slowest: float = 0.0

    def __init__(self, name: str, threads: int, limits: Limits, replies: Replies) -> None:
        self.name, self.threads, self.limits, self.replies = name, threads, limits, replies

    def begin(self, cell: Cell) -> None:
        """Begin a cell; start a process if there is none, or it died."""
        if self.process is None or not self.process.alive:
            self.close()
            settings = {"threads": self.threads, "memory": self.limits.memory}
            module = "orthobench.harness.executors.local"
            self.process = Process(module, settings, self.threads, self.replies)
        self.cell, self.held = cell, (cell.problem, cell.seed)
        self.began, self.limit = time.monotonic(), self.limits.limit(cell, self.slowest)
        self.late = self.began + LATE
        if self.limit.whole:  # the process itself cuts the solver; this is for the judge
            self.deadline = self.began + 2 * self.limit.seconds + JUDGE_PATIENCE
        try:
            request = sealed(cell), self.limit
        except Exception as error:
            self.replies.put((self.process, Outcome(stop_of(error, cell.solver.name))))
        else:
            self.process.send(request)

    def take(self, process: Process, reply: Outcome | None) -> Event | None:
        """Take a reply, None if the process is gone; return the event of a finished cell."""
        if reply is None:
            death = process.death()
            stop = Termination(RunStatus.CRASHED, death.reason, death.stderr)
            return self._finish(Outcome(stop), fresh=True)
        status = reply.stop.status
        if status is not RunStatus.TIMEOUT:
            self.slowest = max(self.slowest, time.monotonic() - self.began)
        return self._finish(reply, self.limits.isolate or status is RunStatus.MEMORY)

    def check_deadline(self) -> Event | None:
        """End the process if its time is over; return the event of a finished or late cell."""
        now = time.monotonic()
        if now >= self.deadline:
            when = "while its data were built or its points judged"
            return self._finish(Outcome(Termination.cut(self.limit.seconds, when)), fresh=True)
        if self.cell is None or now < self.late:
            return None
        spent, limit = now - self.began, self.limit
        self.late = now + spent
        part = "in all" if limit.whole else "of its warm-up or without a checkpoint"
        reason = f"{spent:.0f} s so far; it is cut after {limit.seconds:.0f} s {part}"
        return Event(self.cell, self.name, late=f"{reason}, unless --timeout says otherwise")

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
        self.process, self.held = None, None

    def _finish(self, outcome: Outcome, fresh: bool) -> Event | None:
        cell, self.cell = self.cell, None
        self.deadline = self.late = inf
        if fresh:
            self.close()
        return None if cell is None else Event(cell, self.name, outcome)


def next_events(crew: Sequence[Worker], replies: Replies, until: float = inf) -> Iterator[Event]:
    """Wait for replies, a deadline, or the time `until`; yield events of finished or late cells."""
    left = min(until, *(min(w.deadline, w.late) for w in crew)) - time.monotonic()
    try:
        ready = [replies.get(timeout=None if left == inf else max(0.0, left))]
    except Empty:
        found = [worker.check_deadline() for worker in crew]
    else:
        ready += [replies.get() for _ in range(replies.qsize())]
        # a reply may still come from a process that was replaced
        found = [w.take(p, reply) for p, reply in ready for w in crew if w.process is p]
    yield from (event for event in found if event is not None)


def main(channel: Channel, threads: int, memory: int | None) -> None:
    """Serve requests as a worker process, of at most `memory` bytes, until the channel closes."""
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
