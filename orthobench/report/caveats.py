"""Caveats of a ranking: how parameters were chosen, which runs failed, and what is odd."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from orthobench.harness.judging import OPTIMAL
from orthobench.harness.stopping import DEFAULT_SECONDS, RunStatus
from orthobench.report.rows import Row
from orthobench.results.tuning import SolverResult, slice_of
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import assignments, clean, listed, plural


def notes(part: Sequence[SolverResult], entries: Sequence[SolverResult]) -> list[str]:
    """Return all notes about one problem."""
    return [
        *tuning(part),
        *_named("run anew for each point, for want of single steps",
                [e.solver for e in part if e.records[0].solver.reruns]),
        *_named("says that it converged, and has not",
                [e.solver for e in part
                 if any(r.stop.status is RunStatus.NOT_STATIONARY for r in e.records)]),
        *missing(entries), *cut(entries), *conduct(entries), *busy(entries), *measured(entries),
    ]  # fmt: skip


def troubles(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line about solvers that never ran, then one for each reason on each problem."""
    solvers = grouped((row.result for row in rows), lambda r: r.solver)
    absent = {name: own for name, own in solvers.items() if not any(r.takes_part for r in own)}
    why = grouped(absent, lambda name: clean(absent[name][0].refusal) or "not run yet")
    if absent:
        texts = (f"{_joined(own)} ({reason})" for reason, own in why.items())
        yield f"{plural(len(absent), 'solver')} did not run: {'; '.join(texts)}"
    for problem, own in grouped(rows, lambda row: row.result.problem).items():
        results = [row.result for row in own]
        others = [r for r in results if r.solver not in absent]
        failed = (line for row in own for line in failures(row))
        lines = [*refusals(others), *failed, *cut(results), *conduct(results)]
        yield from (f"{clean(problem)}: {line}" for line in dict.fromkeys(lines))


def refusals(entries: Sequence[SolverResult]) -> list[str]:
    """Return the refusing solvers, a line for each reason."""
    refused = grouped((e for e in entries if e.refused), lambda e: clean(e.refusal))
    return [
        f"{_joined([e.solver for e in group])} take{'s' * (len(group) == 1)} no part: {reason}"
        for reason, group in refused.items()
    ]


def failures(row: Row) -> Iterator[str]:
    """Yield the failed runs of a solver, a line for each reason; those of other trials last."""
    result, name = row.result, clean(row.result.solver)
    for reason, seeds in row.summary.reasons.items():
        names = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
        which = "all seeds" if 1 < len(seeds) == len(result.finished) else names
        yield f"{name}: {clean(reason)} ({which})"
    others = (
        run
        for trial in result.trials
        if trial.tuned != result.best_parameters
        for run in trial.records
        if run.failed or (run.stop.status is RunStatus.REFUSED and not result.refused)
    )
    for status, own in grouped(others, lambda run: run.stop.status.value).items():
        reason = clean(own[0].stop.reason)
        yield f"{name}, not chosen: {status}: {reason} ({plural(len(own), 'run')})"


def tuning(entries: Sequence[SolverResult]) -> list[str]:
    """Return how parameters were chosen, and which are at an edge."""
    tuned = [entry for entry in entries if len(entry.trials) > 1]
    if not tuned:
        return []
    most, seeds = max(len(entry.trials) for entry in tuned), len(tuned[0].tuned_on)
    by = clean(tuned[0].problem_info.tuned_by.replace("_", " "))
    when = "at the end" if tuned[0].tuned_on_final else "averaged over the run"
    some = "" if seeds == len(tuned[0].seeds) else f" on {seeds} of the seeds"
    return [
        f"parameters were chosen by {by} {when}, from up to {most} trials of each solver{some}",
        *(caveat for entry in tuned for caveat in _edges(entry)),
    ]


def _edges(entry: SolverResult) -> Iterator[str]:
    """Yield a caveat for each chosen value at an end of its grid, if scores still fall there."""
    for name, value in entry.best_parameters.items():
        curve = {t.tuned[name]: t.scores for t in slice_of(entry, name)}
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in curve)
        if len(curve) < 2 or not numbers or value not in curve:
            continue
        tried = sorted(curve)
        end = {tried[0]: "smallest", tried[-1]: "largest"}.get(value)
        beside = tried[1] if value == tried[0] else tried[-2]
        if end and _falls(curve[beside], curve[value]):
            what = f"{clean(entry.solver)}: {assignments({name: value})}"
            yield f"{what} is the {end} tried; a better one may lie beyond"


def _falls(before: Sequence[float], after: Sequence[float]) -> bool:
    """Return whether scores fall by more than twice the standard error over the seeds."""
    both = np.array([before, after])
    falls = -np.diff(both[:, np.isfinite(both).all(axis=0)], axis=0)[0]
    error = falls.std(ddof=1) / np.sqrt(len(falls)) if len(falls) > 1 else 0.0
    return bool(len(falls) and falls.mean() > 2 * error)


def missing(entries: Sequence[SolverResult]) -> list[str]:
    """Return how many runs of which solvers were not run yet."""
    planned = [e for e in entries if not e.refused]
    if planned and not any(e.finished for e in planned):
        return ["no run is finished yet"]
    parts = [
        f"{e.solver} {len(e.seeds) - len(e.finished)} of {plural(len(e.seeds), 'run')}"
        for e in planned
        if len(e.finished) < len(e.seeds)
    ]
    return _named("not run yet, and not counted", parts)


def cut(entries: Sequence[SolverResult]) -> list[str]:
    """Return the solvers with runs that a limit or the budget cut, and the number of these runs."""
    stops = [(e.solver, [r.stop for t in e.trials for r in t.records]) for e in entries]
    limits = ((solver, [s.limit for s in own if s.limit]) for solver, own in stops)
    ended = ((solver, sum(s.outlasted for s in own)) for solver, own in stops)
    return [
        *_named("cut by a limit and not counted; run again, or with a longer --timeout",
                [f"{solver} {plural(len(own), 'run')}, after {max(own):g} s"
                 for solver, own in limits if own]),
        *_named("cut in a call that outlasts the budget, with the value before it",
                [f"{solver} {plural(count, 'run')}" for solver, count in ended if count]),
    ]  # fmt: skip


def conduct(entries: Sequence[SolverResult]) -> list[str]:
    """Return faults and oddities of solvers, each with the remedy."""
    found: dict[str, dict[str, None]] = {}
    entries = [e for e in entries if e.takes_part]
    limits = [{*r.budget} for e in entries for r in e.finished]
    shared = set.intersection(*limits) if limits else set()
    for e in entries:
        own = dict.fromkeys(text for r in e.finished for text in r.stop.faults)
        if any("seconds" in r.budget for r in e.finished) and "seconds" not in shared:
            own[f"ended after {DEFAULT_SECONDS:g} s, for want of another end: give a budget"] = None
        if _no_better(e):
            own["ends worse than its start: look for a wrong sign, or a step too large"] = None
        for text in own:
            found.setdefault(text, {})[e.solver] = None
    return [f"{_joined([*names])} {text}" for text, names in found.items()]


def _no_better(entry: SolverResult) -> bool:
    name = entry.problem_info.primary
    both = [(r.trace[0].metrics, r.trace[-1].metrics)
            for r in entry.finished if r.ok and len(r.trace) > 1]  # fmt: skip
    ends = [(start[name], end[name]) for start, end in both if name in start and name in end]
    return bool(ends) and all(end > start + OPTIMAL for start, end in ends)


def _joined(names: Collection[str]) -> str:
    return listed([*map(clean, names)], len(names))


def _named(what: str, names: Collection[str]) -> list[str]:
    return [f"{what}: {_joined(names)}"] if names else []


def busy(entries: Sequence[SolverResult]) -> list[str]:
    """Return the number of runs that were timed on a busy machine; see `Load.busy`."""
    runs = [record for entry in entries if not entry.refused for record in entry.finished]
    loads = [run.load for run in runs if run.load and any(one.busy for one in run.load)]
    if not loads:
        return []
    most = max((one.average or 0.0) / one.processors for load in loads for one in load)
    what = f"timed on a busy machine, with up to {most:.1f} threads for each core"
    return [f"{what}: {len(loads)} of {plural(len(runs), 'run')}; their times may be too long"]


def measured(entries: Sequence[SolverResult]) -> list[str]:
    """Return the origin of imported runs, and what was measured beside time."""
    runs = [run for entry in entries for run in entry.finished]
    measures = dict.fromkeys(run.measure for run in runs if run.measure)
    origins = dict.fromkeys((r.imported.source, r.imported.unit) for r in runs if r.imported.unit)
    return [
        *(f"run to measure {name}, which takes time: compare no times" for name in measures),
        *(f"imported from {clean(source)}: {clean(unit)} are as that harness counted them"
          for source, unit in origins),
    ]  # fmt: skip
