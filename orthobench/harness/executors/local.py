"""The local executor: worker processes on this machine, each cell in one of them.

Each process keeps the solver in another one (`guard`). One that dies, hangs or takes too much
memory costs its own cell and nothing else; points that the cell had recorded are judged.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from queue import Empty, SimpleQueue

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Event, Events, Limits
from orthobench.harness.executors.cell_queue import CellQueue, Data
from orthobench.harness.executors.guard import Job
from orthobench.harness.executors.worker import Done, JudgeRequest, Reply, Request, RunRequest
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Outcome, Recording
from orthobench.tools.processes import Process, Program, Replies


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

    Raises
    ------
    UsageError
        Where a class of a cell is defined in a script, which other processes cannot import.
    """
    waiting = CellQueue.of(cells)
    refuse_scripts(waiting)
    replies: Replies = SimpleQueue()
    crew = [Worker(str(i + 1), threads, limits or Limits(), replies) for i in range(workers)]
    try:
        while True:
            yield from _assign(crew, waiting)
            if not any(worker.request for worker in crew):
                return
            for event in _next_events(crew, replies):
                waiting.finish(event.cell)
                yield event
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
    worker.begin(cell)
    while True:
        for event in _next_events([worker], worker.replies):
            if event.outcome is not None:
                return event.outcome


@dataclass
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

    name: str
    threads: int
    limits: Limits
    replies: Replies
    process: Process | None = None
    cell: Cell | None = None
    request: Request | None = None
    recording: Recording = field(default_factory=Recording)
    deadline: float = inf
    held: Data | None = None

    def begin(self, cell: Cell) -> None:
        """Begin a cell. Its points are asked for where the process may be killed in time."""
        self.cell, self.held = cell, (cell.problem, cell.seed)
        job = Job.of(cell, pickle.dumps(cell.solver))
        self._ask(RunRequest(job, journal=self.limits.timeout is not None))

    def _ask(self, request: Request) -> None:
        """Send a request to the process; start one where there is none, or it died idle."""
        if self.process is not None and not self.process.alive:
            self.close()
        if self.process is None:
            settings = {"threads": self.threads, "memory": self.limits.memory}
            program = Program("orthobench.harness.executors.worker", settings)
            self.process = Process(program, self.threads, self.replies)
        self.request, self.recording = request, Recording()
        self.deadline = time.monotonic() + (self.limits.timeout or inf)
        self.process.send(request)

    def take(self, reply: Reply | None) -> Event | None:
        """Take a reply, None from a process that is gone; return the event of a finished cell."""
        if reply is None:
            return self._crashed()
        if isinstance(reply, Done):
            tainted = reply.outcome.stop.status is RunStatus.MEMORY
            return self._finish(reply.outcome, self.limits.isolate or tainted)
        self.recording.marks.append(reply.mark)
        self.recording.solutions.append(reply.solution)
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

    def abandon(self) -> None:
        """Kill the process; `execute`, which waits in another thread, returns at once."""
        self.recording = Recording()
        if self.process is not None:
            self.process.kill()

    def _crashed(self) -> Event | None:
        if self.process is None:
            return None
        death = self.process.death()
        return self._break_off(Termination(RunStatus.CRASHED, death.reason, death.stderr))

    def _break_off(self, stop: Termination) -> Event | None:
        """Have the recorded points judged by a new process; without any, finish the cell."""
        request, recording = self.request, self.recording
        if isinstance(request, RunRequest) and recording.marks:
            self.close()
            self._ask(JudgeRequest(request.job, recording, stop))
            return None
        lost = request.stop if isinstance(request, JudgeRequest) else stop
        return self._finish(Outcome(lost), fresh=True)

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


def _next_events(crew: Sequence[Worker], replies: Replies) -> Iterator[Event]:
    """Wait for a reply or a deadline, and yield the events of cells that are finished then."""
    left = min(worker.deadline for worker in crew) - time.monotonic()
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
