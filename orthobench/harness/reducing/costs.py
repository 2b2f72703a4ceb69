"""What a run over blocks is measured by beside its clock: metrics that the harness adds."""

from __future__ import annotations

from collections.abc import Mapping

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


def efficiency(alone: Mapping[str, float], metrics: Mapping[str, float], seconds: float) -> float:
    """Return the efficiency of a run against one worker: 1 where n workers take a share of 1/n.

    Parameters
    ----------
    alone : mapping
        The metrics of the same run on one worker, whose worker-seconds it is measured by.
    metrics : mapping
        Those of the run.
    seconds : float
        On its clock.
    """
    return alone[WORKER_SECONDS] / (metrics[WORKERS] * seconds)
