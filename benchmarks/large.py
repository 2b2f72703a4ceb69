"""Stores of thousands of cells, filled without running anything, for what reports cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Oracle, Problem
from orthobench.contract.solver import Solver, State, Work
from orthobench.harness.cell import Cell
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.suite import Suite, SuiteProblem, SuiteSolver
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.results.store import Store

Finished: TypeAlias = tuple[Cell, Outcome]

POINTS = 30
SAMPLES = 20_000
METRICS = (
    "suboptimality", "validation_suboptimality", "subspace_error", "explained_variance_ratio",
    "train_suboptimality", "rank", "objective", "constraint_violation",
)  # fmt: skip
FAILED = 0.02
MISSING = 0.005
VERSION = ("large", "1.0")


@dataclass(frozen=True)
class Valley(Problem[Oracle]):
    """A problem that is never built."""

    name: ClassVar = "valley"
    family: ClassVar = "large"
    offers: ClassVar = Oracle
    primary: ClassVar = "suboptimality"
    tuned_by: ClassVar = "validation_suboptimality"
    number: int = parameter(0, help="which one")

    def build(self, rng):
        raise NotImplementedError


@dataclass(frozen=True)
class Walker(Solver[Oracle, State]):
    """A solver that never runs; a smaller number is better."""

    name: ClassVar = "walker"
    needs: ClassVar = Oracle
    number: int = parameter(0, help="which one")
    step: float = parameter(1.0, help="step size", above=0)

    def init(self, oracle, rng):
        raise NotImplementedError

    def solution(self, state):
        raise NotImplementedError


def suite(problems: int, solvers: int, seeds: int, steps: Sequence[float] = ()) -> Suite:
    """Return a suite with numbers of problems, solvers and seeds; `steps` are tuned over."""
    return Suite(
        "large",
        tuple(
            SuiteProblem(Valley(i), f"valley {i}", Budget(samples=SAMPLES), VERSION)
            for i in range(problems)
        ),
        tuple(
            SuiteSolver(Walker(i, step), f"walker {i}", {"step": step} if steps else {}, VERSION)
            for i in range(solvers)
            for step in steps or [1.0]
        ),
        tuple(range(seeds)),
    )


def fill(path: Path, planned_suite: Suite) -> int:
    """Write a store of a suite, and return how many cells it plans."""
    planned, rng = planned_suite.cells(), np.random.default_rng(0)
    with Store(path, write=True) as store:
        session = store.begin(planned_suite, planned, "fill", {"cpu": "none"})
        store.add(session, _finished(planned, rng))
        store.end(session)
    return len(planned)


def _finished(planned: Iterable[Cell], rng: np.random.Generator) -> Iterator[Finished]:
    for p in planned:
        fate = rng.random()
        outcome = _executed(p.problem.number, p.solver, fate < FAILED, rng)
        if fate < 1 - MISSING:
            yield p, outcome


def _executed(problem: int, solver: Walker, failed: bool, rng: np.random.Generator) -> Outcome:
    at = np.concatenate([[0], np.geomspace(10, SAMPLES, POINTS - 1).astype(int)])
    at = at[: POINTS // 2] if failed else at
    rate = 0.5 + 0.05 * ((3 * solver.number + problem) % 10) - 0.1 * abs(np.log2(solver.step))
    values = np.maximum.outer(at, [1]) ** -rate * np.exp(0.2 * rng.standard_normal((len(at), 8)))
    values[:, -1] = 1e-15
    marks = tuple(
        Checkpoint(
            1e-5 * (1 + solver.number) * int(i), 2e-5, Work(int(i), int(i), 1000 * int(i)),
            dict(zip(METRICS, row, strict=True)),
        )
        for i, row in zip(at, values.tolist(), strict=True)
    )  # fmt: skip
    if failed:
        return Outcome(Termination(RunStatus.DIVERGED, "the solution is not finite"), marks)
    return Outcome(Termination(RunStatus.BUDGET, "the budget is spent"), marks)
