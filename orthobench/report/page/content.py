"""All that a page says, as plain data: the template only lays it out."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from orthobench.contract.panel import Plot
from orthobench.report.findings import Family, families
from orthobench.report.page.drawings import Drawings, drawings
from orthobench.report.page.entries import Table, table
from orthobench.report.page.failed import Failed, Refused, failed, refused
from orthobench.report.page.looks import Look, looks_of
from orthobench.report.page.pictures import Gallery, galleries
from orthobench.report.page.problems import Problem, problem
from orthobench.report.page.summary import Verdict, verdict
from orthobench.report.plots.collection import across, exhibited, of_problem
from orthobench.report.plots.exhibits import Exhibition, exhibitions
from orthobench.report.ranking import Ranked, rank
from orthobench.report.style import styles
from orthobench.report.words import clean, plural
from orthobench.results.results import Results
from orthobench.results.tuning import Entry

MOST_PAIRS = 3000
"""Comparisons in one page; of more, only those with the best solver are told, in words."""

DRAWN = 2_700_000
"""Characters for the data of plots and for images in one page; the library takes 2 million more."""


@dataclass(frozen=True)
class Provenance:
    """Where the results come from.

    Attributes
    ----------
    facts : tuple of (str, str)
        What is known, by name.
    suite : str
        The suite as TOML.
    version : str
        Of orthobench.
    """

    facts: tuple[tuple[str, str], ...]
    suite: str
    version: str


@dataclass(frozen=True)
class Page:
    """All that a page says.

    Attributes
    ----------
    suite, description, date : str
    counts : tuple of str
        Problems, solvers, seeds, runs.
    failures : int
        Runs that failed or are missing.
    verdicts : tuple of Verdict
    failed : tuple of Failed
    refused : tuple of Refused
    problems : tuple of Problem
    plots : tuple of Plot
        All of the page; problems and `across` have their places.
    across : tuple of int
    table : Table
    provenance : Provenance
    looks : mapping
        How each solver looks.
    drawings : Drawings
    galleries : mapping
        The images of each problem that exhibits any, by its label.
    """

    suite: str
    description: str
    date: str
    counts: tuple[str, ...]
    failures: int
    verdicts: tuple[Verdict, ...]
    failed: tuple[Failed, ...]
    refused: tuple[Refused, ...]
    problems: tuple[Problem, ...]
    plots: tuple[Plot, ...]
    across: tuple[int, ...]
    table: Table
    provenance: Provenance
    looks: Mapping[str, Look]
    drawings: Drawings
    galleries: Mapping[str, Gallery]

    @property
    def file(self) -> str:
        """A name for the suite's file."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.suite).strip("-.") + ".toml"


def page(
    results: Results,
    ranked: Sequence[Ranked] | None = None,
    found: Sequence[Family] | None = None,
) -> Page:
    """Return all that the page of some results says.

    Parameters
    ----------
    results : Results
    ranked : sequence of Ranked, optional
        The entries, ranked, where that is done already.
    found : sequence of Family, optional
        What was found in each family, where that is known already.
    """
    entries, session = results.entries, results.session()
    ranking = rank(entries) if ranked is None else ranked
    found = families(ranking) if found is None else found
    ranked = [one for one in ranking if not one.entry.refused]
    shown = exhibitions(entries, results.exhibits)
    problems, plots = _problems(entries, ranked, found, shown)
    overall = across(entries, found)
    looks = looks_of(styles(entry.solver for entry in entries))
    everything = (*plots, *overall)
    drawn = drawings(everything, looks)
    suite = tomllib.loads(session["text"])
    fails = failed(results, ranked)
    ids = {group.label: group.id for group in problems}
    return Page(
        suite=clean(results.suite),
        description=clean(suite.get("description", "")),
        date=_date(session),
        counts=_counts(results, len(problems)),
        failures=sum(one.runs for one in fails),
        verdicts=tuple(verdict(family, entries, ranked, ids) for family in found),
        failed=fails,
        refused=refused(entries),
        problems=problems,
        plots=everything,
        across=tuple(range(len(plots), len(everything))),
        table=table(ranked),
        provenance=_provenance(results, session),
        looks=looks,
        drawings=drawn,
        galleries=galleries(shown, DRAWN - len(drawn.data)),
    )


def _problems(
    entries: Sequence[Entry],
    ranked: Sequence[Ranked],
    families_found: Sequence[Family],
    shown: Sequence[Exhibition],
) -> tuple[tuple[Problem, ...], list[Plot]]:
    """Return the problems, and their plots in one list."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.problem, []).append(entry)
    standing: dict[str, list[Ranked]] = {}
    for one in ranked:
        standing.setdefault(one.entry.problem, []).append(one)
    made = sum(len(c) for family in families_found for c in family.comparisons.values())
    paired = made <= MOST_PAIRS
    of_family = {family.name: family for family in families_found}
    pictures = {one.problem: exhibited([one]) for one in shown}
    plots: list[Plot] = []
    found: list[Problem] = []
    for number, (name, group) in enumerate(groups.items()):
        ranking = standing.get(name, [])
        own = [*of_problem(group), *pictures.get(name, [])] if ranking else []
        places = range(len(plots), len(plots) + len(own))
        family = of_family.get(group[0].facts.family)
        found.append(problem(number, group, ranking, family, places, paired))
        plots += own
    return tuple(found), plots


def _counts(results: Results, problems: int) -> tuple[str, ...]:
    """Return how many problems, solvers, seeds and runs there are.

    A problem is one at each level; a cell that its solver refused is no run.
    """
    records = results.records
    return (
        plural(problems, "problem"),
        plural(len({record.solver.label for record in records}), "solver"),
        plural(len({record.seed for record in records}), "seed"),
        plural(len(records) - len(results.refused), "run"),
    )


def _date(session: Mapping[str, Any]) -> str:
    """Return when the session began, to the minute, in UTC."""
    return str(session["started"])[:16].replace("T", " ") + " UTC"


def _provenance(results: Results, session: Mapping[str, Any]) -> Provenance:
    ran_on = session["environment"]
    version = clean(str(ran_on.get("orthobench", "")))
    facts = {
        "command": _command(session["command"]),
        "started": session["started"],
        "ended": session["ended"] or "cut off before its end",
        "store": results.path.name,
        "processor": f"{ran_on.get('cpu')}, {ran_on.get('cores')} cores",
        "system": ran_on.get("platform"),
        "executor": ", ".join(f"{k} {v}" for k, v in ran_on.get("run", {}).items() if v),
        "BLAS": "; ".join(map(_blas, ran_on.get("blas") or [])),
        "orthobench": version,
        **{name: told for name, told in results.versions.items() if name != "orthobench"},
        "Python": ran_on.get("python"),
        **(ran_on.get("packages") or {}),
        "git": _git(ran_on.get("git")),
    }
    told = tuple((name, clean(str(value))) for name, value in facts.items() if value)
    return Provenance(told, session["text"].strip(), version)


def _command(command: str) -> str:
    """Return the command as its user may have typed it: without the folder of its program."""
    words = shlex.split(command)
    if not words:
        return ""
    program = PurePath(words[0]).name
    module = program == "__main__.py"
    return shlex.join([*(["python", "-m", "orthobench"] if module else [program]), *words[1:]])


def _blas(pool: Mapping[str, Any]) -> str:
    parts = (pool.get("internal_api"), pool.get("version"), pool.get("architecture"))
    named = " ".join(str(part) for part in parts if part)
    threads = pool.get("num_threads")
    return f"{named}, {plural(threads, 'thread')}" if threads else named


def _git(state: Mapping[str, Any] | None) -> str:
    if not state:
        return ""
    return f"{state['commit']}{', with changes not committed' if state['dirty'] else ''}"
