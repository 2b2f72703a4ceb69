"""Consulting an atlas: about a family, about one of its problems, or about data of one's own."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from orthobench.atlas.advice import Advice, Usable, about, advise, hits
from orthobench.atlas.answers import costs
from orthobench.atlas.features import Features, features_of
from orthobench.atlas.regimes import LOWEST, Regime, compared, cost, within
from orthobench.atlas.table import COSTS, Atlas, AtlasRow, read, settings
from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import AnyProblem
from orthobench.errors import UsageError, unknown
from orthobench.harness.cell import instance_of
from orthobench.registry.plugins import catalogue

SHIPPED = Path(__file__).with_name("atlas.parquet")
"""The atlas that comes with the package."""

TRIED = 3
"""The most solvers that the command for checking names."""

SEEDS = 10


@dataclass(frozen=True)
class Consultation:
    """What an atlas says of a problem.

    Attributes
    ----------
    about : str
        The problem.
    family : str
        The kind of problems that answers, as `orthobench.atlas.table.kinds` calls it.
    features : Features, optional
        Those of the data, where they were measured.
    advice : tuple of Advice
        One for each regime.
    hits : tuple of (int, int, int)
        For each regime, how good the advice is on problems of the atlas that it was not made from:
        `orthobench.atlas.advice.hits`.
    check : str
        The command that checks it on the data at hand.
    instead : str
        The metric that was compared where the atlas has no problem with that of the data.
    """

    about: str
    family: str
    features: Features | None
    advice: tuple[Advice, ...]
    hits: tuple[tuple[int, int, int], ...]
    check: str
    instead: str = ""


def opened(path: Path | None) -> Atlas:
    """Return an atlas: the one that comes with the package, unless a file is named.

    Raises
    ------
    UsageError
        Where there is none, or pyarrow is not installed.
    DataError
        Where it cannot be read.
    """
    if path is None and not SHIPPED.exists():
        raise UsageError(
            "no atlas came with this installation; name one with --atlas FILE, which "
            "`orthobench atlas STORE --out DIR` makes"
        )
    return read(path or SHIPPED)


def find(atlas: Atlas, text: str) -> tuple[str, str]:
    """Return which kind of problems and problem a text names.

    The problem is empty where it names a family, or one of its kinds.

    Raises
    ------
    UsageError
        Where it names neither; suggests the nearest.
    """
    wanted = _folded(text)
    names = {name for kind, rows in atlas.kinds.items() for name in (kind, rows[0].family)}
    for name in names:
        if _folded(name) == wanted:
            return name, ""
    for kind, rows in atlas.kinds.items():
        if any(wanted in (_folded(row.name), _folded(row.problem)) for row in rows):
            return kind, text
    known = {*names, *(row.name for row in atlas.rows)}
    raise unknown("family or problem of the atlas", text, known)


def on_problem(atlas: Atlas, text: str, budget: str | None = None) -> Consultation:
    """Return what the atlas says of one of its own problems, by its name or label."""
    name, _ = find(atlas, text)
    wanted = _folded(text)
    rows = [r for r in atlas.kinds[name] if wanted in (_folded(r.name), _folded(r.problem))]
    found = tuple(about(compared(rows, one), one) for one in _asked(rows, budget))
    check = _check(_specified(rows[0]), found, rows, budget)
    return Consultation(text, name, None, found, (), check)


def on_data(
    atlas: Atlas, problem: AnyProblem, specification: str, budget: str | None = None
) -> Consultation:
    """Return what the atlas says of data that it has not seen.

    Parameters
    ----------
    atlas : Atlas
    problem : Problem
        It is built once, to measure its data.
    specification : str
        The problem as the command line names it.
    budget : str, optional
        ``"samples=1000"``.

    Raises
    ------
    UsageError
        Where the atlas has no problem of the family.
    DataError
        Where the data cannot be read.
    """
    kinds = [name for name, own in atlas.kinds.items() if own[0].family == problem.family]
    if not kinds:
        known = ", ".join(dict.fromkeys(row.family for row in atlas.rows)) or "none"
        raise UsageError(
            f"the atlas has no problem of the family {problem.family!r}, so it cannot tell; "
            f"its families: {known}"
        )
    by_metric = {atlas.kinds[name][0].metric: name for name in kinds}
    kind = by_metric.get(problem.primary, problem.family)
    rows = atlas.kinds[kind]
    features = features_of(instance_of(problem, 0))
    usable = _usable(problem, rows)
    asked = [(compared(rows, regime), regime) for regime in _asked(rows, budget)]
    found = tuple(advise(problems, features, regime, usable) for problems, regime in asked)
    good = tuple(hits(problems, regime) for problems, regime in asked)
    check = _check(specification, found, rows, budget)
    instead = "" if problem.primary in by_metric else rows[0].metric
    return Consultation(specification, kind, features, found, good, check, instead)


def limit_of(budget: str) -> tuple[str, float]:
    """Return the cost and the most of it that ``"samples=1000"`` says.

    Raises
    ------
    UsageError
    """
    name, _, text = budget.partition("=")
    try:
        most = float(text)
    except ValueError:
        most = 0.0
    if name not in COSTS or not 0 < most < float("inf"):
        raise UsageError(
            f"cannot read the budget {budget!r}; write it as {' or '.join(COSTS)} with a number, "
            "such as samples=1000"
        )
    return name, most


def _folded(text: str) -> str:
    return text.lower().replace("-", " ")


def _asked(rows: Sequence[AtlasRow], budget: str | None) -> list[Regime]:
    return [within(*limit_of(budget))] if budget else [LOWEST, *map(cost, costs(rows))]


def _usable(problem: AnyProblem, rows: Iterable[AtlasRow]) -> Usable:
    """Return what says whether a solver is installed here and takes a problem, by its label."""
    parameters = {row.solver: row.solver_parameters for row in rows}

    @cache
    def usable(solver: str) -> bool:
        try:
            made = catalogue().solver(name_of(solver), settings(parameters[solver]))
        except UsageError:
            return False
        return made.refuses(problem) is None

    return usable


def name_of(solver: str) -> str:
    """Return the name in the catalogue that the label of a solver begins with."""
    return next(iter(solver.split()), "")


@cache
def _provided(solver: str) -> Any:
    """Return the class of a solver by its label; None where none of this name is installed."""
    provided = catalogue().solvers.get(name_of(solver))
    return provided and provided.item


def _specified(row: AtlasRow) -> str:
    """Return the problem of a row as the command line names it."""
    words = [f"{key}={_word(value)}" for key, value in settings(row.parameters).items()]
    return " ".join([row.name, *words])


def _word(value: Any) -> str:
    return shlex.quote(str(value).lower() if isinstance(value, bool) else str(value))


def _check(
    problem: str, found: Sequence[Advice], rows: Sequence[AtlasRow], budget: str | None
) -> str:
    """Return the command that runs the advised solvers, and those next to them, on the data."""
    named = dict.fromkeys(a.candidates[0].solver for a in found if a.candidates)
    others = (c.solver for a in found[:1] for c in a.candidates)
    solvers = [*dict.fromkeys([*named, *others])][: max(TRIED, len(named))]
    words = ["orthobench", "run", "-p", problem]
    for solver in solvers if len(solvers) > 1 else ():
        words += ["-s", _specification(solver, rows)]
    words += ["--seeds", str(SEEDS)]
    if budget:
        name, most = limit_of(budget)
        words += [f"--{name}", f"{most:g}"]
    return shlex.join(words)


def _specification(solver: str, rows: Iterable[AtlasRow]) -> str:
    """Return a solver as the command line names it: tuned where it declares what to try."""
    provided = _provided(solver)
    if provided is None:
        return solver
    text = next(row.solver_parameters for row in rows if row.solver == solver)
    values = settings(text)
    words = [name_of(solver)]
    for parameter in parameters_of(provided):
        value = values.get(parameter.name, parameter.default)
        if parameter.grid:
            words.append(f"{parameter.name}={{tune=true}}")
        elif value != parameter.default:
            words.append(f"{parameter.name}={_word(value)}")
    return " ".join(words)
