"""The guard of a run: the solver is in a process of its own, problem and judge are in this one.

The solver's process gets the oracle, and samples as it needs them, within its budget. It returns
checkpoints, and its clock is compared with what the operating system counts. A solver of blocks
gets their source, and its clock is not checked. See ``docs/guide/tuning-and-fairness.md``.
"""

from __future__ import annotations

import math
import os
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, Solution
from orthobench.contract.samples import SampleSource
from orthobench.harness.cell import Cell, built
from orthobench.harness.execution import PEAK, WARM_UP_STEPS, check_solution
from orthobench.harness.executors import Limit, messages
from orthobench.harness.executors.clocks import Meter, claimed_seconds
from orthobench.harness.executors.messages import PackedOracle, SampleServer, Start, packed, read
from orthobench.harness.judging import judged, stop_at, stop_of
from orthobench.harness.objects import pickled
from orthobench.harness.placement import TRANSFER, WARM_UP, WORKER_METRICS
from orthobench.harness.stopping import FAULTS, RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome, Recording, checked, spent_seconds
from orthobench.tools.environment import limited
from orthobench.tools.machine import children, descendants, load
from orthobench.tools.places import Place
from orthobench.tools.processes import Alarm, Process, ProcessError, kill_all

FIRST_ROWS = 256
"""Number of samples that are sent first."""

NO_LIMIT = Limit(math.inf)

ENDINGS = (
    RunStatus.DONE, RunStatus.TARGET, RunStatus.BUDGET, RunStatus.DIVERGED, RunStatus.ERROR,
    RunStatus.MEMORY, RunStatus.REFUSED,
)  # fmt: skip
"""Statuses that the process of a solver may send; the judge finds the others."""


@dataclass(frozen=True)
class SealedSolver:
    """A solver for the process that judges, which does not load its code.

    `refusal` says why the solver cannot take the problem, or is None; `pickled` is its pickle.
    """

    name: str
    batch: int
    reruns: bool
    place: Place
    refusal: str | None
    pickled: bytes


class SealedCell(Cell):
    """A cell for the process that judges, which loads no code of solvers."""

    solver: SealedSolver  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "problem": pickled(self.problem)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, problem=pickle.loads(state["problem"]))  # noqa: S301 - the parent's


def sealed(cell: Cell) -> SealedCell:
    """Return a cell as it is sent to the process that judges it."""
    solver = cell.solver
    return SealedCell(
        cell.problem,
        SealedSolver(  # type: ignore[arg-type]
            solver.name, int(solver.batch), solver.reruns, solver.place,
            solver.refuses(cell.problem), pickled(solver),
        ),
        cell.seed, cell.budget, cell.until, cell.threads, data=cell.data, measure=cell.measure,
    )  # fmt: skip


class Guard:
    """Runs cells: starts, watches and ends the process of the solver."""

    process: Process | None = None
    held: tuple[AnyInstance, bool] | None = None

    def __init__(self, threads: int, memory: int | None = None) -> None:
        self.threads, self.memory = threads, memory
        self.sources: list[SampleSource] = []

    def execute(self, cell: SealedCell, limit: Limit = NO_LIMIT) -> Outcome:
        """Run a cell, at most as long as the limit, and judge it; never raises."""
        begin = time.monotonic()
        if cell.solver.refusal is not None:
            return Outcome(Termination(RunStatus.REFUSED, cell.solver.refusal))
        process = self._running()
        with limited(cell.threads):
            try:
                instance = built(cell)
                packed_oracle = self._packed_oracle(instance, cell)
            except Exception as error:
                return Outcome(stop_of(error, f"problem {cell.problem.name}"))
            run = _Run(cell, instance, process, self.sources)
            run.recording.stop = run.follow(packed_oracle, limit, time.monotonic() - begin)
            outcome = judged(instance, run.recording, cell.until)
        stop = outcome.stop
        if stop.status.ok and not cell.solver.place.reduces:
            stop = run.checked_end(stop)
        if run.faults:
            stop = replace(stop, reason="; ".join([stop.reason, *run.faults]))
        if run.leaves_traces() or stop.status is RunStatus.SUSPECT:
            self.close()
        return replace(outcome.stored, stop=stop)

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
        self.process = self.held = None

    def _running(self) -> Process:
        if self.process is None or not self.process.alive:
            self.close()
            module, settings = "orthobench.harness.executors.solving", {"memory": self.memory}
            self.process = Process(module, settings, self.threads, loads=read)
        return self.process

    def _packed_oracle(self, instance: AnyInstance, cell: SealedCell) -> PackedOracle | None:
        """Return the oracle of an instance, or None if the process has it already."""
        whole = cell.solver.place.reduces
        if self.held is not None and self.held[0] is instance and self.held[1] is whole:
            return None
        packed_oracle, self.sources = packed(instance.oracle, cell.problem.name, whole)
        self.held = (instance, whole)
        return packed_oracle


class _Run:
    def __init__(
        self, cell: SealedCell, instance: AnyInstance, process: Process, sources: list[SampleSource]
    ) -> None:
        self.cell, self.instance, self.process = cell, instance, process
        self.recording = Recording()
        self._streams = cell.streams
        self._server = partial(SampleServer, sources, self._streams)
        self._measured = measured_names(cell.solver.place, cell.measure)
        self._known = {*children(os.getpid())}
        self._meter = Meter(process.pid)
        self._serving = 0.0
        self._clock_ends, self._killed_by = math.inf, ""
        self._begun = self._ended = self._changed = False
        self.faults: list[str] = []
        budget = cell.budget
        self._counts_down = math.isinf(budget.seconds) and budget.binds(cell.solver.batch)

    def follow(self, packed_oracle: PackedOracle | None, limit: Limit, spent: float) -> Termination:
        """Send the cell, on which `spent` seconds were spent; return how its run ended."""
        cell = self.cell
        most = min(WARM_UP_STEPS * cell.solver.batch, cell.budget.samples)
        self._samples = self._server(most, most)
        start = Start(
            packed_oracle, cell.solver.pickled, cell.budget, self._streams, cell.threads,
            cell.until is not None, cell.measure,
        )  # fmt: skip
        self._limit, self._deadline = limit, time.monotonic() + limit.seconds - spent * limit.whole
        with Alarm(self._kill, self._deadline - time.monotonic()) as alarm:
            try:
                self.process.send(start)
                while not isinstance(stop := self._take(self.process.receive()), Termination):
                    if stop and not limit.whole:
                        # each checkpoint is about 1.3 times as far as the one before
                        now = time.monotonic()
                        self._deadline = now + max(limit.seconds, 10 * (now - self._since))
                    alarm.set(min(self._deadline, self._clock_ends) - time.monotonic())
            except ProcessError as death:
                if self._killed_by:
                    return self._cut()
                return Termination(RunStatus.CRASHED, death.reason, death.stderr)
            except Exception as error:
                self._changed = True
                self.process.kill()
                return stop_of(error, f"{cell.solver.name}: its process sent what it must not")
        self._ended = True
        self._meter.look()
        if self._begun:
            self.recording.load = self._load, load()
        late = stop.status is RunStatus.REFUSED and len(self.recording.trace) > 1
        allowed = stop.status in ENDINGS and not late
        return stop if allowed else replace(stop, status=RunStatus.ERROR)

    def _kill(self) -> None:
        """End the process; what it has sent before may be read later."""
        self._killed_by = "budget" if self._clock_ends <= self._deadline else "limit"
        self.process.kill()

    def _cut(self) -> Termination:
        """Return the end of a run whose process an alarm has killed."""
        if self._killed_by == "budget":
            return Termination.in_call(self._limit.clock, bool(self.recording.trace))
        return Termination.cut(self._limit.seconds, "" if self._begun else "in its warm-up")

    def checked_end(self, stop: Termination) -> Termination:
        """Return the end of a run after judging: suspect if its clock is wrong."""
        self._meter.look()
        if not self._meter.used or not self._ended:
            return stop
        if not self._begun:
            why = "its process did not say when its warm-up was over: its clock was not checked"
            return Termination(RunStatus.SUSPECT, why)
        place, trace = self.cell.solver.place, self.recording.trace
        sent = (part for s in self.recording.solutions for part in vars(s).values())
        volume = self._samples.bytes + sum(p.nbytes for p in sent if isinstance(p, np.ndarray))
        clock = claimed_seconds(trace, self.cell.solver.reruns, place.compiles)
        return self._meter.checked(
            stop, clock, self.cell.threads, volume, self._serving, self._orphans(), place.moves
        )

    def leaves_traces(self) -> bool:
        """Return whether the run changed its process or left others, which are ended."""
        orphans, silent = self._orphans(), self._ended and not self._begun
        return bool(self._changed or silent or orphans or self._meter.goes_on)

    def _orphans(self) -> int:
        """End processes whose parent ended; return their number."""
        found = {*children(os.getpid())} - {*self._known, self.process.pid}
        for process in found:
            kill_all([*descendants(process), process])
        self._changed |= bool(found)
        return len(found)

    def _take(self, message: object) -> Termination | bool:
        """Take a message; return the end of the run, or whether the run is nearer to its end."""
        match message:
            case messages.BEGUN if not (self._begun or self.recording.trace):
                self._samples = self._server(self.cell.budget.samples, FIRST_ROWS)
                self._serving = 0.0
                self._begun, self._since, self._load = True, time.monotonic(), load()
                self._meter.look()
                self._clock_ends = time.monotonic() + self._clock_left()
                return True
            case messages.CHANGED:
                self._changed = True
            case (messages.NOTICED, [*names]):
                self.faults = [text for name, text in FAULTS.items() if name in names]
            case (str(status), str(reason), str(lines)):
                return Termination(RunStatus(status), reason, lines)
            case (Checkpoint() as checkpoint, Solution() as solution):
                check_solution(solution)
                extra = {n: x for n, x in checkpoint.extra_metrics.items() if n in self._measured}
                self._changed |= len(extra) < len(checkpoint.extra_metrics)
                checkpoint = checked(replace(checkpoint, metrics={}, extra_metrics=extra))
                trace = self.recording.trace
                further = not trace or checkpoint.work.steps > trace[-1].work.steps
                trace.append(checkpoint)
                self.recording.solutions.append(solution)
                self._clock_ends = time.monotonic() + self._clock_left()
                return further and self._begun and self._counts_down
            case messages.OVER:
                self._answer(lambda: (self._stop(), None))
            case (int(source), bool(first)):
                self._answer(partial(self._samples.rows, source, first))
        return False

    def _clock_left(self) -> float:
        """Return the seconds left on the clock; infinite if it stands still, or the run is over."""
        place = self.cell.solver.place
        spent = spent_seconds(self.recording.trace, self.cell.solver.reruns)
        over = spent >= self.cell.budget.seconds
        stands_still = place.compiles or place.reduces
        return math.inf if over or stands_still or not self._begun else self._limit.clock - spent

    def _answer(self, reply: Callable[[], messages.Reply]) -> None:
        begin = time.monotonic()
        self.process.send(reply())
        spent = time.monotonic() - begin
        self._serving += spent
        self._clock_ends += spent

    def _stop(self) -> Termination | None:
        until = self.cell.until
        if until is None or not self.recording.trace:
            return None
        try:
            return stop_at(self.instance, until, self.recording)
        except Exception as error:
            return stop_of(error, "the judge")


def measured_names(place: Place, measure: str) -> tuple[str, ...]:
    """Return the metrics that the process of a solver may send."""
    elsewhere = WORKER_METRICS if place.reduces else (TRANSFER, WARM_UP) if place.moves else ()
    return (*elsewhere, PEAK) if measure else elsewhere
