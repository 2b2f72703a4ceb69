"""Plots over all problems of a family: performance profiles and expected costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.plots.labels import about, axis_label
from orthobench.results.tuning import SolverResult
from orthobench.stats import targets
from orthobench.stats.costs import costs_of, shared_costs
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, listed, plural

NARROWEST = 2.0
"""The smallest ratio of the ends of an axis."""

MARGIN = 0.05
"""The fraction of the log span by which lines continue beyond it."""

NAMED = 3
"""Maximum number of problems that a caption names."""

ACCURACIES: Mapping[str, float] = {"10 %": 1e-1, "1 %": 1e-2, "0.1 %": 1e-3, "0.001 %": 1e-5}
"""The fraction of the gap that is left in a solved instance."""

BAND = "95 % interval over seeds"

PROFILE = (
    "solved to 10 %: at most 10 % of the gap between the start and the best value of any solver is "
    "left (Moré and Wild 2009); the cost is that of the first such checkpoint"
)
EXPECTED = (
    "cost of all runs, to the target or else to their end, for each run that reached it: the cost "
    "with restarts, as COCO's average runtime; the target is that part of the gap between the "
    "start and the best value of any solver; no point: no run reached it; no bar: the interval has "
    "no upper end"
)
"""The captions of both kinds of plots."""


def target_plots(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return performance profiles and expected costs of one family."""
    matrix = targets.run_matrix(entries)
    known = costs_of(run for entry in entries for run in entry.records)
    offered = tuple(cost for cost in costs(entries) if cost in known)
    accuracies = tuple(ACCURACIES)
    return [
        Plot(
            name=f"{clean(entries[0].problem_info.family)}: {name}",
            kind=kind,
            choices={"cost": offered, "accuracy": accuracies},
            draw=lambda key, panel=panel: panel(matrix, *key),  # type: ignore[misc]
            sheet=[(offered[0], accuracy) for accuracy in accuracies[:printed]],
            about=_caption(entries, matrix, explanation),
        )
        for kind, name, panel, printed, explanation in (
            ("profile", "performance profiles", profile_panel, 3, PROFILE),
            ("expected", "expected cost to a target", expected_panel, 2, EXPECTED),
        )
    ]


def profile_panel(runs: targets.RunMatrix, cost: str, accuracy: str) -> Panel:
    """Return the share of instances solved within a factor of the least cost."""
    ratios = targets.performance_ratios(runs.costs(cost, ACCURACIES[accuracy]))
    found = ratios[np.isfinite(ratios)]
    last = float(found.max()) if len(found) else 1.0
    end = max(NARROWEST, last ** (1 + MARGIN))
    name = axis_label(cost).partition(" (")[0]
    return Panel(
        Axis("ratio", f"{name}, as a multiple of the least of any solver"),
        Axis("share", f"share of instances solved to {accuracy}", log=False),
        tuple(
            Series(
                clean(solver + f" ({failed} failed)" * (failed > 0)),
                *_stepped(own, end),
                solver=solver,
            )
            for solver, failed, own in zip(runs.solvers, runs.failed, ratios, strict=True)
        ),
        stepped=True,
    )


def expected_panel(runs: targets.RunMatrix, cost: str, accuracy: str) -> Panel:
    """Return the expected cost of each solver on each problem."""
    spent = targets.expected_costs(runs, cost, ACCURACIES[accuracy])
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
    """Return the costs that all runs have."""
    return shared_costs([r for entry in entries if not entry.refused for r in entry.records])


def _caption(
    entries: Sequence[SolverResult], runs: targets.RunMatrix, explained: str
) -> tuple[str, ...]:
    planned = {(entry.problem, seed) for entry in entries for seed in entry.seeds}
    problems = plural(len({problem for problem, _ in runs.instances}), "problem")
    absent = grouped(runs.absent, lambda pair: pair[0])
    waiting, unsolved = len(planned) - len(runs.instances), runs.unsolved
    return about(
        entries,
        f"{plural(len(runs.instances), 'instance')} of {problems}",
        explained,
        "failed runs solve nothing" if any(runs.failed) else "",
        f"{plural(waiting, 'instance')} not counted: not run yet with all solvers" * (waiting > 0),
        *(
            f"{clean(solver)} takes no part in {len(names)} of {problems}, which count as not "
            f"solved: {listed([clean(problem) for _, problem in names], NAMED)}"
            for solver, names in absent.items()
        ),
        f"on {plural(unsolved, 'instance')} no run got below the start: not solved"
        * (unsolved > 0),
    )


def _stepped(ratios: Array, end: float) -> tuple[Array, Array]:
    """Return the distribution of ratios from 1 to an end beyond all of them."""
    x, share = targets.distribution(ratios)
    first = share[x <= 1].max(initial=0.0)
    above = x > 1
    return (
        np.concatenate([[1.0], x[above], [end]]),
        np.concatenate([[first], share[above], [share.max(initial=0.0)]]),
    )
