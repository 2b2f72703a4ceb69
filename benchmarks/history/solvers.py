"""What each installed solver takes, and what it gets for that: a class a solver, made by rule.

Classes, and not parameters of one, since asv knows parameters by their number only, and an older
commit has fewer solvers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from statistics import median

import orthobench as ob
from history.cases import Case, cases
from orthobench.harness.cell import Cell, built, execute
from orthobench.harness.executors import local
from orthobench.harness.trace import Outcome

BUDGET = ob.Budget(steps=20_000, samples=10_000)
RERUN = ob.Budget(steps=50)
"""Of a solver that begins anew for each checkpoint: it takes the steps of all of them."""

SEEDS = range(3)
TAU = 0.05
ROUNDING = 1e-12


class _Tracked:
    """One case; times are those of the harness's clock, which data and metrics are not on."""

    case: Case
    number = 1
    repeat = (5, 30, 5.0)
    timeout = 600

    def setup(self):
        self.seconds = 0.0

    def timer(self):
        return self.seconds

    def time_run(self):
        self.seconds += _run(_cell(self.case)).trace[-1].seconds

    def peakmem_run(self):
        cell = _cell(self.case)
        list(local.run([cell]))  # compiled in another process, since compilers take memory too
        _run(cell)

    def track_flops_to_target(self):
        return _median(_to_target(_cell(self.case, seed), "flops") for seed in SEEDS)

    def track_final_metric(self):
        return _median(_final(_cell(self.case, seed)) for seed in SEEDS)

    track_flops_to_target.unit = "flops"
    track_final_metric.unit = "primary metric"


class _TrackedOnSamples(_Tracked):
    """One case of a solver that draws samples."""

    def track_samples_to_target(self):
        return _median(_to_target(_cell(self.case, seed), "samples") for seed in SEEDS)

    track_samples_to_target.unit = "samples"


def _cell(case: Case, seed: int = 0) -> Cell:
    return Cell(case.problem, case.solver, seed, RERUN if case.solver.reruns else BUDGET)


def _run(cell: Cell) -> Outcome:
    """Return a run that did not fail."""
    executed = execute(cell)
    if executed.stop.status.failed:
        raise RuntimeError(f"{cell.solver.name}, seed {cell.seed}: {executed.stop.reason}")
    return executed


def _median(values: Iterable[float]) -> float:
    """Return the median over seeds; NaN where half of them did not get there."""
    middle = median(values)
    return middle if math.isfinite(middle) else math.nan


def _to_target(cell: Cell, what: str) -> float:
    """Return the work at the first checkpoint at the target; infinite where none is.

    The target closes 95 % of the gap from the start to the optimum or, where that is not known,
    to the best of the run itself.
    """
    trace, metric = _run(cell).trace, cell.problem.primary
    values = [mark.metrics[metric] for mark in trace]
    best = built(cell).best.get(metric, min(values))
    target = best + max(TAU * (values[0] - best), ROUNDING * abs(values[0]))
    for mark, value in zip(trace, values, strict=True):
        if value <= target:
            return float(getattr(mark.work, what))
    return math.inf


def _final(cell: Cell) -> float:
    """Return the last value of the primary metric; what is below rounding is rounding."""
    trace, metric = _run(cell).trace, cell.problem.primary
    return max(trace[-1].metrics[metric], ROUNDING * abs(trace[0].metrics[metric]))


for _case in cases(ob.catalogue()).values():
    _name = re.sub(r"\W+", "_", _case.name)
    _base = _TrackedOnSamples if _case.solver.batch else _Tracked
    globals()[_name] = type(_name, (_base,), {"case": _case, "__module__": __name__})
