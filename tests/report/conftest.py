"""Synthetic records, as a store would return them."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from orthobench.record import Record
from orthobench.solver import Work
from orthobench.stopping import Ending
from orthobench.trace import Mark


def _record(
    solver: str,
    seed: int,
    level: float,
    *,
    problem: str = "digits k=4",
    status: Ending = Ending.DONE,
    reason: str = "",
    tuned: dict[str, float] | None = None,
    points: int = 12,
    samples: bool = True,
) -> Record:
    rng = np.random.default_rng([seed, len(solver)])
    marks = []
    for at in np.unique(np.geomspace(1, 4000, points).astype(int)).tolist():
        gap = level * math.exp(0.05 * rng.standard_normal()) / math.sqrt(at)
        metrics = {"gap": gap, "rank": 9.0, "val": 1.1 * gap, "constraint_violation": 1e-15}
        marks.append(Mark(1e-4 * at, 2e-5, Work(at, at if samples else 0, 600 * at), metrics))
    tuned = tuned or {}
    key = f"{problem} {solver} {tuned} {seed}"
    return Record(
        key, problem, "PCA", "gap", "val", solver, tuned, tuned, seed, status, reason, "",
        tuple(marks),
    )  # fmt: skip


@pytest.fixture
def record() -> Callable[..., Record]:
    """Return a maker of records: ``record(solver, seed, level, ...)``."""
    return _record


@pytest.fixture
def runs() -> Callable[..., list[Record]]:
    """Return a maker of a solver's runs: ``runs(solver, level, seeds=5, failed=0, ...)``."""

    def make(solver: str, level: float, seeds: int = 5, failed: int = 0, **more: object) -> list:
        bad = {"status": Ending.DIVERGED, "reason": "the solution at step 7 is not finite"}
        return [
            _record(solver, seed, level, **{**more, **(bad if seed < failed else {})})
            for seed in range(seeds)
        ]

    return make
