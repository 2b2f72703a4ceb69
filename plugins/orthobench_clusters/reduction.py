"""Passes of a `SummarySolver` over blocks: reading, summaries, merges, and their cost.

A step of the run is a pass over all blocks.
"""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.placed_solvers import BlockOracle, Summary, SummarySolver
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.samples import BlockSource
from orthobench.contract.solver import State, Status
from orthobench.errors import DataError, OrthobenchError, UsageError
from orthobench.harness.execution import timed_call
from orthobench.harness.identity import Streams
from orthobench.harness.placement import (
    MEMORY,
    MOVED,
    READING,
    WORKER_METRICS,
    WORKER_SECONDS,
    WORKERS,
    Calls,
)
from orthobench.harness.stopping import Budget
from orthobench.tools.arrays import check_rows
from orthobench.tools.collections import reduced
from orthobench.tools.environment import limited
from orthobench.tools.machine import process_peak, reset_process_peak
from orthobench.tools.places import Place

T = TypeVar("T")

AnySummarySolver: TypeAlias = SummarySolver[Any, Any, Any]

WARM_UP_ROWS = 256
"""Maximum number of rows that a worker summarizes in its warm-up."""


@dataclass(frozen=True)
class Part:
    """The summary of some blocks, and its cost.

    `where` is the process that made it; `seconds` in methods of the solver and `reading` are sums
    over workers, `moved` and `peak`, the largest of a process, are bytes; a `peak` of 0 is unknown.
    """

    summary: Summary
    where: str
    seconds: float
    reading: float
    moved: int
    peak: int


@dataclass(frozen=True)
class Blocks:
    """The blocks of a run and their solver; a pass reads the first `rows` samples of the source."""

    solver: AnySummarySolver
    source: BlockSource
    rows: int

    workers: ClassVar[int] = 1

    @cached_property
    def ends(self) -> tuple[int, int]:
        """Number of blocks of a pass, and number of samples of the last one."""
        left = self.rows
        for index in range(self.source.count):
            height = self.source.height(index)
            if height >= left:
                return index + 1, left
            left -= height
        raise ValueError(f"the blocks have {self.rows - left} rows in all, not {self.rows}")

    @property
    def count(self) -> int:
        """Number of blocks of a pass."""
        return self.ends[0]

    def part(self, oracle: BlockOracle, index: int) -> Part:
        """Read and summarize a block; a `DataError` names a block that is invalid."""
        reading, block = timed_call(partial(self._checked, index))
        work = partial(self.solver.summarize, oracle, block)
        seconds, summary = timed_call(lambda: self._named(work, index))
        return Part(summary, here(), seconds, reading, 0, process_peak() or 0)

    def merged(self, a: Part, b: Part) -> Part:
        """Merge two parts in this process."""
        seconds, summary = timed_call(partial(self.solver.merge, a.summary, b.summary))
        came = sum(part.summary.size for part in (a, b) if part.where != here())
        return Part(
            summary, here(), a.seconds + b.seconds + seconds, a.reading + b.reading,
            a.moved + b.moved + came, max(a.peak, b.peak, process_peak() or 0),
        )  # fmt: skip

    def reduce(self, oracle: BlockOracle) -> Part:
        """Return the summary of all blocks."""
        return self.reduced(oracle, 0, self.count)

    def close(self) -> None:
        """Do nothing."""

    def reduced(self, oracle: BlockOracle, begin: int, end: int) -> Part:
        """Summarize a range of blocks with one BLAS thread, and merge them."""
        with limited(1):
            return reduced((self.part(oracle, index) for index in range(begin, end)), self.merged)

    def warm_up(self, oracle: BlockOracle) -> None:
        """Compile and load the code of a pass, which itself raises errors."""
        reset_process_peak()
        try:
            few = self._checked(0)[:WARM_UP_ROWS]
            summary = self.solver.summarize(oracle, few)
            self.solver.merge(summary, summary)
        except Exception:  # noqa: S110 - the pass raises it again, and names the block
            pass

    def _checked(self, index: int) -> NDArray[Any]:
        where, (count, last) = self._name(index), self.ends
        expected = self.source.height(index), self.source.d
        try:
            block: NDArray[Any] = self.source.block(index)
        except MemoryError:
            raise
        except Exception as error:
            raise DataError(f"{where} cannot be read: {error}") from error
        if block.shape != expected:
            raise DataError(f"{where} has shape {block.shape}, not {expected}")
        try:
            check_rows(block)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        return block[:last] if index == count - 1 else block

    def _named(self, work: Callable[[], Summary], index: int) -> Summary:
        try:
            return work()
        except (MemoryError, OrthobenchError):
            raise
        except Exception as error:
            raise RuntimeError(f"{self._name(index)}: {error!r}") from error

    def _name(self, index: int) -> str:
        return f"block {index} ({self.source.label(index)})"


def here() -> str:
    """Return host and number of this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Reduction(Calls):
    """The calls of a `SummarySolver` on blocks.

    The clock of a pass is wall-clock time, less a worker's average reading unless that is timed.
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
        known = process_peak() is not None
        self._spent = {name: 0.0 for name in WORKER_METRICS if known or name != MEMORY}
        self._spent[WORKERS] = float(self._engine.workers)

    def init(self, oracle: Oracle, rng: np.random.Generator) -> State:
        """Return the state before the first pass."""
        del oracle, rng
        return State()

    def left(self, state: State) -> float:
        """Return the number of passes that the solver still does."""
        return self._solver.passes - state.work.steps

    def advance(self, oracle: Oracle, state: State, count: int) -> None:
        """Do `count` passes, fewer if the solver converges."""
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

    def extra_metrics(self) -> dict[str, float]:
        """Return the metrics of the workers."""
        return dict(self._spent)

    def close(self) -> None:
        """End the workers of the run."""
        self._engine.close()

    def _pass(self, state: State) -> Part:
        oracle, work = self._next, state.work
        part: Part = self._engine.reduce(oracle)
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
        if MEMORY in spent:
            spent[MEMORY] = max(spent[MEMORY], part.peak)
        return part


def _source(oracle: Oracle) -> BlockSource:
    source = getattr(oracle, "source", None)
    if isinstance(source, BlockSource):
        return source
    raise UsageError("its samples are not blocks: take an array or files, or the place numpy")


def _rows(length: int, solver: AnySummarySolver, budget: Budget) -> int:
    passes = solver.passes if math.isfinite(solver.passes) else 1
    rows = min(length, budget.samples // passes)
    if rows < 1:
        raise UsageError(f"{solver.name} reads the samples {passes} times: raise the budget")
    return int(rows)


def _engine(place: Place, blocks: Blocks, oracle: BlockOracle) -> Any:
    if place.packages:
        from orthobench_clusters.passes import OnDask

        return OnDask(place, blocks, oracle)
    blocks.warm_up(oracle)
    return blocks
