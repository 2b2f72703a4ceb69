"""A run of a `SummarySolver` over blocks: each of its steps is a pass over all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orthobench.contract.placed_solvers import BlockOracle, Summary
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import BlockSource
from orthobench.contract.solver import State, Status
from orthobench.errors import UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.placement import Calls
from orthobench.harness.reducing.parts import (
    MEMORY,
    MOVED,
    READING,
    WORKER_METRICS,
    WORKER_SECONDS,
    WORKERS,
    AnySummarySolver,
    Blocks,
    Part,
)
from orthobench.harness.stopping import Budget
from orthobench.tools.places import Place

if TYPE_CHECKING:
    from orthobench.harness.reducing.on_dask import OnDask


class Reduction(Calls):
    """The calls of a `SummarySolver` on blocks: a step is a pass over all of them.

    The clock of a pass is its wall time, less what a worker spends on reading on average where the
    source does not have reading timed.

    Parameters
    ----------
    solver : SummarySolver
    oracle : Oracle
        With a `BlockSource`.
    budget : Budget
        Where it allows fewer samples than the passes have, each pass reads the first ones only.
    streams : Streams
    """

    streams, collects = False, True

    def __init__(
        self, solver: AnySummarySolver, oracle: Oracle, budget: Budget, streams: Streams
    ) -> None:
        source = _source(oracle)
        self.batch = _rows(source.length, solver, budget)
        self._solver, self._timed = solver, source.timed
        self._next = BlockOracle(oracle.sizes, oracle.start, self.batch, streams.solver)
        self._last: tuple[BlockOracle, Summary] | None = None
        self._engine = _engine(solver.place, Blocks(solver, source, self.batch), self._next)
        self._spent = dict.fromkeys(WORKER_METRICS, 0.0)
        self._spent[WORKERS] = float(self._engine.workers)

    def init(self, oracle: Oracle, rng: np.random.Generator) -> State:
        """Return the state before the first pass."""
        del oracle, rng
        return State()

    def left(self, state: State) -> float:
        """Return the number of passes that are left."""
        return self._solver.passes - state.work.steps

    def advance(self, oracle: Oracle, state: State, count: int) -> None:
        """Do `count` passes, fewer where the solver converges."""
        del oracle
        self.besides = 0.0
        for _ in range(count):
            part = self._pass(state)
            if not self._timed:
                self.besides += part.reading / self._engine.workers
            if state.status is not Status.RUNNING:
                return

    def solution(self, state: State) -> Solution:
        """Return the solution after the last pass."""
        del state
        if self._last is None:
            return Solution(self._next.start.copy())
        solution: Solution = self._solver.finish(*self._last)
        return solution

    def extra_metrics(self, oracle: Oracle) -> dict[str, float]:
        """Return what the workers spent."""
        del oracle
        return dict(self._spent)

    def close(self) -> None:
        """End what was started for the run."""
        self._engine.close()

    def _pass(self, state: State) -> Part:
        """Go through all blocks once, and prepare the pass after it."""
        oracle, work = self._next, state.work
        part = self._engine.reduce(oracle)
        if part.summary.rows != oracle.rows:
            raise RuntimeError(
                f"the summary of a pass counts {part.summary.rows} rows, and it had {oracle.rows}"
            )
        self._last = (oracle, part.summary)
        work.steps += 1
        work.samples += oracle.rows
        work.flops += self._solver.flops(oracle, part.summary)
        if self.left(state):
            shared = self._solver.proceed(oracle, part.summary)
            if shared is None:
                state.status = Status.CONVERGED
            else:
                self._next = replace(oracle, number=oracle.number + 1, shared=shared)
        spent = self._spent
        spent[WORKER_SECONDS] += part.seconds + (part.reading if self._timed else 0.0)
        spent[READING] += part.reading
        spent[MOVED] += part.moved
        spent[MEMORY] = max(spent[MEMORY], *part.peaks.values())
        return part


def _source(oracle: Oracle) -> BlockSource:
    source = getattr(oracle, "source", None)
    if isinstance(source, BlockSource):
        return source
    raise UsageError(
        "its samples are no blocks that could be read in any order: take an array or files, "
        "or the place numpy"
    )


def _rows(length: int, solver: AnySummarySolver, budget: Budget) -> int:
    """Return the samples of a pass."""
    passes = solver.passes if math.isfinite(solver.passes) else 1
    rows = min(length, budget.samples // passes)
    if rows < 1:
        raise UsageError(
            f"{solver.name} goes {passes} times through the samples: give it a budget of at least "
            "as many"
        )
    return int(rows)


def _engine(place: Place, blocks: Blocks, oracle: BlockOracle) -> Blocks | OnDask:
    if place.packages:
        from orthobench.harness.reducing.on_dask import OnDask

        return OnDask(place, blocks, oracle)
    blocks.warm_up(oracle)
    return blocks
