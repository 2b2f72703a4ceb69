"""What each installed solver takes, and what it gets for that: a class a solver, made by rule.

Classes, and not parameters of one, since asv knows parameters by their number only, and an older
commit has fewer solvers.
"""

from __future__ import annotations

import math
import re
from statistics import median

import orthobench as ob
from history.cases import Case, cases
from orthobench.cell import Cell, Executed, built, execute

BUDGET = ob.Budget(steps=20_000, samples=10_000)
SEEDS = range(3)
TAU = 0.01


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
        self.seconds += _run(self.case, 0)[1].trace[-1].seconds

    def peakmem_run(self):
        _run(self.case, 0)

    def track_flops_to_target(self):
        return _at_target(self.case, "flops")

    def track_final_metric(self):
        finals = (_run(self.case, seed)[1].trace[-1] for seed in SEEDS)
        return median(mark.metrics[self.case.problem.primary] for mark in finals)

    track_flops_to_target.unit = "flops"
    track_final_metric.unit = "primary metric, medians of 3 seeds; smaller is better"


class _TrackedOnSamples(_Tracked):
    """One case of a solver that draws samples."""

    def track_samples_to_target(self):
        return _at_target(self.case, "samples")

    track_samples_to_target.unit = "samples"


def _run(case: Case, seed: int) -> tuple[Cell, Executed]:
    """Return a run of the budget, which must not fail."""
    cell = Cell(case.problem, case.solver, seed, BUDGET)
    executed = execute(cell)
    if executed.stop.status.failed:
        raise RuntimeError(f"{case.name}, seed {seed}: {executed.stop.reason}")
    return cell, executed


def _at_target(case: Case, what: str) -> float:
    """Return the work at the target: a median over seeds, NaN where half of them do not get there.

    The target closes 99 % of the gap between the start and the optimum, where that is known, or
    else the best of the run itself; what was had at a checkpoint was had for its work.
    """
    reached = median(_reached(*_run(case, seed), what) for seed in SEEDS)
    return reached if math.isfinite(reached) else math.nan


def _reached(cell: Cell, executed: Executed, what: str) -> float:
    metric = cell.problem.primary
    values = [mark.metrics[metric] for mark in executed.trace]
    best = built(cell).best.get(metric, min(values))
    target = best + TAU * max(0.0, values[0] - best)
    at = (m.work for m, value in zip(executed.trace, values, strict=True) if value <= target)
    work = next(at, None)
    return math.inf if work is None else float(getattr(work, what))


for _case in cases(ob.catalogue()).values():
    _name = re.sub(r"\W+", "_", _case.name)
    _base = _TrackedOnSamples if _case.solver.batch else _Tracked
    globals()[_name] = type(_name, (_base,), {"case": _case, "__module__": __name__})
