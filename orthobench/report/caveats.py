"""Caveats of a ranking: how parameters were chosen, and what is odd about some runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from orthobench.harness.judging import OPTIMAL
from orthobench.harness.stopping import PATIENCE, RunStatus
from orthobench.results.tuning import SolverResult, Trial, slice_of
from orthobench.tools.formatting import assignments, clean, listed, plural


def notes(part: Sequence[SolverResult], entries: Sequence[SolverResult]) -> list[str]:
    """Return all that is to be known of one problem: of those that take part, and of all."""
    return [
        *tuning(part), *reruns(part), *stationarity(part),
        *missing(entries), *cut(entries), *conduct(entries), *busy(entries), *measured(entries),
        *imported(entries),
    ]  # fmt: skip


def tuning(entries: Sequence[SolverResult]) -> list[str]:
    """Return how parameters were chosen, which had no effect, and which are at a grid's edge.

    Parameters
    ----------
    entries : sequence of SolverResult
        Those of one problem that take part.
    """
    tuned = [entry for entry in entries if len(entry.trials) > 1]
    if not tuned:
        return []
    sizes = sorted({len(entry.trials) for entry in tuned})
    trials = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    by = clean(tuned[0].problem_info.tuned_by.replace("_", " "))
    when = "at the end" if tuned[0].tuned_on_final else "averaged over the run"
    tried = f"{trials} trials of each solver{_seeds(tuned)}"
    first = f"parameters were chosen by {by} {when}, from {tried}"
    idle = [
        f"{clean(e.solver)} ({', '.join(e.best_parameters)})"
        for e in tuned
        if len({trial.scores for trial in e.trials if trial.scores}) == 1
    ]
    without = [f"tuning had no effect on {listed(idle, len(idle))}"] if idle else []
    return [first, *without, *(caveat for entry in tuned for caveat in _edges(entry))]


def _seeds(tuned: Sequence[SolverResult]) -> str:
    """Return on how many seeds trials were compared, where not on all."""
    counts = sorted({len(entry.tuned_on) for entry in tuned})
    if counts[-1] == len(tuned[0].seeds) == counts[0]:
        return ""
    return f" on {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} of the seeds"


def reruns(entries: Sequence[SolverResult]) -> list[str]:
    """Return the solvers whose library has no steps, so that each point of a trace is its own run.

    Parameters
    ----------
    entries : sequence of SolverResult
        Those of one problem that take part.
    """
    names = [clean(e.solver) for e in entries if e.records[0].solver.reruns]
    return _of("run anew for each point, for want of single steps", names)


def stationarity(entries: Sequence[SolverResult]) -> list[str]:
    """Return the solvers that say that they converged although the judge finds otherwise.

    Parameters
    ----------
    entries : sequence of SolverResult
        Those of one problem that take part.
    """
    tilted = RunStatus.NOT_STATIONARY
    names = [clean(e.solver) for e in entries if any(r.stop.status is tilted for r in e.records)]
    return _of("says that it converged, and has not", names)


def missing(entries: Sequence[SolverResult]) -> list[str]:
    """Return whose runs of one problem were not run yet, and how many."""
    planned = [e for e in entries if not e.refused]
    if planned and not any(e.finished for e in planned):
        return ["no run is finished yet"]
    parts = [
        f"{clean(e.solver)} {len(e.seeds) - len(e.finished)} of {plural(len(e.seeds), 'run')}"
        for e in planned
        if len(e.finished) < len(e.seeds)
    ]
    return _of("not run yet, and not counted", parts)


def cut(entries: Sequence[SolverResult]) -> list[str]:
    """Return whose runs of one problem a limit cut, and how many."""
    limits = [
        (clean(e.solver), [r.stop.limit for t in e.trials for r in t.records if r.stop.limit])
        for e in entries
    ]
    parts = [
        f"{solver} {plural(len(own), 'run')}, after {max(own):g} s" for solver, own in limits if own
    ]
    return _of("cut by a limit and not counted; run again, or with a longer --timeout", parts)


def conduct(entries: Sequence[SolverResult]) -> list[str]:
    """Return what solvers do that they must not, or that is odd, each with the remedy."""
    found: dict[str, dict[str, None]] = {}
    entries = [e for e in entries if e.takes_part]
    limits = [{*r.budget} for e in entries for r in e.finished]
    shared = set.intersection(*limits) if limits else set()
    for e in entries:
        own = dict.fromkeys(text for r in e.finished for text in r.stop.faults)
        if any("seconds" in r.budget for r in e.finished) and "seconds" not in shared:
            own[f"ended after {PATIENCE:g} s, for want of another end: give a budget"] = None
        if _no_better(e):
            own["ends worse than its start: look for a wrong sign, or a step too large"] = None
        for text in own:
            found.setdefault(text, {})[clean(e.solver)] = None
    return [f"{listed([*names], len(names))} {text}" for text, names in found.items()]


def _no_better(entry: SolverResult) -> bool:
    """Return whether all runs of a solver end worse than they began."""
    name = entry.problem_info.primary
    ends = [(r.trace[0].metrics.get(name, 0.0), r.trace[-1].metrics.get(name, 0.0))
            for r in entry.finished if r.ok and len(r.trace) > 1]  # fmt: skip
    return bool(ends) and all(end > start + OPTIMAL for start, end in ends)


def _of(what: str, names: Sequence[str]) -> list[str]:
    """Return what is to be known of some solvers; nothing without any."""
    return [f"{what}: {listed(names, len(names))}"] if names else []


def busy(entries: Sequence[SolverResult]) -> list[str]:
    """Return how many runs of one problem were timed on a machine that was `Load.busy` around them.

    A run's own workers count as well: a thread that waits for them waits.
    """
    runs = [record for entry in entries if not entry.refused for record in entry.finished]
    timed = [record.load for record in runs if record.load]
    at_busy = [one for load in timed if any(one.busy for one in load) for one in load]
    if not at_busy:
        return []
    most = max((one.average or 0.0) / one.processors for one in at_busy)
    of = f"{len(at_busy) // 2} of {plural(len(runs), 'run')}"
    what = f"timed on a busy machine, with up to {most:.1f} threads for each core: {of}"
    return [f"{what}; their times may be too long"]


def measured(entries: Sequence[SolverResult]) -> list[str]:
    """Return that runs of one problem measured something beside time, if they did."""
    found = dict.fromkeys(r.measure for e in entries for r in e.finished if r.measure)
    return [f"run to measure {name}, which takes time: compare no times" for name in found]


def imported(entries: Sequence[SolverResult]) -> list[str]:
    """Return where the runs of one problem come from, if another harness made them."""
    known = dict.fromkeys(r.imported for e in entries for r in e.records if r.imported.unit)
    return [
        f"imported from {clean(source)}: {clean(unit)} are as that harness counted them"
        for source, unit in dict.fromkeys((one.source, one.unit) for one in known)
    ]


def _edges(entry: SolverResult) -> Iterator[str]:
    """Yield a caveat for each chosen value at an end of its grid where the curve still falls."""
    for name, value in entry.best_parameters.items():
        curve = {t.tuned[name]: t for t in slice_of(entry, name)}
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in curve)
        if len(curve) < 2 or not numbers or value not in curve:
            continue
        tried = sorted(curve)
        end = {tried[0]: "smallest", tried[-1]: "largest"}.get(value)
        beside = tried[1] if value == tried[0] else tried[-2]
        if end and _falls(curve[beside], curve[value]):
            what = f"{clean(entry.solver)}: {assignments({name: value})}"
            yield f"{what} is the {end} tried; a better one may lie beyond"


def _falls(before: Trial, after: Trial) -> bool:
    """Return whether the score falls from one trial to the next by more than its noise.

    The noise is twice the standard error of the seeds' differences. A single seed has none to
    compare with: any fall counts.
    """
    if not before.scores or not after.scores or not math.isfinite(after.score):
        return False
    falls = np.subtract(before.scores, after.scores)
    if len(falls) == 1 or not np.isfinite(falls).all():
        return before.score > after.score
    error = float(falls.std(ddof=1)) / math.sqrt(len(falls))
    return float(falls.mean()) > 2 * error
