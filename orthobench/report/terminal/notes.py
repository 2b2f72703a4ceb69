"""What stands below a table: what its marks mean, how parameters were chosen, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orthobench.record import Record
from orthobench.report.ranking import Ranked
from orthobench.report.words import clean, short
from orthobench.stopping import Ending
from orthobench.tuning import Entry


def mark(ranked: Ranked) -> str:
    """Return what a row is marked as: best, failed, close, or nothing."""
    if ranked.best:
        return "best"
    return "failed" if ranked.summary.n_failed else "close" if ranked.close else ""


def symbols(ascii_only: bool) -> Mapping[str, str]:
    """Return the symbol of each mark."""
    best, close, failed = ("*", "~", "x") if ascii_only else ("★", "≈", "✗")
    return {"": "", "best": best, "close": close, "failed": failed}


def legend(ranked: Sequence[Ranked], ascii_only: bool) -> list[str]:
    """Return what the marks of a table mean, those that it has."""
    seen, shown = {mark(r) for r in ranked}, symbols(ascii_only)
    meanings = {
        "best": "smallest median, of equal ones the fastest; no run failed",
        "close": "the median difference from it may be zero (95 % interval)",
        "failed": "runs failed; each counts as infinite",
    }
    told = [f"{shown[name]} {text}" for name, text in meanings.items() if name in seen]
    return ["   ".join(told)] if told else []


def tuning(ranked: Sequence[Ranked]) -> list[str]:
    """Return how parameters were chosen, and which ended at the edge of their grid."""
    tuned = [r.entry for r in ranked if len(r.entry.trials) > 1]
    if not tuned:
        return []
    sizes = sorted({len(entry.trials) for entry in tuned})
    trials = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    notes = [f"tuned on {tuned[0].records[0].tuned_by}, {trials} trials for each solver"]
    return notes + [text for entry in tuned for text in _edges(entry)]


def _edges(entry: Entry) -> list[str]:
    notes: list[str] = []
    for name, value in entry.chosen.items():
        values = {trial.tuned[name] for trial in entry.trials}
        if len(values) < 2 or not all(isinstance(v, (int, float)) for v in values):
            continue
        which = {min(values): "smallest", max(values): "largest"}.get(value)
        if which:
            notes.append(
                f"{clean(entry.solver)}: {name}={short(value)} is the {which} tried; "
                "a better one may lie beyond"
            )
    return notes


def refusal(entry: Entry) -> str:
    """Return why a solver takes no part."""
    return f"{clean(entry.solver)} takes no part: {clean(entry.records[0].reason)}"


def failures(ranked: Sequence[Ranked]) -> list[str]:
    """Return what failed, a line for each solver and reason."""
    lines: list[str] = []
    for r in ranked:
        for reason, seeds in r.summary.reasons.items():
            listed = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
            which = "all seeds" if 1 < len(seeds) == len(r.entry.seeds) else listed
            lines.append(f"{clean(r.entry.solver)}: {clean(reason)} ({which})")
        lines += _failures_not_chosen(r.entry)
    return lines


def failures_before_refusal(entries: Sequence[Entry]) -> list[str]:
    """Return what failed of solvers that take no part because no trial keeps the level."""
    failed = [entry for entry in entries if entry.refused and entry.level is not None]
    return [line for entry in failed for line in _failures_not_chosen(entry)]


def _failures_not_chosen(entry: Entry) -> list[str]:
    """Return what failed in trials that tuning did not choose, a line for each status."""
    by_status: dict[str, list[Record]] = {}
    for trial in entry.trials:
        for record in trial.records if trial.tuned != entry.chosen else ():
            if record.status.failed and not (entry.refused and record.status is Ending.REFUSED):
                by_status.setdefault(record.status.value, []).append(record)
    lines: list[str] = []
    for status, records in by_status.items():
        runs = f"{len(records)} run{'s' * (len(records) > 1)}"
        values = dict.fromkeys(f"{n}={short(v)}" for r in records for n, v in r.tuned.items())
        lines.append(
            f"{clean(entry.solver)}, not chosen {clean(' '.join(values))}: {status}: "
            f"{clean(records[0].reason)} ({runs})"
        )
    return lines
