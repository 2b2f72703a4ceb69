"""The content of a page as plain data, which the template only lays out."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from orthobench.contract.panel import Plot
from orthobench.report.answers import REACHED, Answer, answers
from orthobench.report.families import Family, conclusions
from orthobench.report.formatting import clean, plural
from orthobench.report.page.failures import (
    FailureGroup,
    RefusalGroup,
    failure_groups,
    refusal_groups,
)
from orthobench.report.page.families import FamilySection, family_section
from orthobench.report.page.galleries import Gallery, galleries
from orthobench.report.page.plot_data import PlotData, plot_data
from orthobench.report.page.problems import ProblemSection, problem_section
from orthobench.report.page.runs import EntryRuns, entry_runs
from orthobench.report.page.styles import BrowserStyle, browser_styles
from orthobench.report.page.table import Table, table
from orthobench.report.plots.collection import comparison_plots, exhibit_plots, problem_plots
from orthobench.report.plots.exhibits import Exhibition, exhibitions
from orthobench.report.plots.pareto import pareto_name
from orthobench.report.plots.sweeps import Pair, Sweep, break_evens
from orthobench.report.ranking import Ranked, rank
from orthobench.report.style import solver_styles
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult
from orthobench.stats.targets import RunMatrix, run_matrix
from orthobench.tools import toml
from orthobench.tools.collections import grouped

MOST_PAIRS = 3000
"""The most comparisons in the tables of one page; with more, there are only sentences."""

DRAWN = 2_700_000
"""The most characters of plot data and images in one page."""


@dataclass(frozen=True)
class Provenance:
    """The origin of the results.

    Attributes
    ----------
    facts : tuple of (str, str)
        Names and values: command, times, machine, versions.
    suite : str
        The suite as TOML.
    version : str
        The version of orthobench.
    """

    facts: tuple[tuple[str, str], ...]
    suite: str
    version: str


@dataclass(frozen=True)
class Page:
    """The content of a page.

    Attributes
    ----------
    suite, description, date : str
    counts : tuple of str
        The numbers of problems, solvers, seeds and runs, and how many runs are to come.
    failed_runs : int
    families : tuple of FamilySection
    failures : tuple of FailureGroup
    refusals : tuple of RefusalGroup
    problems : tuple of ProblemSection
    plots : tuple of Plot
        All plots of the page.
    comparison_plots : tuple of int
        The indices of those over all problems; sections of problems and families have the others.
    break_evens : tuple of (Sweep, list of Pair)
        Solvers at several places.
    table : Table
    provenance : Provenance
    styles : mapping
        The style of each solver.
    plot_data : PlotData
    galleries : mapping
        The images of each problem that exhibits any, by its label.
    """

    suite: str
    description: str
    date: str
    counts: tuple[str, ...]
    failed_runs: int
    families: tuple[FamilySection, ...]
    failures: tuple[FailureGroup, ...]
    refusals: tuple[RefusalGroup, ...]
    problems: tuple[ProblemSection, ...]
    plots: tuple[Plot, ...]
    comparison_plots: tuple[int, ...]
    break_evens: tuple[tuple[Sweep, list[Pair]], ...]
    table: Table
    provenance: Provenance
    styles: Mapping[str, BrowserStyle]
    plot_data: PlotData
    galleries: Mapping[str, Gallery]

    @property
    def file(self) -> str:
        """The file name of the suite."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.suite).strip("-.") + ".toml"

    @property
    def reached(self) -> str:
        """The part of the gap that may be left at the target of costs."""
        return f"{100 * REACHED:g} %"


def page_content(
    results: Results,
    ranked: Sequence[Ranked] | None = None,
    families: Sequence[Family] | None = None,
) -> Page:
    """Return the content of the page about some results.

    Parameters
    ----------
    results : Results
    ranked : sequence of Ranked, optional
        The ranked entries, if they are there already.
    families : sequence of Family, optional
        The conclusions about each family, if they are there already.
    """
    entries, session = results.entries, results.session()
    ranking = rank(entries) if ranked is None else ranked
    families = conclusions(ranking) if families is None else families
    ranked = [one for one in ranking if one.entry.takes_part]
    shown = exhibitions(entries, results.exhibits)
    problems, own_plots = _problems(entries, ranked, families, shown)
    runs = {name: run_matrix(group) for name, group in _by_family(entries).items()}
    plots = (*own_plots, *comparison_plots(entries, families, runs))
    named = {plot.name: number for number, plot in enumerate(plots)}
    styles = browser_styles(solver_styles(entry.solver for entry in entries))
    data = plot_data(plots, styles, _runs(entries, problems, plots, session["text"]))
    failures = failure_groups(results, ranked)
    ids = {problem.label: problem.id for problem in problems}
    return Page(
        suite=clean(results.suite),
        description=clean(_description(session["text"])),
        date=_date(session),
        counts=_counts(results, len(problems)),
        failed_runs=sum(group.runs for group in failures),
        families=tuple(
            family_section(
                family,
                entries,
                ranked,
                ids,
                _answers(family.name, entries, ranked, runs),
                named.get(pareto_name(family.name)),
            )
            for family in families
        ),
        failures=failures,
        refusals=refusal_groups(entries),
        problems=problems,
        plots=plots,
        comparison_plots=tuple(
            number
            for number, plot in enumerate(plots)
            if number >= len(own_plots) and plot.kind != "pareto"
        ),
        break_evens=tuple(break_evens(entries)),
        table=table(ranked),
        provenance=_provenance(results, session),
        styles=styles,
        plot_data=data,
        galleries=galleries(shown, DRAWN - len(data.data)),
    )


def _by_family(entries: Sequence[SolverResult]) -> dict[str, list[SolverResult]]:
    return grouped(entries, lambda entry: entry.problem_info.family)


def _answers(
    family: str,
    entries: Sequence[SolverResult],
    ranked: Sequence[Ranked],
    runs: Mapping[str, RunMatrix],
) -> list[Answer]:
    """Return the answers of one family."""
    own = [r for r in ranked if r.entry.problem_info.family == family]
    return answers(_by_family(entries)[family], own, runs[family])


def _problems(
    entries: Sequence[SolverResult],
    ranked: Sequence[Ranked],
    families: Sequence[Family],
    exhibitions: Sequence[Exhibition],
) -> tuple[tuple[ProblemSection, ...], list[Plot]]:
    """Return the sections about problems, and their plots in one list."""
    groups = grouped(entries, lambda entry: entry.problem)
    rankings = grouped(ranked, lambda r: r.entry.problem)
    pairs = sum(len(c) for family in families for c in family.comparisons.values())
    paired = pairs <= MOST_PAIRS
    by_name = {family.name: family for family in families}
    curves = {one.problem: exhibit_plots([one]) for one in exhibitions}
    plots: list[Plot] = []
    sections: list[ProblemSection] = []
    for index, (name, group) in enumerate(groups.items()):
        ranking = rankings.get(name, [])
        own = [*problem_plots(group), *curves.get(name, [])] if ranking else []
        indices = range(len(plots), len(plots) + len(own))
        family = by_name.get(group[0].problem_info.family)
        sections.append(problem_section(index, group, ranking, family, indices, paired))
        plots += own
    return tuple(sections), plots


def _runs(
    entries: Sequence[SolverResult],
    problems: Sequence[ProblemSection],
    plots: Sequence[Plot],
    suite: str,
) -> dict[int, dict[str, EntryRuns]]:
    """Return the runs of each solver on each problem, by the index of the plot of its curves."""
    groups = grouped(entries, lambda entry: entry.problem)
    return {
        number: {
            entry.solver: entry_runs(entry, suite)
            for entry in groups[problem.label]
            if entry.takes_part
        }
        for problem in problems
        for number in problem.plots
        if plots[number].kind == "convergence"
    }


def _counts(results: Results, problems: int) -> tuple[str, ...]:
    """Return the numbers of problems, solvers, seeds and runs.

    A problem counts once for each level; a cell that its solver refused is not a run.
    """
    records = results.records
    planned = len(records) - len(results.refused)
    ran = planned - len(results.missing)
    return (
        plural(problems, "problem"),
        plural(len({record.solver.label for record in records}), "solver"),
        plural(len({record.seed for record in records}), "seed"),
        f"{ran:,} of {plural(planned, 'run')}" if ran < planned else plural(planned, "run"),
        *([f"{len(results.missing):,} not run yet"] if results.missing else []),
    )


def _date(session: Mapping[str, Any]) -> str:
    """Return the start of the session, to the minute, in UTC."""
    return str(session["started"])[:16].replace("T", " ") + " UTC"


def _description(suite: str) -> str:
    """Return the description in the TOML of a suite, empty where there is none."""
    try:
        return str(toml.loads(suite).get("description", ""))
    except tomllib.TOMLDecodeError:
        return ""


def _provenance(results: Results, session: Mapping[str, Any]) -> Provenance:
    ran_on = session["environment"]
    version = clean(str(ran_on.get("orthobench", "")))
    facts = {
        "command": _command(session["command"]),
        "started": session["started"],
        "ended": session["ended"] or "cut off before its end",
        "store": results.path.name,
        "processor": f"{ran_on['cpu']}, {ran_on.get('cores')} cores" if "cpu" in ran_on else "",
        "system": ran_on.get("platform"),
        "executor": ", ".join(f"{k} {v}" for k, v in (ran_on.get("run") or {}).items() if v),
        "BLAS": "; ".join(map(_blas, ran_on.get("blas") or [])),
        "orthobench": version,
        **{name: text for name, text in results.versions.items() if name != "orthobench"},
        "Python": ran_on.get("python"),
        **(ran_on.get("packages") or {}),
        "git": _git(ran_on.get("git")),
    }
    known = tuple((name, clean(str(value))) for name, value in facts.items() if value)
    return Provenance(known, session["text"].strip(), version)


def _command(command: str) -> str:
    """Return the command as a user types it: without the folder of its program."""
    try:
        words = shlex.split(command)
    except ValueError:  # not as `shlex.join` writes it
        return command
    if not words:
        return ""
    program = PurePath(words[0]).name
    module = program == "__main__.py"
    return shlex.join([*(["python", "-m", "orthobench"] if module else [program]), *words[1:]])


def _blas(pool: Mapping[str, Any]) -> str:
    parts = (pool.get("internal_api"), pool.get("version"), pool.get("architecture"))
    named = " ".join(str(part) for part in parts if part)
    threads = pool.get("num_threads")
    if not threads or not isinstance(threads, int):
        return named
    return f"{named}, {plural(threads, 'thread')}"


def _git(state: Mapping[str, Any] | None) -> str:
    if not state:
        return ""
    changed = ", with changes not committed" if state.get("dirty") else ""
    return f"{state.get('commit')}{changed}"
