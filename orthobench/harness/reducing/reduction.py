"""A run of a `SummarySolver` over blocks: each of its steps is a pass over all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from orthobench.contract.placed_solvers import BlockOracle, Summary
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import BlockSource
from orthobench.contract.solver import State, Status
from orthobench.errors import UsageError
from orthobench.harness.execution import Execution, check_solution, timed_call
from orthobench.harness.identity import Streams
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
from orthobench.harness.trace import Checkpoint
from orthobench.tools.places import Place

if TYPE_CHECKING:
    from orthobench.harness.reducing.on_dask import OnDask


class Here:
    """The engine of the place ``blocks``: this process, block after block.

    Parameters
    ----------
    blocks : Blocks
    oracle : BlockOracle
        Of the first pass.
    """

    workers = 1

    def __init__(self, blocks: Blocks, oracle: BlockOracle) -> None:
        self._blocks = blocks
        blocks.warm_up(oracle)

    def reduce(self, oracle: BlockOracle) -> Part:
        """Return the summary of all blocks."""
        return self._blocks.reduced(oracle, 0, self._blocks.count)

    def close(self) -> None:
        """Nothing was started."""


class Reduction(Execution):
    """A `SummarySolver` at work on blocks, and the clock.

    The clock of a pass is its wall time, less what a worker spends on reading on average where the
    source does not have reading timed.

    Parameters
    ----------
    oracle : Oracle
        With a `BlockSource`.
    solver : SummarySolver
    budget : Budget
        Where it allows fewer samples than the passes have, each pass reads the first ones only.
    streams : Streams
    """

    solver: AnySummarySolver

    def __init__(
        self, oracle: Oracle, solver: AnySummarySolver, budget: Budget, streams: Streams
    ) -> None:
        source = _source(oracle)
        self.solver, self.state, self.seconds = solver, State(), 0.0
        self.batch = _rows(source.length, solver, budget)
        self._timed = source.timed
        self._next = BlockOracle(oracle.sizes, oracle.start, self.batch, streams.solver)
        self._last: tuple[BlockOracle, Summary] | None = None
        self._engine = _engine(solver.place, Blocks(solver, source, self.batch), self._next)
        self._spent = dict.fromkeys(WORKER_METRICS, 0.0)
        self._spent[WORKERS] = float(self._engine.workers)

    def advance(self, count: int) -> None:
        """Do `count` passes, or as many as are left."""
        for _ in range(count):
            if self.state.status is not Status.RUNNING or not self._left:
                return
            spent, part = timed_call(self._pass, collect=True)
            self.seconds += spent if self._timed else spent - part.reading / self._engine.workers
            self._count(part)

    def read(self) -> tuple[Checkpoint, Solution]:
        """Return seconds and work so far, what was measured beside them, and the solution."""
        if self._last is None:
            reading, solution = 0.0, Solution(self._next.start.copy())
        else:
            reading, solution = timed_call(partial(self.solver.finish, *self._last))
        check_solution(solution)
        work = replace(self.state.work)
        return Checkpoint(self.seconds, reading, work, extra_metrics=dict(self._spent)), solution

    def close(self) -> None:
        """End what was started for the run."""
        self._engine.close()

    @property
    def _left(self) -> bool:
        return self.state.work.steps < self.solver.passes

    def _pass(self) -> Part:
        """Go through all blocks once, and prepare the pass after it."""
        oracle, work = self._next, self.state.work
        part = self._engine.reduce(oracle)
        if part.summary.rows != oracle.rows:
            raise RuntimeError(
                f"the summary of a pass counts {part.summary.rows} rows, and it had {oracle.rows}"
            )
        self._last = (oracle, part.summary)
        work.steps += 1
        work.samples += oracle.rows
        work.flops += self.solver.flops(oracle, part.summary)
        if self._left:
            self._share(oracle, self.solver.proceed(oracle, part.summary))
        return part

    def _share(self, oracle: BlockOracle, shared: Mapping[str, Any] | None) -> None:
        if shared is None:
            self.state.status = Status.CONVERGED
        else:
            self._next = replace(oracle, number=oracle.number + 1, shared=shared)

    def _count(self, part: Part) -> None:
        worker_seconds = part.seconds + (part.reading if self._timed else 0.0)
        self._spent[WORKER_SECONDS] += worker_seconds
        self._spent[READING] += part.reading
        self._spent[MOVED] += part.moved
        self._spent[MEMORY] = max(self._spent[MEMORY], *part.peaks.values())


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


def _engine(place: Place, blocks: Blocks, oracle: BlockOracle) -> Here | OnDask:
    if place.packages:
        from orthobench.harness.reducing.on_dask import OnDask

        return OnDask(place, blocks, oracle)
    return Here(blocks, oracle)
