"""Footnotes of a table in the terminal: who takes no part, and what failed."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.harness.stopping import RunStatus
from orthobench.report.formatting import assignments, clean, listed, plural
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.summaries import Summary
from orthobench.tools.collections import grouped

INDENT = 2
"""Characters before a footnote."""


def refusals(entries: Sequence[SolverResult]) -> list[str]:
    """Return which solvers take no part and why, a line for each reason."""
    refused = grouped((e for e in entries if e.refused), lambda e: clean(e.refusal))
    names = {reason: [clean(e.solver) for e in group] for reason, group in refused.items()}
    return [
        f"{listed(solvers, len(solvers))} take{'s' * (len(solvers) == 1)} no part: {reason}"
        for reason, solvers in names.items()
    ]


def failures(results: Sequence[tuple[SolverResult, Summary]]) -> list[str]:
    """Return the failed runs, a line for each solver and reason."""
    lines: list[str] = []
    for entry, summary in results:
        for reason, seeds in summary.reasons.items():
            names = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
            which = "all seeds" if 1 < len(seeds) == len(entry.finished) else names
            lines.append(f"{clean(entry.solver)}: {clean(reason)} ({which})")
        lines += _failures_not_chosen(entry)
    return lines


def failures_before_refusal(entries: Sequence[SolverResult]) -> list[str]:
    """Return the failed runs of solvers that take no part, from trials before their refusal."""
    return [line for entry in entries if entry.refused for line in _failures_not_chosen(entry)]


def _failures_not_chosen(entry: SolverResult) -> list[str]:
    """Return the failed runs of trials that tuning did not choose, a line for each status."""
    by_status: dict[str, list[Run]] = {}
    for trial in entry.trials:
        for record in trial.records if trial.tuned != entry.best_parameters else ():
            ending = record.stop.status
            if record.failed or (ending is RunStatus.REFUSED and not entry.refused):
                by_status.setdefault(ending.value, []).append(record)
    lines: list[str] = []
    for status, records in by_status.items():
        values = dict.fromkeys(
            assignments({n: v}) for r in records for n, v in r.solver.tuned.items()
        )
        lines.append(
            f"{clean(entry.solver)}, not chosen {' '.join(values)}: {status}: "
            f"{clean(records[0].stop.reason)} ({plural(len(records), 'run')})"
        )
    return lines
