"""What a worker does: it reads a block, summarizes it and merges summaries, and says its cost."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, TypeAlias, TypeVar

from numpy.typing import NDArray

from orthobench.contract.placed_solvers import BlockOracle, Summary, SummarySolver
from orthobench.contract.samples import BlockSource
from orthobench.errors import DataError, OrthobenchError
from orthobench.harness.execution import timed_call
from orthobench.tools.arrays import check_rows
from orthobench.tools.environment import limited
from orthobench.tools.machine import process_peak, reset_process_peak

T = TypeVar("T")

WORKER_METRICS = WORKER_SECONDS, MOVED, MEMORY, READING, WORKERS = (
    "worker_seconds",
    "moved_bytes",
    "peak_worker_bytes",
    "reading_seconds",
    "workers",
)
"""The seconds that all workers together spent in verbs, and in reading where that is timed; the
bytes that went from one process to another; the most bytes of memory of a worker; the seconds that
all workers together spent on reading and checking blocks; the workers."""

AnySummarySolver: TypeAlias = SummarySolver[Any, Any, Any]

WARM_UP_ROWS = 256
"""The most rows that a worker summarizes before the clock runs, to compile and load code."""


@dataclass(frozen=True)
class Part:
    """The summary of some blocks, and what it cost.

    Attributes
    ----------
    summary : Summary
    where : str
        The process that made it.
    seconds : float
        Seconds that workers spent on it in the verbs of the solver.
    reading : float
        Seconds that they spent on reading and checking blocks.
    moved : int
        Bytes of the summaries that went from one process to another.
    peaks : mapping
        The most bytes of memory of each process.
    """

    summary: Summary
    where: str
    seconds: float
    reading: float
    moved: int
    peaks: Mapping[str, int]


@dataclass(frozen=True)
class Blocks:
    """What a worker needs in all passes of a run; on the place ``blocks`` this process is it.

    Attributes
    ----------
    solver : SummarySolver
    source : BlockSource
    rows : int
        The samples of a pass, the first of the source.
    """

    solver: AnySummarySolver
    source: BlockSource
    rows: int

    workers: ClassVar[int] = 1

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The number of blocks that have these samples, and how many the last of them has."""
        left = self.rows
        for index in range(self.source.count):
            height = self.source.height(index)
            if height >= left:
                return index + 1, left
            left -= height
        raise ValueError(f"the blocks have {self.rows - left} rows in all, not {self.rows}")

    @property
    def count(self) -> int:
        """The number of blocks."""
        return self.ends[0]

    def part(self, oracle: BlockOracle, index: int) -> Part:
        """Read and summarize a block.

        Raises
        ------
        DataError
            Where it cannot be read, or has a sample that is not finite; names the block.
        """
        reading, block = timed_call(partial(self._checked, index))
        work = partial(self.solver.summarize, oracle, block)
        seconds, summary = timed_call(lambda: self._named(work, index))
        return Part(summary, here(), seconds, reading, 0, {here(): process_peak()})

    def merged(self, a: Part, b: Part) -> Part:
        """Merge two parts in this process."""
        seconds, summary = timed_call(partial(self.solver.merge, a.summary, b.summary))
        came = sum(part.summary.size for part in (a, b) if part.where != here())
        peaks = {**a.peaks, **b.peaks, here(): process_peak()}
        return Part(
            summary, here(), a.seconds + b.seconds + seconds, a.reading + b.reading,
            a.moved + b.moved + came, peaks,
        )  # fmt: skip

    def reduce(self, oracle: BlockOracle) -> Part:
        """Return the summary of all blocks."""
        return self.reduced(oracle, 0, self.count)

    def close(self) -> None:
        """Nothing was started."""

    def reduced(self, oracle: BlockOracle, begin: int, end: int) -> Part:
        """Summarize some blocks with one BLAS thread, and merge them as `reduced` does."""
        with limited(1):
            return reduced((self.part(oracle, index) for index in range(begin, end)), self.merged)

    def warm_up(self, oracle: BlockOracle) -> None:
        """Compile and load what a pass will use; an error here comes again in the pass."""
        reset_process_peak()
        try:
            few = self._checked(0)[:WARM_UP_ROWS]
            summary = self.solver.summarize(oracle, few)
            self.solver.merge(summary, summary)
        except Exception:  # noqa: S110 - the pass meets it again, and says the block
            pass

    def _checked(self, index: int) -> NDArray[Any]:
        where, (count, last) = self._name(index), self.ends
        try:
            block: NDArray[Any] = self.source.block(index)
        except MemoryError:
            raise
        except Exception as error:
            raise DataError(f"{where} cannot be read: {error}") from error
        if block.ndim != 2 or block.shape[1] != self.source.d:
            raise DataError(f"{where} has shape {block.shape}, not (rows, {self.source.d})")
        if len(block) != self.source.height(index):
            raise DataError(f"{where} has {len(block)} rows, not {self.source.height(index)}")
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
    """Return what tells this process from all others."""
    return f"{socket.gethostname()}:{os.getpid()}"


def reduced(items: Iterable[T], merge: Callable[[T, T], T]) -> T:
    """Merge items along a binary tree: on each level the first with the second, and so on.

    An item without a partner goes up as it is. Each is merged as soon as its partner is there, so
    that of m items no more than log2(m) + 1 are held. Since a run of 2^j items that begins at a
    multiple of 2^j is a tree of its own, such runs can be reduced anywhere.

    Parameters
    ----------
    items : iterable
        At least one.
    merge : callable
    """
    held: list[tuple[int, T]] = []
    for item in items:
        held.append((0, item))
        del item  # the list holds it, and merging drops it
        while len(held) > 1 and held[-2][0] == held[-1][0]:
            _merge_last(held, merge)
    while len(held) > 1:
        _merge_last(held, merge)
    return held[0][1]


def _merge_last(held: list[tuple[int, T]], merge: Callable[[T, T], T]) -> None:
    _, second = held.pop()
    level, first = held.pop()
    held.append((level + 1, merge(first, second)))
