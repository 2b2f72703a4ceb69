"""Quality against cost: how far each solver gets over all problems, and what it spends on that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.decide.answer import MISS, Answer, answer
from orthobench.decide.comparisons import compare_by
from orthobench.decide.rule import STRICT, TOLERANCE, Comparison
from orthobench.report.plots.families import caption, costs
from orthobench.report.plots.labels import said
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.costs import ALL_COSTS
from orthobench.stats.targets import RunMatrix, run_matrix
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, plural

LEAST = 1e-7
"""The smallest gap that counts: below the smallest tolerance."""

MOST_PAIRS = 20_000
"""Of more pairs of solvers on a problem, only what is shown first is decided."""

Answers: TypeAlias = Mapping[tuple[str, str], Answer]
"""The answers of a family, by cost and tolerance."""


def family_answers(entries: Sequence[SolverResult], suite: str = "") -> Answers:
    """Return what to use on the problems of one family, under each cost and tolerance.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of the family; where they are very many, there are only the first choices.
    suite : str
        What to run more seeds of.
    """
    offered, tolerances = costs(entries), list(_tolerances(entries))
    solvers = Counter(entry.problem for entry in entries)
    if sum(count**2 for count in solvers.values()) > MOST_PAIRS:
        offered, tolerances = offered[:1], tolerances[:1]
    return _answers(entries, list(product(offered, tolerances)), suite)


def _tolerances(entries: Sequence[SolverResult]) -> dict[str, float]:
    """Return the parts of the gap that may be left: the suite's first, and the strict view's."""
    parts = entries[0].tolerance or TOLERANCE, STRICT
    return {f"{100 * part:.6g} %": part for part in parts}


def _answers(
    entries: Sequence[SolverResult], keys: Sequence[tuple[str, str]], suite: str = ""
) -> Answers:
    begun = [entry for entry in entries if entry.finished and not entry.refused]
    views = [(cost, _tolerances(entries)[tolerance]) for cost, tolerance in keys]
    return {
        key: answer(own, suite) for key, own in zip(keys, compare_by(begun, views), strict=True)
    }


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
        Their `family_answers`, if they are there already.
    """
    runs = runs or run_matrix(entries)
    blocks = {entry.problem: entry.problem_info.name for entry in entries}
    left, known = gaps_left(runs), answers or {}
    keys = known or product(costs(entries), _tolerances(entries))
    offered, tolerances = (tuple(dict.fromkeys(options)) for options in zip(*keys, strict=True))

    def draw(key: Key) -> Panel:
        own = key[0], key[1]
        decided = (known or _answers(entries, [own]))[own]
        return tolerance_panel(runs.solvers, left, decided, key[1], blocks)

    explanation = (
        "across: the cost up to the tolerance, as a multiple of that of the cheapest that is "
        f"as good as the best, a miss counting {MISS:g}; up: what is left at the end of the gap "
        f"between the start and the best value that any solver reached, at least {LEAST:g}, and 1 "
        "where runs failed; medians over the seeds, geometric means over the problems"
    )
    return Plot(
        name=pareto_name(entries[0].problem_info.family),
        kind="pareto",
        choices={"cost": offered, "tolerance": tolerances},
        draw=draw,
        sheet=[(cost, tolerances[0]) for cost in offered[:2]],
        about=said(
            "better to the left and below; the ring is the method to use, and what is below the "
            "dashed line good enough",
            *caption(entries, runs, explanation),
        ),
    )


def tolerance_panel(
    solvers: Sequence[str],
    left: Mapping[str, Array],
    decided: Answer,
    tolerance: str,
    blocks: Mapping[str, str],
) -> Panel:
    """Return a point for each solver: its cost up to a tolerance, and what is left at its end.

    Parameters
    ----------
    solvers : sequence of str
    left : mapping
        What `gaps_left` returns.
    decided : Answer
        Under a cost and a tolerance; the solver to use has a ring.
    tolerance : str
        In words.
    blocks : mapping
        The block of each problem.
    """
    by_problem = {comparison.problem: comparison for comparison in decided.comparisons}
    compared = [by_problem.get(problem) for problem in left]
    gaps = np.array(list(left.values())).reshape(-1, len(solvers)).T
    multiples = np.array([[_multiple(one, solver) for one in compared] for solver in solvers])
    multiples = np.where(np.isnan(gaps), math.nan, multiples.reshape(gaps.shape))
    problems = int((~np.isnan(gaps)).any(axis=0).sum())
    of_problems = [blocks[problem] for problem in left]
    series = []
    for solver, own, gap in zip(solvers, multiples, gaps, strict=True):
        x, y, count = _mean_point(own, gap, of_problems)
        if count:
            note = f" ({count} of {plural(problems, 'problem')})" if count < problems else ""
            chosen = 0 if solver == decided.solver else None
            point = clean(solver + note), np.array([x]), np.array([y])
            series.append(Series(*point, solver=solver, chosen=chosen))
    part = decided.tolerance
    label = f"{ALL_COSTS[decided.cost].title} to {tolerance} of the gap, times the least"
    if series:
        series.append(Series("good enough", np.array([1.0, MISS]), np.array([part, part])))
    return Panel(Axis(decided.cost, label), Axis("gap", "gap left at the end"), tuple(series))


def _multiple(comparison: Comparison | None, solver: str) -> float:
    """Return the cost of a solver over the least of those that are as good, at most `MISS`."""
    if comparison is None:
        return math.nan
    reached = [d.cost for d in comparison.as_good] or [d.cost for d in comparison.decisions]
    least, own = min(reached, default=math.inf), comparison.of(solver).cost
    return min(own / least, MISS) if math.isfinite(own) and 0 < least < math.inf else MISS


def pareto_name(family: str) -> str:
    """Return the name of the plot of a family."""
    return f"{clean(family)}: quality against cost"


def gaps_left(runs: RunMatrix) -> dict[str, Array]:
    """Return the part of the gap of each problem that each of S solvers leaves, shape (S,).

    Of the gap between the start and the best value of any solver, it is the median over the seeds,
    from `LEAST` to 1; 1 where runs failed. NaN where the solver takes no part, or there is no gap.
    """
    gap, absent = runs.start - runs.lowest, set(runs.absent)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(gap > 0, (runs.reached - runs.lowest) / gap, math.nan)
    part = np.clip(part, LEAST, 1.0)
    instances = grouped(enumerate(runs.instances), lambda one: one[1][0])
    return {
        problem: np.array([
            math.nan if (solver, problem) in absent else _median(row[[i for i, _ in own]])
            for solver, row in zip(runs.solvers, part, strict=True)
        ])
        for problem, own in instances.items()
    }  # fmt: skip


def _median(values: Array) -> float:
    """Return the median of the values that are there."""
    known = values[~np.isnan(values)]
    return float(quantiles(known, 0.5)) if len(known) else math.nan


def _mean_point(cost: Array, gap: Array, blocks: Sequence[str]) -> tuple[float, float, int]:
    """Return the geometric means of cost and gap, and over how many problems they are."""
    there = np.flatnonzero(~np.isnan(cost) & ~np.isnan(gap))
    if not len(there):
        return math.nan, math.nan, 0
    of = grouped(there.tolist(), lambda i: blocks[i])
    x, y = (
        float(np.exp(np.mean([np.log(v[at]).mean() for at in of.values()]))) for v in (cost, gap)
    )
    return x, y, len(there)
