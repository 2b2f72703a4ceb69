"""The curve of a cell on one side: the metric against the work, from a live run or from a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from orthobench.harness.stopping import Ending
from orthobench.results.record import Record
from orthobench.tools.arrays import Array

Key: TypeAlias = "tuple[str, str, int]"
"""Problem, solver with its tuned values, and seed; cells with equal keys are compared."""

COUNTS = ("steps", "samples", "flops")


@dataclass(frozen=True)
class Curve:
    """The curve of one cell on one side.

    Attributes
    ----------
    primary : str
        The metric that is compared; smaller is better.
    work : ndarray, shape (M, 3)
        Steps, samples and flops at the checkpoints.
    values : ndarray, shape (M,)
        The primary metric there.
    failed : str
        Why the run failed; empty where it did not.
    status : str
        How it ended: a value of `Ending`.
    budget : mapping
        The limits of the run.
    """

    primary: str
    work: Array
    values: Array
    failed: str = ""
    status: str = Ending.BUDGET.value
    budget: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_reply(cls, reply: Mapping[str, Any]) -> Curve:
        """Return the curve that a worker sends."""
        table = np.array(reply["trace"], float).reshape(-1, len(COUNTS) + 1)
        failed = f"{reply['status']}: {reply['reason']}" if reply["failed"] else ""
        ended = reply["status"]
        return cls(reply["primary"], table[:, :-1], table[:, -1], failed, ended, reply["budget"])

    @classmethod
    def of_record(cls, record: Record) -> Curve:
        """Return the curve of a record in a store."""
        work = [[m.work.steps, m.work.samples, m.work.flops] for m in record.trace]
        values = [m.metrics[record.problem.primary] for m in record.trace]
        failed = f"{record.stop.status.value}: {record.stop.reason}" if record.failed else ""
        table = np.array(work, float).reshape(-1, len(COUNTS))
        ended = record.stop.status.value
        return cls(record.problem.primary, table, np.array(values), failed, ended, record.budget)

    @classmethod
    def without(cls, reason: str) -> Curve:
        """Return the curve of a run that left nothing behind."""
        return cls("", np.empty((0, len(COUNTS))), np.empty(0), reason, Ending.ERROR.value)

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return int(self.work[-1, 0]) if len(self.work) else 0

    @property
    def samples(self) -> int:
        """Samples of the whole run."""
        return int(self.work[-1, 1]) if len(self.work) else 0

    def equals(self, other: Curve) -> bool:
        """Whether two curves are the same, bit for bit."""
        return (
            np.array_equal(self.work, other.work)
            and np.array_equal(self.values, other.values, equal_nan=True)
            and self.failed == other.failed
        )

    @property
    def settled(self) -> bool:
        """Whether the run ended by itself: it converged, or met the suite's target."""
        return not self.failed and self.status in (Ending.DONE.value, Ending.TARGET.value)


def key_of(record: Record) -> Key:
    """Return the key of a record's cell."""
    tuned = "".join(f" {name}={value}" for name, value in record.solver.tuned.items())
    return (record.problem.label, record.solver.label + tuned, record.seed)
