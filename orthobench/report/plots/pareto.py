"""Quality against cost: how far each solver gets over all problems, and what it spends on that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.decisions import MISS, TOLERANCES, Answers
from orthobench.report.formatting import clean, plural
from orthobench.report.plots.families import caption, costs
from orthobench.report.plots.labels import COST_NAMES, axis_label, said
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.ranks import block_means
from orthobench.stats.targets import RunMatrix, run_matrix
from orthobench.tools.arrays import Array

LEAST = 1e-7
"""The smallest gap that counts: below the smallest tolerance."""

FRONT = "no solver is better in both"
"""The label of the line through the solvers that no other one beats in quality and in cost."""


@dataclass(frozen=True)
class Ends:
    """What each of S solvers has reached and spent at the end of its runs on P problems.

    Attributes
    ----------
    gap : ndarray, shape (S, P)
        The part of the gap between the start and the best value of any solver that is left: the
        median over the seeds, from `LEAST` to 1; 1 where runs failed. NaN where the solver takes no
        part, or the problem has no gap.
    spent : mapping
        For each cost, the median over the runs that did not fail; NaN without any.
    problems : tuple of str
    """

    gap: Array
    spent: Mapping[str, Array]
    problems: tuple[str, ...]


def pareto(
    entries: Sequence[SolverResult],
    runs: RunMatrix | None = None,
    answers: Answers | None = None,
) -> Plot:
    """Return the plot of quality against cost of one family, a point for each solver.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of all problems of the family, at least one of which takes part.
    runs : RunMatrix, optional
        Their runs, if they are collected already.
    answers : mapping, optional
        What to use, by cost and tolerance: it has a ring.
    """
    runs, offered = runs or run_matrix(entries), costs(entries)
    blocks = {entry.problem: entry.problem_info.name for entry in entries}
    reached = ends(runs)
    of_problems = [blocks[problem] for problem in reached.problems]
    rings = {key: one.solver for key, one in (answers or {}).items()}
    explanation = (
        "across: the cost up to the tolerance, as a multiple of that of the cheapest, a miss "
        f"counting {MISS:g}; up: what is left at the end of the gap between the start and the best "
        f"value that any solver reached, at least {LEAST:g}, and 1 where runs failed; medians over "
        "the seeds, geometric means over the problems"
    )
    return Plot(
        name=pareto_name(entries[0].problem_info.family),
        kind="pareto",
        choices={"cost": offered, "tolerance": tuple(TOLERANCES)},
        draw=lambda key: tolerance_panel(
            runs, reached, key[0], key[1], of_problems, rings.get((key[0], key[1]))
        ),
        sheet=[(cost, next(iter(TOLERANCES))) for cost in offered[:2]],
        about=said(
            "better to the left and below; below the dashed line is good enough",
            *caption(entries, runs, explanation),
        ),
    )


def tolerance_panel(
    runs: RunMatrix,
    reached: Ends,
    cost: str,
    tolerance: str,
    blocks: Sequence[str],
    use: str | None = None,
) -> Panel:
    """Return a point for each solver: its cost up to a tolerance, and what is left at its end.

    Parameters
    ----------
    runs : RunMatrix
    reached : Ends
        Of these runs.
    cost : str
        One of `orthobench.stats.values.COSTS`.
    tolerance : str
        One of `orthobench.report.decisions.TOLERANCES`.
    blocks : sequence of str
        The block of each problem.
    use : str, optional
        The solver that has a ring.
    """
    where = _instances(runs, reached.problems)
    part = TOLERANCES[tolerance]
    spent = _medians(runs.costs(cost, part), where)
    finite = np.where(np.isfinite(spent), spent, math.inf)
    least = finite.min(axis=0)
    with np.errstate(invalid="ignore"):
        multiples = np.where(np.isfinite(least), np.minimum(finite / least, MISS), MISS)
    multiples = np.where(np.isnan(reached.gap), math.nan, multiples)
    problems = int((~np.isnan(reached.gap)).any(axis=0).sum())
    points = [
        (solver, *_mean_point(own, gap, blocks))
        for solver, own, gap in zip(runs.solvers, multiples, reached.gap, strict=True)
    ]
    series = tuple(
        replace(_series(point, problems), chosen=0 if point[0] == use else None)
        for point in points
        if math.isfinite(point[1])
    )
    label = f"{COST_NAMES[cost]} to {tolerance} of the gap, as a multiple of the least"
    line = Series("good enough", np.array([1.0, MISS]), np.array([part, part]))
    lines = [line] if series else []
    return Panel(Axis(cost, label), Axis("gap", "gap left at the end"), (*series, *lines))


def pareto_name(family: str) -> str:
    """Return the name of the plot of a family."""
    return f"{clean(family)}: quality against cost"


def pareto_panel(solvers: Sequence[str], reached: Ends, cost: str, blocks: Sequence[str]) -> Panel:
    """Return a point for each solver, and the line through those that no other one beats.

    Parameters
    ----------
    solvers : sequence of str
    reached : Ends
    cost : str
        One of `orthobench.stats.values.COSTS`.
    blocks : sequence of str
        The block of each problem: variants of one problem count as one, as in mean ranks.
    """
    problems = int((~np.isnan(reached.gap)).any(axis=0).sum())
    several, spent = problems > 1, reached.spent[cost]
    if several:
        spent = spent / np.nanmin(np.where(np.isfinite(spent), spent, math.inf), axis=0)
    points = [
        (solver, *_mean_point(own_cost, gap, blocks))
        for solver, own_cost, gap in zip(solvers, spent, reached.gap, strict=True)
    ]
    points = [point for point in points if math.isfinite(point[1])]
    name = COST_NAMES[cost]
    label = f"{name}, as a multiple of the least of any solver" if several else axis_label(cost)
    return Panel(
        Axis(cost, label),
        Axis("gap", "gap left at the end"),
        (*(_series(point, problems) for point in points), *_front(points)),
        stepped=True,
    )


def ends(runs: RunMatrix) -> Ends:
    """Return what each solver has reached and spent at the end, on each problem."""
    problems = tuple(dict.fromkeys(problem for problem, _ in runs.instances))
    where = _instances(runs, problems)
    absent = np.array([[(s, p) in set(runs.absent) for p in problems] for s in runs.solvers])
    gaps = np.where(absent, math.nan, _medians(_gaps(runs), where))
    spent = {cost: _medians(_last(values), where) for cost, values in runs.spent.items()}
    return Ends(gaps, spent, problems)


def _instances(runs: RunMatrix, problems: Sequence[str]) -> list[list[int]]:
    """Return the indices of the instances of each problem."""
    return [[i for i, (p, _) in enumerate(runs.instances) if p == problem] for problem in problems]


def _gaps(runs: RunMatrix) -> Array:
    """Return the part of the gap that is left of each run, shape (S, I)."""
    reached = runs.reached
    gap = runs.start - runs.lowest
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(gap > 0, (reached - runs.lowest) / gap, math.nan)
    return np.clip(left, LEAST, 1.0)


def _last(spent: Array) -> Array:
    """Return the cost at the end of each run, shape (S, I); NaN where it failed."""
    finite = np.where(np.isfinite(spent), spent, -math.inf).max(axis=-1, initial=-math.inf)
    return np.where(np.isfinite(finite), finite, math.nan)


def _medians(values: Array, where: Sequence[Sequence[int]]) -> Array:
    """Return the median over the seeds of each problem, of those that are there."""
    found = np.full((len(values), len(where)), math.nan)
    for column, at in enumerate(where):
        for row, own in enumerate(values[:, at]):
            known = own[~np.isnan(own)]
            found[row, column] = quantiles(known, 0.5) if len(known) else math.nan
    return found


def _mean_point(cost: Array, gap: Array, blocks: Sequence[str]) -> tuple[float, float, int]:
    """Return the geometric means of cost and gap, and over how many problems they are."""
    there = np.flatnonzero(~np.isnan(cost) & ~np.isnan(gap))
    if not len(there):
        return math.nan, math.nan, 0
    of = [blocks[i] for i in there.tolist()]
    x, y = (float(np.exp(block_means(np.log(v[there]), of).mean())) for v in (cost, gap))
    return x, y, len(there)


def _series(point: tuple[str, float, float, int], problems: int) -> Series:
    solver, x, y, count = point
    note = f" ({count} of {plural(problems, 'problem')})" if count < problems else ""
    return Series(clean(solver + note), np.array([x]), np.array([y]), solver=solver)


def _front(points: Sequence[tuple[str, float, float, int]]) -> list[Series]:
    """Return the line through the solvers that no other one beats; those on the most problems."""
    most = max((count for *_, count in points), default=0)
    kept: list[tuple[float, float]] = []
    for x, y in sorted((x, y) for _, x, y, count in points if count == most):
        if not kept or y < kept[-1][1]:
            kept.append((x, y))
    if len(kept) < 2:
        return []
    return [Series(FRONT, *np.array(kept).T)]
