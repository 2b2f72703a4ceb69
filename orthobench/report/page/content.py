"""The content of a page: results and what is decided of them, which the template lays out."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from orthobench.contract.panel import Plot
from orthobench.decide.answer import Answer, answer
from orthobench.decide.code import solve_line
from orthobench.decide.comparisons import compare_by
from orthobench.decide.rule import STRICT, TOLERANCE, Comparison, Decision
from orthobench.decide.wording import MARKS, mark, seeds_text, verdict_text
from orthobench.errors import UsageError
from orthobench.registry.plugins import catalogue
from orthobench.report import caveats
from orthobench.report.origins import origin_lines
from orthobench.report.page.galleries import galleries
from orthobench.report.page.plot_data import plot_data
from orthobench.report.plots.collection import family_plots
from orthobench.report.plots.exhibits import curves, exhibitions
from orthobench.report.plots.families import costs
from orthobench.report.plots.labels import axis_label
from orthobench.report.plots.problems import problem_plots
from orthobench.report.rows import Row, rows_by_problem, solvers_shown
from orthobench.report.style import solver_styles
from orthobench.results.results import Results
from orthobench.results.runs import IMPORTED, Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.cost_curve import cost_curve, gap_of
from orthobench.stats.costs import COSTS, cost_of
from orthobench.stats.values import final, metric_of
from orthobench.tools import toml
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import assignments, budget_text, clean, duration, number, plural

MOST_PAIRS = 20_000
"""Number of pairs of solvers from which on there is one answer."""


def page_content(results: Results) -> dict[str, Any]:
    """Return what the template shows of results; solvers have one order everywhere."""
    session, typed = results.session(), results.suite_as_typed
    by_family = grouped(results.entries, lambda entry: entry.problem_info.family)
    sections = [_family_section(name, group, typed) for name, group in by_family.items()]
    order = {(s["name"], solver): i for s in sections for i, solver in enumerate(s["solvers"])}
    entries = sorted(
        results.entries, key=lambda e: order.get((e.problem_info.family, e.solver), len(order))
    )
    comparisons = [c for s in sections for c in s["answer"].comparisons]
    exhibits = exhibitions(entries, results.exhibits)
    curves_of = {one.problem: curves(one) for one in exhibits}
    plots: list[Plot] = []
    runs: dict[int, dict[str, dict[str, Any]]] = {}
    problems: list[dict[str, Any]] = []
    groups = grouped(entries, lambda entry: entry.problem)
    rows_of = {c.problem: rows for c, rows in rows_by_problem(entries, comparisons)}
    for name, all_rows in rows_of.items():
        rows = [row for row in all_rows if row.result.takes_part]
        rows.sort(key=lambda row: groups[name].index(row.result))
        own = [*problem_plots(groups[name]), *curves_of.get(name, [])] if rows else []
        if own:
            runs[len(plots)] = problem_runs([row.result for row in rows])
        places = range(len(plots), len(plots) + len(own))
        problems.append(problem_section(f"problem-{len(problems)}", groups[name], rows, places))
        plots += own
    of_problems = len(plots)
    plots += family_plots(entries)
    styles = solver_styles(entry.solver for entry in entries)
    return {
        "suite": clean(results.suite),
        "text": session["text"].strip(),
        "description": clean(str(_suite_of(session["text"]).get("description", ""))),
        "date": str(session["started"])[:16].replace("T", " ") + " UTC",
        "counts": _counts(results, len(problems)),
        "families": sections,
        "troubles": [*caveats.troubles([row for own in rows_of.values() for row in own])],
        "failed_runs": len(results.failures),
        "problems": problems,
        "anchors": {one["label"]: one["id"] for one in problems},
        "plots": plots,
        "family_plots": range(of_problems, len(plots)),
        "provenance": _provenance(results, session),
        "styles": styles,
        "plot_data": plot_data(plots, styles, runs),
        "galleries": galleries(exhibits),
    }


def _family_section(name: str, entries: Sequence[SolverResult], suite: str) -> dict[str, Any]:
    """Return what to use in one family, under each cost and tolerance."""
    parts = entries[0].tolerance or TOLERANCE, STRICT
    tolerances = {f"{100 * part:.6g} %": part for part in parts}
    keys = list(product(costs(entries), tolerances))
    solvers = Counter(entry.problem for entry in entries)
    if sum(count**2 for count in solvers.values()) > MOST_PAIRS:
        keys = keys[:1]
    found = compare_by(entries, [(cost, tolerances[tolerance]) for cost, tolerance in keys])
    answers = {key: answer(own, suite) for key, own in zip(keys, found, strict=True)}
    first, offered = answers[keys[0]], [list(dict.fromkeys(own)) for own in zip(*keys, strict=True)]
    return {
        "name": name, "answers": answers, "answer": first, "costs": offered[0],
        "solvers": solvers_shown(first.comparisons), "tolerances": offered[1],
    }  # fmt: skip


def code(answer: Answer) -> str:
    """Return the line that makes the call on the first problem, if a solver is named."""
    good = [c for c in answer.comparisons if c.of(answer.solver).as_good]
    call = good[0].of(answer.solver).call if good else None
    if answer.use is None or call is None or answer.family == IMPORTED:
        return ""
    known = catalogue().problems.get(good[0].name)
    offers = known.item.offers if known else None
    try:
        solver = catalogue().solver(answer.use, answer.parameters, offers)
    except UsageError:  # it is not installed here
        return ""
    return solve_line(solver, call.stop)


def cell(comparison: Comparison, solver: str) -> tuple[str, str, str, str, float, str]:
    """Return a solver on a problem: mark, symbol, cost, seeds, log of cost, and meaning."""
    own, kind = comparison.of(solver), mark(comparison, solver)
    if not kind:
        return "absent", "–", "", "", 0.0, "takes no part, or was not run yet"
    costs = [d.cost for d in comparison.decisions if 0 < d.cost < math.inf]
    bar, amount = 0.0, ""
    if 0 < own.cost < math.inf:
        amount = cost_of(comparison.cost).text(own.cost)
        bar = math.log(own.cost / min(costs)) / max(math.log(max(costs) / min(costs)), 1e-9)
    return kind, MARKS[kind][0], amount, seeds_text(own), round(bar, 3), _meaning(own)


def _meaning(decision: Decision) -> str:
    text = verdict_text(decision)
    if math.isfinite(decision.difference):
        ends = f"[{100 * decision.low:.2g}, {100 * decision.high:.2g}]"
        text += f": ends {100 * decision.difference:.2g} {ends} % of the gap above the best"
    if decision.call and not decision.call.stop.own:
        text += f"; stops after {decision.call.stop}"
    if decision.more_seeds:
        text += f"; about {plural(decision.more_seeds, 'more seed')} would decide"
    return text


def problem_section(
    anchor: str, entries: Sequence[SolverResult], rows: Sequence[Row], plots: range
) -> dict[str, Any]:
    """Return the section of one problem, as the template reads it."""
    first, info = entries[0], entries[0].problem_info
    budget = first.records[0].budget
    ends = [run.trace[-1] for row in rows for run in row.result.finished if run.trace]
    used = max((end.work.samples for end in ends), default=0)
    facts = (
        clean(info.family), f"final {axis_label(info.primary)}, smaller is better",
        plural(len(first.seeds), "seed"), budget_text(budget),
        f"the longest run used {used:,.0f}" if 0 < used < budget.get("samples", 0) else "",
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
        "absent": [entry.solver for entry in entries if entry.refused],
    }


def problem_runs(entries: Sequence[SolverResult]) -> dict[str, dict[str, Any]]:
    """Return the runs of each solver: seed, end in % of the gap, value, time, end."""
    metric = entries[0].problem_info.primary
    runs = ((run, entry.level) for entry in entries for run in entry.finished)
    found = grouped(runs, lambda one: one[0].seed)
    curves = {seed: [cost_curve(*one, metric) for one in own] for seed, own in found.items()}
    gaps = {seed: gap_of([one for one in own if one]) for seed, own in curves.items()}
    return {
        entry.solver: {
            "about": assignments(entry.records[0].solver.parameters),
            "runs": [
                (r.seed, _above(r, metric, gaps[r.seed]), number(final(r, metric_of(metric))),
                 duration(r.trace[-1].seconds + r.trace[-1].readout_seconds),
                 clean(f"{r.stop.status.value}: {r.stop.reason}"))
                for r in entry.finished
                if len(r.trace)
            ],
        }
        for entry in entries
    }  # fmt: skip


def _above(run: Run, metric: str, gap: tuple[float, float]) -> str:
    start, lowest = gap
    if not start > lowest:
        return ""
    return number(100 * (final(run, metric_of(metric)) - lowest) / (start - lowest))


def _counts(results: Results, problems: int) -> tuple[str, ...]:
    records, missing = results.records, len(results.missing)
    return (
        plural(problems, "problem"),
        plural(len({record.solver.label for record in records}), "solver"),
        plural(len({record.seed for record in records}), "seed"),
        plural(len(records) - len(results.refused) - missing, "run"),
        *([f"{missing:,} not run yet"] if missing else []),
    )


def _suite_of(text: str) -> Mapping[str, Any]:
    """Return the tables in the TOML of a suite; none if it was given as Python objects."""
    try:
        return toml.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _provenance(results: Results, session: Mapping[str, Any]) -> dict[str, str]:
    ran_on = session["environment"]
    git = ran_on.get("git") or {}
    facts = {
        "command": _command(session["command"]),
        "started": session["started"],
        "ended": session["ended"] or "cut off before its end",
        "store": results.path.name,
        "processor": f"{ran_on['cpu']}, {ran_on.get('cores')} cores" if "cpu" in ran_on else "",
        "system": ran_on.get("platform"),
        "executor": _named_values(ran_on.get("run") or {}),
        "BLAS": "; ".join(map(_named_values, ran_on.get("blas") or [])),
        **results.versions,
        "orthobench": ran_on.get("orthobench"),
        "Python": ran_on.get("python"),
        **(ran_on.get("packages") or {}),
        "git": str(git.get("commit") or "")
        + ", with changes not committed" * bool(git.get("dirty")),
        **origin_lines(dict.fromkeys(run.solver.name for run in results.records)),
    }
    return {name: clean(str(value)) for name, value in facts.items() if value}


def _named_values(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items() if value)


def _command(command: str) -> str:
    return re.sub(r"^\S*/(?=\S)", "", command).replace("__main__.py", "python -m orthobench", 1)
