"""Runs of checks, and results of suites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract import (
    AnyInstance,
    AnyProblem,
    AnySolver,
    Array,
    Solution,
    Status,
    random_point,
)
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    Run,
    Streams,
    Verdict,
    canonical,
    catalogue,
    describe,
    instance_of,
)

Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence

TRIALS = 400
"""Number of trials that must all succeed: Wilson's interval then begins at 0.99."""


@dataclass(frozen=True)
class DrivenRun:
    """A run that a check drives itself; its `state` is changed in place."""

    instance: AnyInstance
    solver: AnySolver
    state: Any

    def advance(self, steps: int = 1) -> DrivenRun:
        """Take steps until the run ends; return the run."""
        if self.solver.batch:
            self.instance.oracle.prepare(steps * self.solver.batch)
        self.solver.advance(self.instance.oracle, self.state, steps)
        return self

    def converge(self, steps: int = 1_000_000) -> DrivenRun:
        """Take steps until the solver converges.

        Raises
        ------
        RuntimeError
            If it has not converged after this number of steps.
        """
        if self.advance(steps).state.status is not Status.CONVERGED:
            raise RuntimeError(f"{self.solver.name} has not converged after {steps} steps")
        return self

    def states(self, steps: int) -> Iterator[Any]:
        """Yield the state now and after each step, until the run ends."""
        yield self.state
        for _ in range(steps):
            if self.state.status is not Status.RUNNING:
                return
            yield self.advance().state

    @property
    def solution(self) -> Solution:
        """The solution so far."""
        return self.solver.solution(self.state)

    @property
    def point(self) -> Array:
        """The point of the solution so far, shape (n, k)."""
        return self.solution.point

    @property
    def metrics(self) -> Mapping[str, float]:
        """The judge's metrics of the solution so far."""
        return self.instance.measure(self.solution)


def instance(problem: str, seed: int, /, **settings: Any) -> AnyInstance:
    """Return the instance of a problem of the catalogue."""
    return instance_of(catalogue().problem(problem, settings), seed)


def begin(
    solver: str,
    made: AnyInstance,
    seed: Seed,
    start: Array | None = None,
    samples: Seed | None = None,
    /,
    **parameters: Any,
) -> DrivenRun:
    """Begin a run of a solver of the catalogue.

    Parameters
    ----------
    seed : int, sequence of int or SeedSequence
        Seed of the solver's generator, also for samples and start by default.
    start : ndarray, shape (n, k), optional
        Default: a random point.
    samples : int, sequence of int or SeedSequence, optional
        Seed of the samples.
    """
    oracle = made.oracle
    chosen = catalogue().solver(solver, parameters, type(oracle))
    rng = np.random.default_rng(seed)
    oracle.start = random_point(oracle.n, oracle.k, rng) if start is None else start
    oracle.rewind(rng if samples is None else np.random.default_rng(samples))
    return DrivenRun(made, chosen, chosen.init(oracle, rng))


def begin_trial(
    solver: str, made: AnyInstance, seed: int, start: Array | None = None, /, **parameters: Any
) -> DrivenRun:
    """Begin a run with separate random streams."""
    if start is None:
        start = random_point(made.oracle.n, made.oracle.k, np.random.default_rng([seed, 1]))
    return begin(solver, made, [seed, 2], start, **parameters)


def begin_as_in_suite(
    solver: str, problem: AnyProblem, seed: int, /, **parameters: Any
) -> DrivenRun:
    """Begin the run of a suite with this seed."""
    streams = Streams.of(canonical(describe(problem)), solver, seed)
    made = instance_of(problem, seed)
    start = random_point(made.oracle.n, made.oracle.k, np.random.default_rng(streams.start))
    return begin(solver, made, streams.solver, start, streams.samples, **parameters)


def final_ratios(
    evidence: Evidence, suite: str, problem: str, pair: tuple[str, str], value: str
) -> Array:
    """Return final values of the first solver over the second's, by seed."""
    first, second = (evidence.finals(suite, problem, solver, value) for solver in pair)
    return first / second


def timed(found: Measurement, runs: Iterable[Run]) -> Measurement:
    """Return seconds, undecided if a machine was busy."""
    busy = sum(any(load.busy for load in run.load or ()) for run in runs)
    if not busy:
        return found
    text = f"{found.text}; timed on a busy machine: {busy} runs, which decide nothing"
    return replace(found, verdict=Verdict.UNDECIDED, text=text)


def traced(records: Sequence[Run], metric: str) -> Array:
    """Return a metric at all checkpoints except the start, shape (seeds, checkpoints)."""
    return np.array([[mark.metrics[metric] for mark in r.trace[1:]] for r in records])


def samples_taken(records: Sequence[Run]) -> Array:
    """Return the samples at all checkpoints except the start."""
    return np.array([mark.work.samples for mark in records[0].trace[1:]], dtype=np.float64)
