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
from orthobench.harness.executors import Event, Events, Limits
from orthobench.harness.executors.cell_queue import CellQueue, Data
from orthobench.harness.executors.guard import Guard, SealedCell, broken_off, sealed
from orthobench.harness.executors.messages import Point
from orthobench.harness.executors.solving import prepare_process, unimportable
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome, Recording
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, Replies

Request: TypeAlias = SealedCell | tuple[SealedCell, Recording, Termination]
"""What a worker process is to do: run a cell, or judge the points of a run whose process was gone,
and which had ended so."""


def run(
    cells: Iterable[Cell], workers: int = 1, threads: int = 1, limits: Limits | None = None
) -> Events:
    """Yield an event as each cell begins and as it is finished.

    Parameters
    ----------
    cells : iterable of Cell
        To `CellQueue` cells more may be added after any event.
    workers : int
        Processes.
    threads : int
        Threads of the libraries in each; set before they are loaded.
    limits : Limits, optional
        The most that one cell may take.
    """
    waiting = CellQueue.of(cells)
    replies: Replies = SimpleQueue()
    crew = [Worker(str(i + 1), threads, limits or Limits(), replies) for i in range(workers)]
    try:
        while True:
            yield from _assign(crew, waiting)
            if not any(worker.request for worker in crew):
                return
            for event in next_events(crew, replies):
                waiting.finish(event.cell)
                yield event
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
    """A worker: its process, which may be replaced, and the request that it works on.

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
    """

    process: Process | None = None
    cell: Cell | None = None
    request: Request | None = None
    deadline: float = inf
    held: Data | None = None

    def __init__(self, name: str, threads: int, limits: Limits, replies: Replies) -> None:
        self.name, self.threads, self.limits, self.replies = name, threads, limits, replies
        self.recording = Recording()

    def begin(self, cell: Cell) -> None:
        """Begin a cell. Its points are asked for where the process may be killed in time."""
        self.cell, self.held = cell, (cell.problem, cell.seed)
        self._ask(sealed(cell))

    def _ask(self, request: Request) -> None:
        """Send a request to the process; start one where there is none, or it died idle."""
        if self.process is not None and not self.process.alive:
            self.close()
        if self.process is None:
            killed = self.limits.timeout is not None
            settings = {"threads": self.threads, "memory": self.limits.memory, "journal": killed}
            module = "orthobench.harness.executors.local"
            self.process = Process(module, settings, self.threads, self.replies)
        self.request, self.recording = request, Recording()
        self.deadline = time.monotonic() + (self.limits.timeout or inf)
        self.process.send(request)

    def take(self, reply: Point | Outcome | None) -> Event | None:
        """Take a reply, None from a process that is gone; return the event of a finished cell."""
        if reply is None:
            return self._crashed()
        if isinstance(reply, Outcome):
            tainted = reply.stop.status is RunStatus.MEMORY
            return self._finish(reply, self.limits.isolate or tainted)
        mark, solution = reply
        self.recording.marks.append(mark)
        self.recording.solutions.append(solution)
        return None

    def check_deadline(self) -> Event | None:
        """Kill the process where its time is up; return the event of a finished cell."""
        if time.monotonic() < self.deadline:
            return None
        limit = f"{self.limits.timeout:g} s"
        return self._break_off(
            Termination(RunStatus.TIMEOUT, f"killed after its time limit of {limit}")
        )

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
        self.process, self.held = None, None

    def _crashed(self) -> Event | None:
        if self.process is None:
            return None
        death = self.process.death()
        return self._break_off(Termination(RunStatus.CRASHED, death.reason, death.stderr))

    def _break_off(self, stop: Termination) -> Event | None:
        """Have the recorded points judged by a new process; without any, finish the cell."""
        request, recording = self.request, self.recording
        if isinstance(request, tuple):
            return self._finish(Outcome(request[2]), fresh=True)
        if request and recording.marks:
            self.close()
            self._ask((request, recording, stop))
            return None
        return self._finish(Outcome(stop), fresh=True)

    def _finish(self, outcome: Outcome, fresh: bool) -> Event | None:
        """Return the event of the finished cell; `fresh` ends the process that it ran in."""
        cell, self.cell, self.request, self.deadline = self.cell, None, None, inf
        if fresh:
            self.close()
        return None if cell is None else Event(cell, self.name, outcome)


def _assign(crew: Sequence[Worker], waiting: CellQueue) -> Iterator[Event]:
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
    left = min(until, *(worker.deadline for worker in crew)) - time.monotonic()
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


def main(channel: Channel, threads: int, memory: int | None, journal: bool) -> None:
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
    journal : bool
        Whether to send each point as it is recorded.
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
        if isinstance(request, tuple):
            channel.send(broken_off(*request))
        else:
            send = (lambda *point: channel.send(point)) if journal else None
            channel.send(guard.execute(request, send))
