"""The choice of hyperparameters: by the metric that the problem is ``tuned_by``.

It is never measured on test data. The trial is chosen whose metric at the end, averaged over the
seeds of all trials, is smallest. With ``tuning.score = "average"`` it is averaged over the run
first (Arora, Cotter and Srebro 2013, section 6). At a level, the average end must keep it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from orthobench.errors import UsageError
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus, Target, Termination
from orthobench.harness.suite import END
from orthobench.results.runs import ProblemInfo, Run
from orthobench.results.traces import read
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped


@dataclass(frozen=True)
class Trial:
    """One point of the grid of a solver's hyperparameters.

    Attributes
    ----------
    tuned : mapping
    score : float
        Mean over seeds; infinite if a run failed or is missing, NaN without the metric, or with
        one trial only.
    records : tuple of Run
        One for each seed, ascending.
    scores : tuple of float
        One for each seed; empty if some are missing.
    """

    tuned: Mapping[str, Any]
    score: float
    records: tuple[Run, ...]
    scores: tuple[float, ...] = ()

    @property
    def finished(self) -> tuple[Run, ...]:
        """Its runs that are not missing."""
        return _finished(self.records)


@dataclass(frozen=True)
class SolverResult:
    """A solver on a problem, with its hyperparameters chosen.

    Attributes
    ----------
    problem, solver : str
        Their labels; that of the problem with the level.
    best_parameters : mapping
        The hyperparameters chosen.
    records : tuple of Run
        Those of the chosen trial, one for each seed.
    trials : tuple of Trial
        The whole grid.
    seeds : tuple of int
        The seeds planned.
    level : Target, optional
        If no trial keeps it, the runs are those of the nearest, as refused.
    tuned_on : tuple of int
        The seeds that trials are compared on.
    score : str
    tolerance : float, optional
    """

    problem: str
    solver: str
    best_parameters: Mapping[str, Any]
    records: tuple[Run, ...]
    trials: tuple[Trial, ...]
    seeds: tuple[int, ...]
    level: Target | None = None
    tuned_on: tuple[int, ...] = ()
    score: str = END
    tolerance: float | None = None

    @property
    def problem_info(self) -> ProblemInfo:
        """The problem that all runs share."""
        return self.records[0].problem

    @property
    def tuned_on_final(self) -> bool:
        """Whether trials are chosen by final values."""
        return self.score == END or self.level is not None

    @property
    def finished(self) -> tuple[Run, ...]:
        """Its runs that are not missing."""
        return _finished(self.records)

    @property
    def takes_part(self) -> bool:
        """Whether it was not refused, and something was run."""
        return bool(self.finished) and not self.refused

    @property
    def refused(self) -> bool:
        """Whether the solver cannot take the problem."""
        # seeds that were not run yet would be refused, too
        statuses = {record.stop.status for record in self.records}
        return RunStatus.REFUSED in statuses and statuses <= {RunStatus.REFUSED, RunStatus.MISSING}

    @property
    def refusal(self) -> str:
        """Why the solver was refused; empty if it was not."""
        reasons = (r.stop.reason for r in self.records if r.stop.status is RunStatus.REFUSED)
        return next(reasons, "") if self.refused else ""


def choose(records: Sequence[Run], score: str = END) -> list[SolverResult]:
    """Choose the hyperparameters of each solver on each problem.

    A trial with a failed or missing run scores infinity. If all do, the one with the fewest such
    runs is chosen, a refused one last. Ties go to the smaller value.

    Parameters
    ----------
    records : sequence of Run
        The same run counts once.
    score : str
        At a level the end counts in any case.

    Raises
    ------
    UsageError
        If trials lack the validation metric or have different hyperparameters, or two different
        cells have the same labels, hyperparameters and seed.
    """
    entries: list[SolverResult] = []
    for of_problem in grouped(records, lambda r: r.problem.label).values():
        seeds = tuple(sorted({record.seed for record in of_problem}))
        for level in of_problem[0].problem.levels or (None,):
            groups = grouped(of_problem, lambda r: r.solver.label).values()
            entries += [_entry(group, seeds, level, score) for group in groups]
    return entries


def varied(entry: SolverResult) -> list[str]:
    """Return the hyperparameters with several values among the trials."""
    return [
        n for n in entry.best_parameters if len({canonical(t.tuned[n]) for t in entry.trials}) > 1
    ]


def slice_of(entry: SolverResult, parameter: str) -> list[Trial]:
    """Return the trials that differ from the best in this hyperparameter alone."""
    if parameter not in varied(entry):
        return []
    best = {**entry.best_parameters, parameter: None}
    return [t for t in entry.trials if canonical({**t.tuned, parameter: None}) == canonical(best)]


def average(record: Run, metric: str, horizon: float | None = None) -> float:
    """Return the average of a metric over a run: the trapezoidal rule over samples, or steps.

    Parameters
    ----------
    record : Run
    metric : str
    horizon : float, optional
        Number of samples; a run that ended sooner keeps its last value.

    It is infinite if the run failed, is absent or has metrics that are not finite; NaN without the
    metric at its end.
    """
    end = last(record, metric)
    if not math.isfinite(end):
        return end
    values = read(record.trace, lambda mark: mark.metrics.get(metric, math.nan))
    if not np.isfinite(values).all():
        return math.inf
    at = _effort(record)
    if horizon is not None and horizon > at[-1]:
        at, values = np.append(at, horizon), np.append(values, end)
    span = at[-1] - at[0]
    return float(np.diff(at) @ (values[1:] + values[:-1]) / (2 * span)) if span > 0 else end


def last(record: Run, metric: str) -> float:
    """Return the final value of a metric; infinite or NaN as in `average`."""
    if not (record.ok and record.trace):
        return math.inf
    value = record.trace[-1].metrics.get(metric)
    return math.nan if value is None else value if math.isfinite(value) else math.inf


def _effort(record: Run) -> Array:
    unit = "samples" if record.trace[-1].work.samples > 0 else "steps"
    return read(record.trace, attrgetter(f"work.{unit}"))


def _scoring(level: Target | None, by: str, runs: Sequence[Run]) -> Callable[[Run, str], float]:
    """Return the function that scores a run."""
    if level or by == END:
        return last
    return partial(average, horizon=max((_effort(r)[-1] for r in runs if r.trace), default=0.0))


def _finished(records: Iterable[Run]) -> tuple[Run, ...]:
    return tuple(record for record in records if record.stop.status is not RunStatus.MISSING)


def untunable(solver: str, problem: str, metric: str) -> UsageError:
    """Return the error for several trials on a problem without the validation metric."""
    return UsageError(
        f"{solver} cannot be tuned on {problem}: its judge does not report {metric!r}; give the "
        "problem a validation part, or one value for each parameter"
    )


def _entry(
    records: Sequence[Run], seeds: tuple[int, ...], level: Target | None, by: str
) -> SolverResult:
    facts, solver = records[0].problem, records[0].solver.label
    if len({tuple(sorted(r.solver.tuned)) for r in records}) > 1:
        raise UsageError(
            f"trials of {solver!r} on {facts.label!r} tune different parameters: compare them one "
            "at a time, or give them labels of their own"
        )
    groups = grouped(records, lambda r: canonical(r.solver.tuned))
    runs = {tuned: _by_seed(group) for tuned, group in groups.items()}
    shared = set.intersection(*map(set, runs.values())) if len(runs) > 1 else ()
    tuned_on = tuple(sorted(shared)) or seeds
    tried = [tuple(own[seed] for seed in tuned_on if seed in own) for own in runs.values()]
    compared = [run for own in tried for run in own]
    score = (lambda *_: math.nan) if len(tried) == 1 else _scoring(level, by, compared)
    trials = tuple(
        sorted((_trial(own, len(tuned_on), score) for own in tried), key=lambda t: _order(t.tuned))
    )
    best, unkept = _best_at(level, trials) if level else (_best(trials), "")
    of_best = runs[canonical(best.tuned)]
    chosen = tuple(of_best[seed] for seed in sorted(of_best))
    if unkept:
        chosen = tuple(replace(r, stop=Termination(RunStatus.REFUSED, unkept)) for r in chosen)
    problem = f"{facts.label}, {level}" if level else facts.label
    return SolverResult(problem, solver, best.tuned, chosen, trials, seeds, level, tuned_on, by)


def _best_at(level: Target, trials: Sequence[Trial]) -> tuple[Trial, str]:
    """Return the best trial that keeps a level, or the nearest one and why none does."""
    if all(any(not record.ok for record in trial.records) for trial in trials):
        return _best(trials), ""
    ends = [_end(trial, level.metric) for trial in trials]
    keeping = [trial for trial, end in zip(trials, ends, strict=True) if end <= level.value]
    if keeping:
        return _best(keeping), ""
    nearest = trials[ends.index(min(ends))]
    marks = [record.trace[-1] for record in nearest.records if record.trace]
    if marks and level.metric not in marks[0].metrics:
        known = ", ".join(marks[0].metrics)
        return nearest, f"its judge does not report {level.metric!r}; it reports {known}"
    return nearest, f"no trial keeps {level}: the nearest ends at {min(ends):.4g}"


def _end(trial: Trial, metric: str) -> float:
    """Return the mean of the final values of a metric; infinite if one is missing."""
    mean = float(np.mean([last(record, metric) for record in trial.records]))
    return math.inf if math.isnan(mean) else mean


def _trial(runs: tuple[Run, ...], planned: int, score_of: Callable[[Run, str], float]) -> Trial:
    tuned = runs[0].solver.tuned
    if len(runs) < planned:
        return Trial(tuned, math.inf, runs)
    scores = tuple(score_of(r, r.problem.tuned_by) for r in runs)
    return Trial(tuned, float(np.mean(scores)), runs, scores)


def _by_seed(records: Sequence[Run]) -> dict[int, Run]:
    runs: dict[int, Run] = {}
    for record in records:
        other = runs.setdefault(record.seed, record)
        if other.key != record.key:
            raise UsageError(
                f"two different cells are both called {record.label!r} ({other.key[:12]} and "
                f"{record.key[:12]}): compare them one at a time, or give them labels of their own"
            )
    return runs


def _best(trials: Sequence[Trial]) -> Trial:
    if len(trials) == 1:
        return trials[0]
    if unmeasured := [trial for trial in trials if math.isnan(trial.score)]:
        record = unmeasured[0].records[0]
        raise untunable(record.solver.label, record.problem.label, record.problem.tuned_by)

    def rank(trial: Trial) -> tuple[float, bool, int]:
        refused = any(record.stop.status is RunStatus.REFUSED for record in trial.records)
        return trial.score, refused, -sum(record.ok for record in trial.records)

    return min(trials, key=rank)


def _order(tuned: Mapping[str, Any]) -> list[tuple[bool, Any]]:
    """Return the key that orders trials: numbers come before texts."""
    values = [tuned[name] for name in sorted(tuned)]
    return [(False, v) if isinstance(v, (int, float)) else (True, str(v)) for v in values]
