"""The guard of a run: the solver is in a process of its own, problem and judge are in this one.

The process of a solver is sent the oracle, and samples as it needs them: never more than its budget
allows, and none that is held out. It sends back the points that it records, and its clock is
checked against what the operating system counts. A solver that goes through blocks is sent their
source, since its workers read them, and its clock is not checked. What remains possible is said in
``docs/guide/tuning-and-fairness.md``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from orthobench.contract.problem import AnyInstance, AnyProblem
from orthobench.contract.samples import SampleSource
from orthobench.harness.cell import Cell, built
from orthobench.harness.executors.messages import (
    Answer,
    Ended,
    FromSolver,
    Point,
    SampleRequest,
    Start,
    Started,
    StopRequest,
    read,
)
from orthobench.harness.executors.sample_server import SampleServer
from orthobench.harness.executors.transfer import PackedOracle, packed
from orthobench.harness.identity import Streams
from orthobench.harness.judging import judged, stop_at, stop_of
from orthobench.harness.placement import WARM_UP
from orthobench.harness.preparation import WARM_UP_STEPS
from orthobench.harness.stopping import Budget, RunStatus, Target, Termination
from orthobench.harness.trace import Checkpoint, Journal, Outcome, Recording
from orthobench.tools.machine import Load, Usage, load, queued, usage
from orthobench.tools.processes import Process, ProcessError, Program
from orthobench.tools.threads import limited

FIRST_ROWS = 256
"""Samples that are handed out at first; then as many as so far, within the oracle's window."""

SHARE = 0.2
"""Seconds off the clock that raise no suspicion, for each second on it."""

CPU_SECONDS = 0.25
"""CPU seconds off the clock that raise no suspicion: samples are copied, points are sent."""

BYTE_SECONDS = 1e-8
"""CPU seconds off the clock that raise no suspicion, for each byte of samples and points."""

IDLE_SECONDS = 2.0
"""Seconds of wall time off the clock, waiting for a core left out, that raise no suspicion."""


@dataclass(frozen=True)
class Job:
    """A cell without its solver, which only the process of the solver loads.

    Attributes
    ----------
    problem, seed, data, budget, until, threads, streams, measure
        As of `Cell`.
    solver : bytes
        The pickle of the solver.
    batch, reruns
        As of the solver.
    reduces : bool
        Whether it goes through blocks, which its workers read by themselves.
    refusal : str, optional
        Why the solver cannot take the problem.
    """

    problem: AnyProblem
    seed: int
    data: str
    budget: Budget
    until: Target | None
    threads: int
    streams: Streams
    solver: bytes
    batch: int
    reruns: bool
    reduces: bool
    refusal: str | None
    measure: str = ""

    @classmethod
    def of(cls, cell: Cell, solver: bytes) -> Job:
        """Return the job of a cell, whose solver is pickled already."""
        return cls(
            cell.problem, cell.seed, cell.data, cell.budget, cell.until, cell.threads, cell.streams,
            solver, int(cell.solver.batch), cell.solver.reruns, cell.solver.place.reduces,
            cell.solver.refuses(cell.problem), cell.measure,
        )  # fmt: skip


@dataclass
class Guard:
    """The process of a solver, seen from the one that judges; started for the first job.

    Attributes
    ----------
    threads : int
        Threads of the libraries in the process.
    memory : int, optional
        The most bytes of memory that the process may take.
    """

    threads: int
    memory: int | None = None
    process: Process | None = None
    held: tuple[AnyInstance, bool] | None = None
    sources: list[SampleSource] = field(default_factory=list)

    def execute(self, job: Job, journal: Journal | None = None) -> Outcome:
        """Run a job and judge it; errors are recorded in the outcome.

        Parameters
        ----------
        job : Job
        journal : callable, optional
            Called with each point as it is recorded.
        """
        if job.refusal is not None:
            return Outcome(Termination(RunStatus.REFUSED, job.refusal))
        process = self._running()
        with limited(job.threads):
            try:
                instance = built(job)
                packed_oracle = self._packed_oracle(instance, job)
            except Exception as error:
                return Outcome(stop_of(error, f"problem {job.problem.name}"))
            run = _Run(job, instance, process, self.sources, journal)
            stop = run.follow(packed_oracle)
            outcome = replace(judged(instance, run.recording, stop, job.until), load=run.load)
        why = None if outcome.stop.status.failed or job.reduces else run.suspicion()
        return (
            replace(outcome, stop=Termination(RunStatus.SUSPECT, why)) if why else outcome
        ).stored

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
        self.process = self.held = None

    def _running(self) -> Process:
        if self.process is None or not self.process.alive:
            self.close()
            program = Program("orthobench.harness.executors.solving", {"memory": self.memory})
            self.process = Process(program, self.threads, loads=read)
        return self.process

    def _packed_oracle(self, instance: AnyInstance, job: Job) -> PackedOracle | None:
        """Return the oracle of an instance, or None where the process has it already."""
        if self.held is not None and (self.held[0] is instance and self.held[1] is job.reduces):
            return None
        packed_oracle, self.sources = packed(instance.oracle, job.problem.name, job.reduces)
        self.held = (instance, job.reduces)
        return packed_oracle


def broken_off(job: Job, recording: Recording, stop: Termination) -> Outcome:
    """Judge the points that a run had recorded before its process was killed.

    Parameters
    ----------
    job : Job
    recording : Recording
        What the journal of the run was called with.
    stop : Termination
        How the run ended. It is all that is left where the instance cannot be built again.
    """
    with limited(job.threads):
        try:
            outcome = judged(built(job), recording, stop, job.until)
        except Exception:
            return Outcome(stop)
    return Outcome(stop, outcome.trace)


class _Run:
    """A run, followed from the process that judges it."""

    def __init__(
        self,
        job: Job,
        instance: AnyInstance,
        process: Process,
        sources: list[SampleSource],
        journal: Journal | None,
    ) -> None:
        self.job, self.instance, self.process = job, instance, process
        self.recording = Recording()
        self._journal = journal
        self._server = partial(SampleServer, sources, job.streams)
        self._used: list[Usage | None] = []
        self._own: list[float] = []
        self._serving = 0.0
        self._loads: list[Load] = []

    def follow(self, packed_oracle: PackedOracle | None) -> Termination:
        """Send the job; answer what the process asks until its run is over; return how it ended."""
        job = self.job
        most = min(WARM_UP_STEPS * job.batch, job.budget.samples)
        self._samples = self._server(most, most)
        target = job.until is not None
        try:
            start = Start(
                packed_oracle, job.solver, job.budget, job.streams, job.threads, target, job.measure
            )
            self.process.send(start)
            while not isinstance(message := self.process.receive(), Ended):
                self._take(message)
        except ProcessError as death:
            return Termination(RunStatus.CRASHED, death.reason, death.stderr)
        self._look()
        self._loads.append(load(self.process.pid))
        return message.stop

    @property
    def load(self) -> tuple[Load, Load] | None:
        """How busy the machine was before and after the timed part, where that ended."""
        return (self._loads[0], self._loads[1]) if len(self._loads) == 2 else None

    def suspicion(self) -> str | None:
        """Return why the clock of the run is not to be trusted, or None.

        Called once the run is judged: what its process does meanwhile counts too.
        """
        self._look()
        if len(self._used) < 3 or None in self._used:
            return None
        begin, end, now = (used for used in self._used if used)
        own = self._own[1] - self._own[0]
        spent = replace(end - begin, cpu=now.cpu - begin.cpu, stolen=now.stolen - begin.stolen)
        waited = spent.queued + own + self._serving
        volume = self._samples.bytes + sum(s.point.nbytes for s in self.recording.solutions)
        clock = claimed_seconds(self.recording.marks, self.job.reruns)
        return suspicion(replace(spent, queued=waited), clock, self.job.threads, volume)

    def _look(self) -> None:
        """Ask the operating system what that process has used, and how long this one waited."""
        self._used.append(usage(self.process.pid))
        if self._used[-1] is not None:
            self._own.append(queued(os.getpid()))

    def _take(self, message: FromSolver) -> None:
        match message:
            case Started() if not self._used:
                self._samples = self._server(self.job.budget.samples, FIRST_ROWS)
                self._serving = 0.0
                self._look()
                self._loads.append(load(self.process.pid))
            case Point(mark, solution):
                self.recording.marks.append(mark)
                self.recording.solutions.append(solution)
                if self._journal is not None:
                    self._journal(mark, solution)
            case SampleRequest() | StopRequest():
                begin = time.monotonic()
                self.process.send(
                    self._samples.rows(message.source, message.first)
                    if isinstance(message, SampleRequest)
                    else Answer(self._stop())
                )
                self._serving += time.monotonic() - begin

    def _stop(self) -> Termination | None:
        """Return why the run stops at its last point, or None."""
        until, marks = self.job.until, self.recording.marks
        if until is None or not marks:
            return None
        try:
            return stop_at(self.instance, until, marks[-1], self.recording.solutions[-1])
        except Exception as error:
            return stop_of(error, "the judge")


def claimed_seconds(marks: Sequence[Checkpoint], reruns: bool) -> float:
    """Return the seconds that a run says it took: of calls on the clock, and of warming up.

    Parameters
    ----------
    marks : sequence of Checkpoint
        Its checkpoints. What was warmed up before the first is no part of the run.
    reruns : bool
        As of the solver.
    """
    runs = marks if reruns else marks[-1:]
    timed = sum(mark.seconds for mark in runs) + sum(mark.readout_seconds for mark in marks)
    warm = [mark.extra_metrics.get(WARM_UP, 0.0) for mark in marks]
    return timed + (warm[-1] - warm[0] if warm else 0.0)


def suspicion(spent: Usage, clock: float, threads: int, volume: int) -> str | None:
    """Return why a clock is not to be trusted, or None.

    Parameters
    ----------
    spent : Usage
        What the process of the solver used during the run, as the operating system counts it. Its
        `queued` is all the time in which it waited for others. What a host took from this machine
        raises no suspicion: part of it is counted as CPU time of the process that it stopped.
    clock : float
        From `claimed_seconds`.
    threads : int
        Threads that the solver may use.
    volume : int
        Bytes of samples and points that the process got and sent.
    """
    said = f"where its clock says {clock:.3g} s"
    if spent.children:
        return f"processes that the solver started were running at the end, {said}"
    cpu, wall = spent.cpu - spent.stolen, spent.wall - spent.queued - spent.stolen
    if cpu > (threads + SHARE) * clock + CPU_SECONDS + BYTE_SECONDS * volume:
        return f"the run took {cpu:.3g} s of CPU time {said}"
    if wall > (1 + SHARE) * clock + IDLE_SECONDS:
        return f"the run took {wall:.3g} s {said}"
    return None
