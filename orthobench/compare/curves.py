"""The curve of a cell on one side: the metric against the work, from a live run or from a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus
from orthobench.results.runs import Run
from orthobench.tools.arrays import Array
from orthobench.tools.places import place_of

Key: TypeAlias = "tuple[str, str, int]"
"""Problem, solver with its tuned values, and seed; cells with equal keys are compared."""

COUNTS = ("steps", "samples", "flops")


@dataclass(frozen=True)
class Slack:
    """What values of two runs of the same code may differ by.

    Attributes
    ----------
    digits : float
        A part of the value.
    solved : float
        And a part of the value at the start.
    """

    digits: float = 0.0
    solved: float = 0.0

    def same(self, ours: Array, theirs: Array) -> bool:
        """Return whether all values are the same within this."""
        if not self.digits:
            return np.array_equal(ours, theirs, equal_nan=True)
        scale = self.solved * float(np.abs(ours[:1]).sum())
        return np.shape(ours) == np.shape(theirs) and np.allclose(
            ours, theirs, rtol=self.digits, atol=scale, equal_nan=True
        )


EXACT = Slack()
"""On processors, where equal seeds give equal bits."""

OF_START = 1e-3
"""The tolerance of a place times this is that of a value as a part of the one at the start."""


def slack_of(on: str) -> Slack:
    """Return what two runs at a place may differ by."""
    try:
        tolerance = place_of(on).tolerance
    except UsageError:  # of a newer version
        return EXACT
    return Slack(tolerance, OF_START * tolerance)


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
        How it ended: a value of `RunStatus`.
    budget : mapping
        The limits of the run.
    on : str
        Where it was computed, such as ``"torch:cuda/float32"``.
    """

    primary: str
    work: Array
    values: Array
    failed: str = ""
    status: str = RunStatus.BUDGET.value
    budget: Mapping[str, float] = field(default_factory=dict)
    on: str = "numpy"

    @classmethod
    def of_reply(cls, reply: Mapping[str, Any]) -> Curve:
        """Return the curve that a worker sends."""
        table = np.array(reply["trace"], float).reshape(-1, len(COUNTS) + 1)
        failed = f"{reply['status']}: {reply['reason']}" if reply["failed"] else ""
        return cls(
            reply["primary"], table[:, :-1], table[:, -1], failed, reply["status"], reply["budget"],
            reply.get("on", "numpy"),
        )  # fmt: skip

    @classmethod
    def of_record(cls, record: Run) -> Curve:
        """Return the curve of a record in a store."""
        work = [[m.work.steps, m.work.samples, m.work.flops] for m in record.trace]
        values = [m.metrics[record.problem.primary] for m in record.trace]
        failed = f"{record.stop.status.value}: {record.stop.reason}" if not record.ok else ""
        table = np.array(work, float).reshape(-1, len(COUNTS))
        return cls(
            record.problem.primary, table, np.array(values), failed, record.stop.status.value,
            record.budget, str(record.solver.parameters.get("on", "numpy")),
        )  # fmt: skip

    @classmethod
    def without(cls, reason: str) -> Curve:
        """Return the curve of a run that left nothing behind."""
        return cls("", np.empty((0, len(COUNTS))), np.empty(0), reason, RunStatus.ERROR.value)

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return int(self.work[-1, 0]) if len(self.work) else 0

    @property
    def samples(self) -> int:
        """Samples of the whole run."""
        return int(self.work[-1, 1]) if len(self.work) else 0

    @property
    def slack(self) -> Slack:
        """What two runs of the same code may differ by."""
        return slack_of(self.on)

    def equals(self, other: Curve) -> bool:
        """Whether two curves are the same: bit for bit, or within their slack on a GPU."""
        return (
            np.array_equal(self.work, other.work)
            and self.failed == other.failed
            and self.slack.same(self.values, other.values)
        )

    @property
    def settled(self) -> bool:
        """Whether the run ended by itself: it converged, or met the suite's target."""
        return not self.failed and self.status in (RunStatus.DONE.value, RunStatus.TARGET.value)


def key_of(record: Run) -> Key:
    """Return the key of a record's cell."""
    tuned = "".join(f" {name}={value}" for name, value in record.solver.tuned.items())
    return (record.problem.label, record.solver.label + tuned, record.seed)
