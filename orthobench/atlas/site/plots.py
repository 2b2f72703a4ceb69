"""Plots of a family of an atlas: quality against cost, and performance profiles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from orthobench.atlas.regimes import REACHED
from orthobench.atlas.table import COSTS, SHARES, AtlasRow
from orthobench.contract.panel import Axis, Key, Panel, Plot
from orthobench.report.formatting import clean, plural
from orthobench.report.plots.families import distribution_panel
from orthobench.report.plots.labels import COST_NAMES
from orthobench.report.plots.pareto import FRONT, ends, pareto_name, pareto_panel
from orthobench.stats.profiles import performance_profile
from orthobench.stats.targets import RunMatrix

ACCURACIES: Mapping[str, int] = {
    f"{100 * share:g} %": i for i, share in enumerate(SHARES) if share <= SHARES[1]
}
"""The targets of profiles, with their places among `SHARES`."""


def plots(family: str, rows: Sequence[AtlasRow], costs: Sequence[str]) -> list[Plot]:
    """Return the plots of one family; none where no cost is known of all runs.

    Parameters
    ----------
    family : str
    rows : sequence of AtlasRow
    costs : sequence of str
        Those of `COSTS` that all solvers can be compared by.
    """
    if not costs:
        return []
    runs = run_matrix(rows)
    return [_pareto(family, rows, runs, costs), _profiles(family, runs, costs)]


def run_matrix(rows: Sequence[AtlasRow]) -> RunMatrix:
    """Return the runs of one family, with a checkpoint at each target and one at the end."""
    solver = {name: s for s, name in enumerate(dict.fromkeys(row.solver for row in rows))}
    instances = dict.fromkeys((_problem(row), row.seed) for row in rows)
    instance = {one: i for i, one in enumerate(instances)}
    shape, count = (len(solver), len(instance)), len(SHARES) + 1
    best = np.full((*shape, count), math.inf)
    spent = {cost: np.full((*shape, count), math.inf) for cost in COSTS}
    whole = {cost: np.full(shape, math.nan) for cost in COSTS}
    start, lowest = (np.full(len(instance), math.nan) for _ in range(2))
    for row in rows:
        s, i = solver[row.solver], instance[_problem(row), row.seed]
        start[i], lowest[i] = row.start, row.lowest
        for cost in COSTS:
            whole[cost][s, i] = getattr(row, cost)
        if not row.failed:
            targets = (
                row.lowest + share * (row.start - row.lowest) if math.isfinite(to) else math.inf
                for share, to in zip(SHARES, row.seconds_to, strict=True)
            )
            best[s, i] = [*targets, row.value]
            for cost in COSTS:
                spent[cost][s, i] = [*getattr(row, f"{cost}_to"), getattr(row, cost)]
    there = {(row.solver, _problem(row)) for row in rows}
    problems = dict.fromkeys(problem for problem, _ in instance)
    failed = Counter(row.solver for row in rows if row.failed)
    absent = tuple((s, p) for s in solver for p in problems if (s, p) not in there)
    return RunMatrix(
        tuple(solver), tuple(instance), best, spent, whole, start, lowest, absent,
        tuple(failed[name] for name in solver),
    )  # fmt: skip


def _problem(row: AtlasRow) -> str:
    return f"{row.suite} {row.problem}"


def _pareto(family: str, rows: Sequence[AtlasRow], runs: RunMatrix, costs: Sequence[str]) -> Plot:
    found, blocks = ends(runs), {_problem(row): row.name for row in rows}

    def draw(key: Key) -> Panel:
        return pareto_panel(runs.solvers, found, key[0], [blocks[p] for p in found.problems])

    return Plot(
        name=pareto_name(family), kind="pareto", choices={"cost": tuple(costs)}, draw=draw,
        about=(
            f"better to the left and below; dashed: {FRONT}",
            "geometric means over the problems; costs as multiples of that of the cheapest solver",
            plural(len(found.problems), "problem"),
        ),
    )  # fmt: skip


def _profiles(family: str, runs: RunMatrix, costs: Sequence[str]) -> Plot:
    def draw(key: Key) -> Panel:
        cost, accuracy = key
        to = runs.spent[cost][..., ACCURACIES[accuracy]]
        x = Axis("ratio", f"{COST_NAMES[cost]}, as a multiple of the least of any solver")
        y = Axis("share", f"share of instances solved to {accuracy}", log=False)
        return distribution_panel(runs, performance_profile(to), x, y, begin=1.0)

    first = f"{100 * SHARES[REACHED]:g} %"
    return Plot(
        name=f"{clean(family)}: performance profiles", kind="profile",
        choices={"cost": tuple(costs), "accuracy": tuple(sorted(ACCURACIES, key=first.__ne__))},
        draw=draw,
        about=(
            "how often a solver is among the cheapest, over all problems and seeds",
            f"solved to {first}: so much of the gap from the start to the best value is left",
        ),
    )  # fmt: skip
