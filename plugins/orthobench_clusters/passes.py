"""The engine of the places ``dask:...``: Dask workers summarize and merge blocks.

A task is a run of neighbouring blocks that is a subtree. Since the tree is fixed, bits do not
depend on the workers or their deaths; Dask computes a lost result again.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any, TypeAlias

from orthobench.contract.placed_solvers import BlockOracle
from orthobench.tools.collections import reduced
from orthobench.tools.environment import limited
from orthobench.tools.places import Place
from orthobench_clusters.clusters import ClusterError, Workers, connected, silenced
from orthobench_clusters.reduction import Blocks, Part, here

TASKS = 16
"""Minimum number of tasks of a worker."""

LOOK = 1.0
"""Time between two checks for workers, in seconds."""

WORKERS_PATIENCE = 120
"""Maximum time for workers to begin, in seconds."""

ALONE = 30
"""Number of checks without workers after which a run ends."""

Run: TypeAlias = tuple[int, str, Any]
"""Number of the last task, a worker that has some of the blocks, and a future."""


class OnDask:
    """The workers of a cluster, for one run.

    The workers are warmed up with `oracle`, that of the first pass.
    """

    def __init__(self, place: Place, blocks: Blocks, oracle: BlockOracle) -> None:
        import distributed  # noqa: F401 - it sets up its loggers when it is imported

        self._blocks = blocks
        with ExitStack() as stack:
            for name in ("distributed", "distributed.client"):
                stack.enter_context(silenced(name))
            own = stack.enter_context(Workers(place.workers)) if place.workers else None
            cluster = own.cluster if own else place.address
            self._own, self._client = own, stack.enter_context(connected(cluster))
            self._await_workers(place.workers or 1)
            self._task = self._spread(blocks)
            self._warm_up(oracle)
            self.workers = len(self._addresses())
            self._close = stack.pop_all().close

    def reduce(self, oracle: BlockOracle) -> Part:
        """Return the summary of all blocks."""

        def merge(a: Run, b: Run) -> Run:
            (_, near, first), (last, _, second) = a, b
            return last, near, self._submit(-last - 0.5, near, _merged, first, second)

        leaves = self._leaves(self._spread(oracle))
        *_, root = reduced((leaves.pop(last) for last in sorted(leaves)), merge)
        part: Part = self._result(root)
        shared = sum(getattr(value, "nbytes", 8) for value in oracle.shared.values())
        came = part.summary.size if part.where != here() else 0
        moved = part.moved + came + shared * self.workers
        return replace(part, moved=moved)

    def close(self) -> None:
        """End the workers of the run."""
        self._close()

    def _await_workers(self, wanted: int) -> None:
        try:
            self._client.wait_for_workers(wanted, timeout=WORKERS_PATIENCE)
        except TimeoutError:
            said = self._own.last_words if self._own else ""
            raise ClusterError(f"{wanted} Dask workers did not begin in time {said}") from None

    def _leaves(self, spread: Any) -> dict[int, Run]:
        """Return the runs of blocks by number; neighbours go to the same worker."""
        blocks, workers = self._blocks.count, self._addresses()
        if not workers:
            raise self._lost()
        size = run_length(blocks, len(workers))
        near = [number * size * len(workers) // blocks for number in range(-(-blocks // size))]
        found: dict[int, Run] = {}
        for number in sorted(range(len(near)), key=lambda n: (n - near.index(near[n]), near[n])):
            worker, ends = workers[near[number]], (number * size, min((number + 1) * size, blocks))
            future = self._submit(-number, worker, Blocks.reduced, spread, *ends)
            found[number] = (number, worker, future)
        return found

    def _submit(self, priority: float, near: str, function: Any, *given: Any) -> Any:
        return self._client.submit(
            function, self._task, *given, workers=[near], allow_other_workers=True,
            priority=priority, pure=False,
        )  # fmt: skip

    def _addresses(self) -> list[str]:
        try:
            return sorted(self._client.nthreads())
        except OSError:  # the scheduler does not answer
            return []

    def _spread(self, value: object) -> Any:
        if not (self._alive and self._addresses()):
            raise self._lost()
        try:
            return self._client.scatter(value, broadcast=True, hash=False)
        except (OSError, TimeoutError) as error:
            raise self._lost() from error

    def _warm_up(self, oracle: BlockOracle) -> None:
        waiting = [self._submit(0, worker, Blocks.warm_up, oracle) for worker in self._addresses()]
        for future in waiting:
            self._result(future)

    def _result(self, future: Any) -> Any:
        from distributed import CancelledError

        looks = 0
        while True:
            looks += 1
            try:
                return future.result(timeout=LOOK)
            except (CancelledError, Exception) as error:
                if future.status == "error":
                    raise _cause(error) from None
                if not isinstance(error, TimeoutError):
                    raise self._lost() from error
            if not self._alive or (not self._addresses() and looks > ALONE):
                raise self._lost()

    @property
    def _alive(self) -> bool:
        return self._own is None or self._own.alive

    def _lost(self) -> ClusterError:
        where = f"the Dask scheduler at {self._client.scheduler.addr}"
        if not self._alive:
            return ClusterError(f"{where} has no workers left: each of their processes died")
        return ClusterError(f"{where} is gone, or all of its workers are: run again to go on")


def _cause(error: BaseException) -> BaseException:
    """Return the error of a task, or one for users if it killed the workers."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return ClusterError(f"each worker that had some of the blocks died: {error}")
    return error


def run_length(blocks: int, workers: int) -> int:
    """Return the number of blocks of a task, a power of two."""
    length = 1
    while 2 * length * TASKS * workers <= blocks:
        length *= 2
    return length


def _merged(task: Blocks, a: Part, b: Part) -> Part:
    with limited(1):
        return task.merged(a, b)
