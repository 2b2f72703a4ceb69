"""Plots over all problems of a family: profiles, ECDFs and expected costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots.labels import about, axis_label
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COSTS, shared_costs
from orthobench.stats.profiles import (
    LADDER,
    PRECISIONS,
    distribution,
    expected_costs,
    performance_ratios,
)
from orthobench.stats.targets import RunMatrix, run_matrix
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean, listed, plural

LONGEST = 150
"""The most steps of a line that are drawn; a plot is not high enough to show more."""

NARROWEST = 2.0
"""The smallest ratio of the ends of an axis."""

MARGIN = 0.05
"""The fraction of the span of all steps, in the logarithm, by which lines continue beyond them."""

NAMED = 3
"""The most problems that a caption names."""

ACCURACIES: Mapping[str, float] = {"10 %": 1e-1, "1 %": 1e-2, "0.1 %": 1e-3, "0.001 %": 1e-5}
"""The fraction of the gap from the start to the best value that is left in a solved instance."""

RELATIVE, ABSOLUTE = "of the gap", "as in COCO"
TARGETS = (RELATIVE, ABSOLUTE)
"""The targets on offer: parts of the gap of each instance, and absolute precisions."""

BAND = "95 % interval over seeds"

PROFILE = (
    "solved to 10 %, say: at most 10 % of the gap between the start and the best value that "
    "any solver reached is left (Moré and Wild 2009); the cost is that of the first such "
    "checkpoint"
)
ECDF = (
    f"{len(LADDER)} targets for each: at most {100 * LADDER[0]:.3g} % down to "
    f"{100 * LADDER[-1]:.3g} % of the gap between the start and the best value that any "
    f"solver reached is left; as in COCO {len(PRECISIONS)}: {PRECISIONS[0]:g} down to "
    f"{PRECISIONS[-1]:g} above that best value; the cost is that of the first such checkpoint"
)
EXPECTED = (
    "what all runs took, to the target or else to their end, for each run that reached it: the "
    "cost with restarts, as COCO's average runtime; the target is that part of the gap between "
    "the start and the best value that any solver reached; no point: no run reached it; no "
    "bar: so few did that the interval has no upper end"
)
"""What captions say of each kind of plot."""


def target_plots(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return performance profiles, ECDFs and expected costs of one family.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of all problems of the family, at least one of which takes part.
    """
    matrix = run_matrix(entries)
    offered = tuple(cost for cost in costs(entries) if cost in COSTS)

    def plot(
        kind: str, name: str, choice: str, options: Sequence[str], printed: tuple[int, int],
        draw: Callable[..., Panel], explanation: str,
    ) -> Plot:  # fmt: skip
        return Plot(
            name=f"{clean(entries[0].problem_info.family)}: {name}",
            kind=kind,
            choices={"cost": offered, choice: tuple(options)},
            draw=lambda key: draw(matrix, *key),
            sheet=list(product(offered[: printed[0]], options[: printed[1]])),
            about=caption(entries, matrix, explanation),
        )

    accuracies = tuple(ACCURACIES)
    return [
        plot("profile", "performance profiles", "accuracy", accuracies, (1, 3), profile_panel,
             PROFILE),
        plot("ecdf", "targets reached", "targets", TARGETS, (2, 1), ecdf_panel, ECDF),
        plot("expected", "expected cost to a target", "accuracy", accuracies, (1, 2),
             expected_panel, EXPECTED),
    ]  # fmt: skip


def profile_panel(runs: RunMatrix, cost: str, accuracy: str) -> Panel:
    """Return the share of instances that each solver solves within a factor of the least cost."""
    ratios = performance_ratios(runs.costs(cost, ACCURACIES[accuracy]))
    x = Axis(
        "ratio", f"{axis_label(cost).partition(' (')[0]}, as a multiple of the least of any solver"
    )
    y = Axis("share", f"share of instances solved to {accuracy}", log=False)
    return distribution_panel(runs, ratios, x, y, begin=1.0)


def ecdf_panel(runs: RunMatrix, cost: str, targets: str = RELATIVE) -> Panel:
    """Return the share of the targets of all instances that each solver reaches within a cost.

    The targets of all instances count alike, as in COCO: Hansen, Auger, Brockhoff and Tušar 2022,
    "Anytime performance assessment in blackbox optimization benchmarking", IEEE Trans. Evol.
    Comput. 26(6).
    """
    relative = targets == RELATIVE
    ladder = map(runs.targets, LADDER) if relative else map(runs.values_within, PRECISIONS)
    spent = np.stack([runs.cheapest(cost, values) for values in ladder], axis=-1)
    y = Axis("share", "share of targets reached", log=False)
    return distribution_panel(runs, spent, Axis(cost, axis_label(cost)), y)


def expected_panel(runs: RunMatrix, cost: str, accuracy: str) -> Panel:
    """Return the expected cost of each solver on each problem, with its interval."""
    spent = expected_costs(runs, cost, ACCURACIES[accuracy])
    problems = tuple(dict.fromkeys(problem for problem, _ in runs.instances))
    series = []
    for solver in runs.solvers:
        own = [(i, *spent[solver, p]) for i, p in enumerate(problems) if (solver, p) in spent]
        x, mean, low, high = np.array([one[:4] for one in own], dtype=float).reshape(-1, 4).T
        notes = tuple(f"{hit} of {count} runs reached it" for *_, hit, count in own)
        series.append(Series(clean(solver), x, mean, low, high, solver=solver, notes=notes))
    names = Axis("problem", "", log=False, categories=tuple(map(clean, problems)))
    return Panel(names, Axis(cost, f"expected {axis_label(cost)}"), tuple(series), band=BAND)


def costs(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    """Return the costs that solvers can be compared by: those that all of their runs have.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one family.
    """
    runs = (run for entry in entries if not entry.refused for run in entry.records)
    return shared_costs([run.trace[-1] for run in runs if len(run.trace) > 1])


def distribution_panel(
    runs: RunMatrix, values: Array, x: Axis, y: Axis, begin: float | None = None
) -> Panel:
    """Return a panel of distributions, all from the first step of any to beyond the last.

    Parameters
    ----------
    runs : RunMatrix
    values : ndarray, shape (S, ...)
        Those of each solver.
    x, y : Axis
    begin : float, optional
        The left end of the lines, instead of the first step of any.
    """
    steps = np.append(values[np.isfinite(values)], [begin] if begin else [])
    first, last = (float(steps.min()), float(steps.max())) if len(steps) else (1.0, 1.0)
    end = max(NARROWEST * first, last * (last / first) ** MARGIN)
    series = tuple(
        Series(
            clean(f"{solver} ({failed} failed)" if failed else solver),
            *_stepped(own, first, end),
            solver=solver,
        )
        for solver, failed, own in zip(runs.solvers, runs.failed, values, strict=True)
    )
    return Panel(x, y, series, stepped=True)


def caption(entries: Sequence[SolverResult], runs: RunMatrix, explanation: str) -> tuple[str, ...]:
    """Return the caption: budget, number of instances, and which count as unsolved, and why.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one family.
    runs : RunMatrix
        Their runs.
    explanation : str
        A sentence about the plot itself.
    """
    planned = {(entry.problem, seed) for entry in entries for seed in entry.seeds}
    waiting, unfinished, unimproved = (
        plural(count, "instance") if count else ""
        for count in (len(planned) - len(runs.instances), runs.unfinished, runs.unimproved)
    )
    return about(
        entries,
        _size(runs),
        explanation,
        "failed runs solve nothing" if any(runs.failed) else "",
        waiting and f"{waiting} not counted: not run yet with all solvers",
        *_absences(runs),
        unfinished and f"on {unfinished} no run finished: solved by nobody",
        unimproved and f"on {unimproved} no run got below the start: solved by nobody",
    )


def _size(runs: RunMatrix) -> str:
    """Return how many instances there are: ``10 instances: 2 problems × 5 seeds``."""
    seeds = Counter(problem for problem, _ in runs.instances)
    each = set(seeds.values())
    of_each = f" × {plural(each.pop(), 'seed')}" if len(each) == 1 else ", each with its seeds"
    return f"{plural(len(runs.instances), 'instance')}: {plural(len(seeds), 'problem')}{of_each}"


def _absences(runs: RunMatrix) -> list[str]:
    """Return a sentence about each solver that does not take part in some problems."""
    problems = plural(len({problem for problem, _ in runs.instances}), "problem")
    absent: dict[str, list[str]] = {}
    for solver, problem in runs.absent:
        absent.setdefault(solver, []).append(clean(problem))
    return [
        f"{clean(solver)} takes no part in {len(names)} of {problems}, which count as not solved: "
        f"{listed(names, NAMED)}"
        for solver, names in absent.items()
    ]


def _stepped(values: Array, begin: float, end: float) -> tuple[Array, Array]:
    """Return the points of a distribution from begin to end, at most about `LONGEST` of them.

    Where steps are left out, the line is exact at all others, never above the true one, and less
    than 1 / `LONGEST` of its height below it.
    """
    x, share = distribution(values)
    first, last = (share[x <= at].max(initial=0.0) for at in (begin, end))
    if len(x) > LONGEST:
        heights = np.linspace(share[0], share[-1], LONGEST + 1)
        kept = np.unique(np.searchsorted(share, heights))
        x, share = x[kept], share[kept]
    x = np.concatenate([[begin], x, [end]])
    share = np.concatenate([[first], share, [last]])
    ascending = np.diff(x, prepend=0.0) > 0
    return x[ascending], share[ascending]
