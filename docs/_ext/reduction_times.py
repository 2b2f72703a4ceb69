"""Wall time and efficiency of a pass over blocks on many workers, from a few measured times.

The same tree and the same tasks as those of a run on Dask (`orthobench_clusters`): each
worker summarizes neighbouring blocks and merges what it can; then summaries move, two by two, until
one is left. The tree is known beforehand, so that ten thousand workers take milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from orthobench_clusters.passes import run_length

from orthobench.tools.arrays import Array

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """The costs of the functions of a solver and of the machines between them.

    Attributes
    ----------
    summarize, merge : float
        Seconds to make the summary of a block, reading included, and to merge two.
    summary_bytes : float
        The size of a summary.
    latency : float
        Seconds until the first byte of a summary arrives.
    bandwidth : float
        Bytes a second that a worker can receive.
    scheduler : float
        Seconds for which the one scheduler of all workers is busy with a task: a run of blocks, or
        a merge of two of them.
    fixed : float
        Seconds of a pass that do not depend on its blocks: a worker has 16 to 31 tasks, however
        many blocks there are.
    """

    summarize: float
    merge: float
    summary_bytes: float = 0.0
    latency: float = 0.0
    bandwidth: float = float("inf")
    scheduler: float = 0.0
    fixed: float = 0.0

    @property
    def transfer(self) -> float:
        """Seconds to move a summary to another worker."""
        return self.latency + self.summary_bytes / self.bandwidth


@dataclass(frozen=True)
class PassTime:
    """The cost of a pass.

    Attributes
    ----------
    blocks, workers : int
    wall_seconds : float
    bytes_moved : float
        Bytes of all summaries that one worker sends to another.
    efficiency : float
        Wall time on one worker over `workers` times the wall time.
    """

    blocks: int
    workers: int
    wall_seconds: float
    bytes_moved: float
    efficiency: float


@dataclass(frozen=True)
class MeasuredPass:
    """A pass that was run, to fit `Costs` to.

    Attributes
    ----------
    blocks, workers : int
    cores : int
        Processor cores that the workers share.
    wall_seconds : float
    worker_seconds : float
        Spent in the verbs, all workers together.
    """

    blocks: int
    workers: int
    cores: int
    wall_seconds: float
    worker_seconds: float


def simulated(costs: Costs, blocks: int, workers: int, cores: int | None = None) -> PassTime:
    """Return what a pass takes.

    Parameters
    ----------
    costs : Costs
    blocks, workers : int
        At least 1; workers beyond the number of blocks stay idle.
    cores : int, optional
        Processor cores that all workers share with the scheduler, so that its seconds add to
        theirs. By default each has one, and a pass takes as long as the busier of them.
    """
    alone, _ = _pass(costs, blocks, 1, cores)
    wall, sent = _pass(costs, blocks, workers, cores)
    return PassTime(blocks, workers, wall, sent * costs.summary_bytes, alone / (workers * wall))


def fitted(runs: Sequence[MeasuredPass], known: Costs) -> Costs:
    """Return costs that explain measured passes.

    The seconds of a block are what workers spent in the verbs, merges apart, in the runs in which
    they share no core. The rest of the wall time of these runs is fitted by least squares, as
    seconds of the scheduler for a task and seconds of each pass, neither of them negative.

    Parameters
    ----------
    runs : sequence of MeasuredPass
        At least one in which workers share no core; of several numbers of workers, to tell apart
        what depends on tasks.
    known : Costs
        Costs that are measured apart: `merge`, which the seconds of workers do not tell from
        `summarize`; the size of a summary, latency and bandwidth. The other numbers are replaced.

    Raises
    ------
    ValueError
        Where workers share cores in all runs.
    """
    from scipy.optimize import nnls

    own = [run for run in runs if run.workers <= run.cores]
    if not own:
        raise ValueError("there is no run without shared cores to fit the costs to")
    spent = sum(run.worker_seconds - (run.blocks - 1) * known.merge for run in own)
    summarize = max(0.0, spent) / sum(run.blocks for run in own)
    costs = replace(known, summarize=summarize, scheduler=0.0, fixed=0.0)
    busy = [simulated(costs, run.blocks, run.workers).wall_seconds for run in own]
    rest = np.array([run.wall_seconds for run in own]) - busy
    counts = np.array([[_tasks(run.blocks, run.workers), 1] for run in own], dtype=np.float64)
    (scheduler, fixed), _ = nnls(counts, np.maximum(rest, 0.0))
    return replace(costs, scheduler=float(scheduler), fixed=float(fixed))


def _pass(costs: Costs, blocks: int, workers: int, cores: int | None) -> tuple[float, int]:
    """Return the seconds of a pass, and how many summaries are sent."""
    walked, sent = _walked(_crowded(costs, workers, cores), blocks, min(workers, blocks))
    scheduling = _tasks(blocks, workers) * costs.scheduler
    wall = max(walked, scheduling) if cores is None else walked + scheduling
    return wall + costs.fixed, sent


def _crowded(costs: Costs, workers: int, cores: int | None) -> Costs:
    """Return the costs if workers share cores."""
    share = 1.0 if cores is None else max(1.0, workers / cores)
    return replace(costs, summarize=share * costs.summarize, merge=share * costs.merge)


def _walked(costs: Costs, blocks: int, workers: int) -> tuple[float, int]:
    """Return the seconds until the last merge, and how many summaries are sent."""
    firsts = np.arange(workers, dtype=np.int64) * blocks // workers
    free = np.diff(firsts, append=blocks) * costs.summarize
    sent = 0
    for level in range(1, (blocks - 1).bit_length() + 1):
        free += _own_merges(firsts, blocks, level) * costs.merge
    for level in range(1, (blocks - 1).bit_length() + 1):
        sent += _merge_across(costs, free, firsts, blocks, level)
    return float(free[0]), sent


def _tasks(blocks: int, workers: int) -> int:
    """Return the number of runs of blocks and of their merges."""
    return 2 * -(-blocks // run_length(blocks, workers)) - 1


def _merges(blocks: int, level: int) -> int:
    """Return how many nodes of a level of the tree merge two others."""
    width = 1 << level
    return max(0, -((width // 2 - blocks) // width))


def _own_merges(firsts: Integers, blocks: int, level: int) -> Integers:
    """Return how many nodes of a level each worker merges of its own blocks alone."""
    width, count = 1 << level, _merges(blocks, level)
    stops = np.append(firsts[1:] // width, count)
    own: Integers = np.minimum(stops, count) + -firsts // width
    return np.maximum(own, 0)


def _merge_across(costs: Costs, free: Array, firsts: Integers, blocks: int, level: int) -> int:
    """Merge, in the times when workers are free, what is of several workers; return how many moved.

    The worker of a node's first block has the left summary, and is sent the right one.
    """
    width = 1 << level
    nodes = np.unique(firsts[firsts % width > 0] // width)
    begins = width * nodes[nodes < _merges(blocks, level)]
    left, right = (
        np.searchsorted(firsts, at, side="right") - 1 for at in (begins, begins + width // 2)
    )
    moved = left != right
    arrived = np.where(moved, free[right] + costs.transfer, 0.0)
    free[left] = np.maximum(free[left], arrived) + costs.merge
    return int(moved.sum())
