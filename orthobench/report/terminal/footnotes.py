"""Footnotes of a table in the terminal: what its marks mean, who takes no part, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orthobench.harness.stopping import RunStatus
from orthobench.report.formatting import assignments, clean, listed, plural
from orthobench.report.ranking import MARKS, Ranked
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.tools.collections import grouped

INDENT = 2
"""Characters before a footnote."""


def symbols(ascii_only: bool) -> Mapping[str, str]:
    """Return the symbol of each mark."""
    signs = ("*", "=", "~", "?", "x") if ascii_only else ("★", "=", "≈", "?", "✗")
    return {"": "", **dict(zip(MARKS, signs, strict=True))}


def legend(ranked: Sequence[Ranked], ascii_only: bool) -> list[str]:
    """Return what the marks in a table mean."""
    used, symbol = {r.mark for r in ranked}, symbols(ascii_only)
    parts = [f"{symbol[name]} {text}" for name, text in MARKS.items() if name in used]
    return ["   ".join(parts)] if parts else []


def hidden(titles: Sequence[str], width: int) -> str:
    """Return a line that names the columns left out, as many as fit a width."""
    for named in range(len(titles), 0, -1):
        rest = [f"{len(titles) - named} more"] if named < len(titles) else []
        line = f"no room for {', '.join([*titles[:named], *rest])}: --json has all"
        if len(line) + INDENT <= width:
            return line
    return f"{plural(len(titles), 'column')} hidden"


def refusals(entries: Sequence[SolverResult]) -> list[str]:
    """Return which solvers take no part and why, a line for each reason."""
    refused = grouped((e for e in entries if e.refused), lambda e: clean(e.refusal))
    names = {reason: [clean(e.solver) for e in group] for reason, group in refused.items()}
    return [
        f"{listed(solvers, len(solvers))} take{'s' * (len(solvers) == 1)} no part: {reason}"
        for reason, solvers in names.items()
    ]


def failures(ranked: Sequence[Ranked]) -> list[str]:
    """Return the failed runs, a line for each solver and reason."""
    lines: list[str] = []
    for r in ranked:
        for reason, seeds in r.summary.reasons.items():
            names = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
            which = "all seeds" if 1 < len(seeds) == len(r.entry.finished) else names
            lines.append(f"{clean(r.entry.solver)}: {clean(reason)} ({which})")
        lines += _failures_not_chosen(r.entry)
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
