"""Caveats of a ranking: how its parameters were chosen, and which traces are made of re-runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orthobench.report.formatting import assignments, clean, listed
from orthobench.report.ranking import Ranked
from orthobench.results.tuning import Entry


def tuning(ranked: Sequence[Ranked]) -> list[str]:
    """Return how parameters were chosen, and which chosen values are at the edge of their grid.

    Parameters
    ----------
    ranked : sequence of Ranked
        The ranked entries of one problem.
    """
    tuned = [r.entry for r in ranked if len(r.entry.trials) > 1]
    if not tuned:
        return []
    sizes = sorted({len(entry.trials) for entry in tuned})
    trials = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    by = clean(tuned[0].facts.tuned_by.replace("_", " "))
    first = f"parameters were chosen by {by}, from {trials} trials of each solver{_seeds(tuned)}"
    return [first, *(caveat for entry in tuned for caveat in _edges(entry))]


def _seeds(tuned: Sequence[Entry]) -> str:
    """Return on how many seeds trials were compared, where not on all."""
    counts = sorted({len(entry.tuned_on) for entry in tuned})
    if counts[-1] == len(tuned[0].seeds) == counts[0]:
        return ""
    return f" on {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} of the seeds"


def reruns(ranked: Sequence[Ranked]) -> list[str]:
    """Return the solvers whose library has no steps, so that each point of a trace is its own run.

    Parameters
    ----------
    ranked : sequence of Ranked
        The ranked entries of one problem.
    """
    names = [clean(r.entry.solver) for r in ranked if r.entry.records[0].solver.reruns]
    if not names:
        return []
    what = "re-run with growing budgets, for want of single steps; each point shows its own run"
    return [f"{what}: {listed(names, len(names))}"]


def _edges(entry: Entry) -> Iterator[str]:
    """Yield a caveat for each chosen value that is the smallest or largest one tried."""
    for name, value in entry.chosen.items():
        tried = {trial.tuned[name] for trial in entry.trials}
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in tried)
        if len(tried) < 2 or not numbers:
            continue
        end = {min(tried): "smallest", max(tried): "largest"}.get(value)
        if end:
            what = f"{clean(entry.solver)}: {assignments({name: value})}"
            yield f"{what} is the {end} tried; a better one may lie beyond"
