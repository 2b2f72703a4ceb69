"""What the page says of problems: their tables, who failed or took no part, and single runs."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from orthobench.decide.wording import MARKS
from orthobench.report import caveats
from orthobench.report.plots.labels import axis_label
from orthobench.report.rows import Row
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COSTS
from orthobench.stats.values import others_cost
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import (
    assignments,
    budget_text,
    clean,
    count,
    metric_text,
    number,
    plural,
    si,
)

HEAD = {
    "family": "family", "problem": "problem", "solver": "solver", "chosen": "chosen",
    "mark": "mark", "median": "median", "low": "low", "high": "high",
    "interval_low": "95 % from", "interval_high": "95 % to", "runs": "runs", "failed": "failed",
    "success": "success",
    "trials": "trials", "steps": "steps", "samples": "samples", "flops": "flops",
    "seconds": "seconds", "total_flops": "flops, all trials",
}  # fmt: skip
"""The first columns of all numbers: names in a CSV file, and titles."""

FEW = ("problem", "solver", "mark", "median", "interval_low", "interval_high", "seconds", "failed")
"""The columns that are shown at first, and the family where there are several."""

TEXTS = 5
"""So many of the first columns are no numbers."""

COST_FORMATS: Mapping[str, Callable[[float], str]] = {
    "steps": count, "samples": count, "flops": si, "seconds": number,
}  # fmt: skip
"""The columns of costs, and the functions that format them."""

SEED = "\0"
"""The place of the seed in a command, while it is made."""

KEPT = ("threads", "target", "levels")
"""What a suite says of all its runs, besides their budget."""


def problem_section(
    anchor: str, entries: Sequence[SolverResult], rows: Sequence[Row], plots: range
) -> dict[str, Any]:
    """Return what the template says of one problem.

    Parameters
    ----------
    anchor : str
        The anchor of its section.
    entries : sequence of SolverResult
    rows : sequence of Row
        Of those that take part, as decided.
    plots : range
        Indices into the plots of the page.
    """
    first, info = entries[0], entries[0].problem_info
    facts = (
        clean(info.family), f"final {axis_label(info.primary)}, smaller is better",
        plural(len(first.seeds), "seed"), budget_text(first.records[0].budget),
    )  # fmt: skip
    drawn = all(row.median_of(COSTS["samples"]) != 0 for row in rows)
    return {
        "id": anchor,
        "label": first.problem,
        "entries": entries,
        "rows": rows,
        "plots": plots,
        "facts": tuple(filter(None, facts)),
        "effort": "samples" if drawn else "steps",
        "notes": caveats.notes([row.result for row in rows], entries),
        "waiting": not rows and any(not entry.refused for entry in entries),
        "partial": any(row.summary.n_missing for row in rows),
        "absent": [entry.solver for entry in entries if entry.refused],
    }


def failures(results: Results, rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return all runs that count as failed, by what they have in common, with their ``seeds``.

    Parameters that tuning did not choose are among them; ``chosen`` says whether it did.

    Parameters
    ----------
    results : Results
    rows : iterable of Row
        Those that take part.
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for run in results.failures:
        names = (run.problem.label, run.solver.label, assignments(run.solver.tuned))
        ending = (run.key in results.reported_keys, run.stop.status.value, clean(run.stop.reason))
        found.setdefault((*names, *ending), []).append(run.seed)
    listed = {run.key for run in results.failures}
    for row in rows:
        entry = row.result
        names = (entry.problem, entry.solver, assignments(entry.best_parameters))
        seeds = {run.seed for run in entry.records if run.key in listed}
        for failure in row.summary.failures:
            if failure["seed"] not in seeds:  # its run ended without the metric
                ending = (True, failure["status"], clean(failure["reason"]))
                found.setdefault((*names, *ending), []).append(failure["seed"])
    columns = ("problem", "solver", "tuned", "chosen", "status", "reason")
    return [{**dict(zip(columns, one, strict=True)), "seeds": own} for one, own in found.items()]


def refusals(entries: Sequence[SolverResult]) -> Mapping[tuple[str, tuple[str, ...]], list[str]]:
    """Return the solvers that take no part, by the reason and the problems that they share."""
    refused = grouped((e for e in entries if e.refused), lambda e: (clean(e.refusal), e.solver))
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, solver), own in refused.items():
        problems = tuple(dict.fromkeys(entry.problem for entry in own))
        found.setdefault((reason, problems), []).append(solver)
    return found


def ranges(seeds: Iterable[int]) -> str:
    """Return seeds as ``0-3, 7``."""
    spans = grouped(enumerate(sorted(set(seeds))), lambda pair: pair[1] - pair[0]).values()
    return ", ".join(
        f"{own[0][1]}-{own[-1][1]}" if len(own) > 1 else str(own[0][1]) for own in spans
    )


def all_numbers(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the table of all solvers that take part, problem by problem.

    It has titles by the names of ``columns``, ``rows`` of pairs of text and exact value, which is
    empty where it is the text, and ``filters``: title, index and texts of columns to filter by.
    """
    values = [row.metrics for row in rows]
    metrics = dict.fromkeys(name for own in values for name in own)
    titles = {clean(name): clean(name.replace("_", " ")) for name in metrics}
    cells = [
        _cells(row, {name: own.get(name, math.nan) for name in metrics})
        for row, own in zip(rows, values, strict=True)
    ]
    columns = {**HEAD, **titles, "parameters": "all parameters"}
    filters = [
        (title, i, list(dict.fromkeys(row[i][0] for row in cells)))
        for i, title in enumerate([*columns.values()][:3])
    ]
    return {"columns": columns, "rows": cells, "filters": filters}


def _cells(row: Row, metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    entry, summary = row.result, row.summary
    first = entry.records[0]
    names = (first.problem.family, entry.problem, entry.solver, assignments(entry.best_parameters))
    values = (
        summary.median, summary.low, summary.high, *summary.interval,
        len(entry.seeds), summary.n_failed, row.decision.success, len(entry.trials),
    )  # fmt: skip
    return [
        *((clean(name), "") for name in names),
        (f"{MARKS[row.mark][0]} {row.mark}" if row.mark else "", ""),
        *map(_number, values),
        *(_number(row.median_of(COSTS[name]), text) for name, text in COST_FORMATS.items()),
        _number(row.median_of(COSTS["flops"]) + others_cost(entry, COSTS["flops"]), si),
        *(_number(value, partial(metric_text, name)) for name, value in metrics.items()),
        (assignments(first.solver.parameters), ""),
    ]


def _number(value: float, text: Callable[[float], str] = number) -> tuple[str, str]:
    if math.isnan(value):
        return "", ""
    shown, exact = text(value), f"{value:.6g}"
    return shown, "" if shown == exact else exact


def entry_runs(entry: SolverResult, suite: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runs of one solver on one problem that its curve summarizes.

    Parameters
    ----------
    entry : SolverResult
    suite : mapping
        The tables of the suite; none if it was given as Python objects.
    """
    records = [record for record in entry.finished if len(record.trace)]
    return {
        "about": assignments(records[0].solver.parameters) if records else "",
        "command": _command(records[0], suite) if records else (),
        "runs": [
            (r.seed, clean(f"{r.stop.status.value}: {r.stop.reason}"), _load(r)) for r in records
        ],
    }


def _load(record: Run) -> str:
    """Return the load of each core before and after a run; empty where it is not known."""
    shares = [one.average / one.processors for one in record.load or () if one.average is not None]
    return f"{shares[0]:.2f}, {shares[1]:.2f}" if len(shares) == 2 else ""


def _command(record: Run, suite: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the command that runs a record's cell alone, split where its seed goes."""
    only = {
        **{key: suite[key] for key in KEPT if key in suite},
        **({"measure": record.measure} if record.measure else {}),
        "budget": dict(record.budget),
        "problem": [{"name": record.problem.name, **record.problem.parameters}],
        "solver": [{"name": record.solver.name, **record.solver.parameters}],
    }
    suite_of_one = f'{{"seeds": [{SEED}], {_literal(only)[1:]}'
    imports = "from pathlib import Path; import orthobench as ob"
    text = f'{imports}; ob.run({suite_of_one}, Path("alone.sqlite"))'
    return tuple(f"python -c {shlex.quote(text)}".split(SEED))


def _literal(value: Any) -> str:
    """Return a value as Python writes it, with double quotes: the command has single ones."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
