"""Synthetic records and exhibits, as a store would return them."""

import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from records import record as made

from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult, choose


def _record(
    solver: str,
    seed: int,
    level: float,
    *,
    problem: str = "digits k=4",
    status: RunStatus = RunStatus.DONE,
    reason: str = "",
    tuned: dict[str, float] | None = None,
    points: int = 12,
    samples: bool = True,
) -> Run:
    rng = np.random.default_rng([seed, len(solver)])
    marks = []
    for at in np.unique(np.geomspace(1, 4000, points).astype(int)).tolist():
        gap = level * math.exp(0.05 * rng.standard_normal()) / math.sqrt(at)
        metrics = {"gap": gap, "rank": 9.0, "val": 1.1 * gap, "constraint_violation": 1e-15}
        marks.append(Checkpoint(1e-4 * at, 2e-5, Work(at, at if samples else 0, 600 * at), metrics))
    tuned = tuned or {}
    key = f"{problem} {solver} {tuned} {seed}"
    return made(
        key, problem=problem, family="PCA", solver=solver, parameters=tuned, tuned=tuned, seed=seed,
        status=status, reason=reason, trace=tuple(marks),
    )  # fmt: skip


@pytest.fixture(scope="session")
def record() -> Callable[..., Run]:
    """Return a maker of records: ``record(solver, seed, level, ...)``."""
    return _record


@pytest.fixture(scope="session")
def runs() -> Callable[..., list[Run]]:
    """Return a maker of a solver's runs: ``runs(solver, level, seeds=5, failed=0, ...)``."""

    def make(solver: str, level: float, seeds: int = 5, failed: int = 0, **more: object) -> list:
        bad = {"status": RunStatus.DIVERGED, "reason": "the solution at step 7 is not finite"}
        return [
            _record(solver, seed, level, **{**more, **(bad if seed < failed else {})})
            for seed in range(seeds)
        ]

    return make


def _exhibit(solver: str, seed: int) -> dict[str, Exhibit]:
    rates = ("false positives", "true positives")
    rng = np.random.default_rng([seed, *map(ord, solver)])
    truth = np.random.default_rng(seed).standard_normal((6, 8))
    x = np.linspace(0, 1, 40)
    bands = ("band 1", "band 2")
    return {
        "truth": Image(truth, reference=True),
        **{name: Image(rng.standard_normal((6, 8)), signed=True) for name in bands},
        "map": Image(rng.random((6, 8))),
        "ROC": Curve(x, x ** rng.uniform(0.1, 0.9), *rates),
        "chance": Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), *rates, reference=True),
    }


def _load(records: Iterable[Run]) -> dict[str, dict[str, Exhibit]]:
    return {record.key: _exhibit(record.solver.label, record.seed) for record in records}


@pytest.fixture(scope="session")
def exhibit() -> Callable[[str, int], dict[str, Exhibit]]:
    """Return what gives the exhibits of a solver and seed: images, a curve and references."""
    return _exhibit


@pytest.fixture(scope="session")
def load() -> Callable[[Iterable[Run]], dict[str, dict[str, Exhibit]]]:
    """Return what loads the exhibits of records."""
    return _load


@pytest.fixture
def three(runs: Callable[..., list[Run]]) -> list[SolverResult]:
    """Return the entries of three solvers on one problem."""
    solvers = enumerate(("hooi", "pgd", "spgd"))
    return choose([r for i, s in solvers for r in runs(s, 0.1 * i + 1)])
