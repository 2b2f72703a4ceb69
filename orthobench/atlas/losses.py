"""The loss of each call on the problems of an atlas, and models that predict it elsewhere.

A call is a solver to its own end, or to a number of steps. Its loss is the logarithm of its cost
over that of the cheapest call on the problem; a miss counts ten. Its regret, which advice makes
small, is the same without the cost that is `FREE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.atlas.answers import CUT, of_one_machine
from orthobench.atlas.features import Features
from orthobench.atlas.table import AtlasRow
from orthobench.decide.answer import MISS
from orthobench.decide.rule import FREE, TOLERANCE, Comparison, Verdict
from orthobench.stats.calls import Stop
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

Model: TypeAlias = Callable[[Array, Array, Array, Array], tuple[Array, Array]]
"""Returns the expected regret of each call at a position, and the weights of the problems, from the
positions of problems, the regrets there, the shares of the problems, and the position."""

NEAREST, NEAR = 0.5, 2.0
"""Widths of the weights of nearer problems, in logarithms of features."""

UNLIKE = 2.0
"""Distance between a known and an unknown feature, in logarithms of features."""

DOUBT = 0.25
"""Number of misses that are added to the regrets of advice on near problems."""

RIDGE = 1.0
"""Penalty of slopes, in problems."""

CLOSE = 0.03
"""Minimum gain in mean loss for which a model replaces the single best solver."""

TIE = 0.001
"""The share of the whole loss in regret."""

SMALL = 0.01
"""Added to features that may be zero, before their logarithms are taken."""

SPARSEST = 0.001
"""Added to the share of nonzeros: rows with fewer are alike."""

SIZES = ("rows", "d", "k")
"""Features that are sizes."""


@dataclass(frozen=True)
class Losses:
    """The problems of one kind with the losses of each call.

    Attributes
    ----------
    solvers, solver_names : tuple of str
        The solvers of the calls: labels, and names in the catalogue.
    stops : tuple of Stop
        Their numbers of steps, or the solver's own end.
    problems : tuple of AtlasRow
        A row of each problem.
    blocks : ndarray of str, shape (problems,)
        Variants of one data set have equal blocks.
    costs : ndarray, shape (problems, calls)
        NaN for a miss.
    least : ndarray, shape (problems,)
        The cost of the cheapest call.
    ran : ndarray of bool, shape (problems, calls)
        Whether the solver takes the problem.
    free : float
        Cost that regret does not count.
    """

    solvers: tuple[str, ...]
    solver_names: tuple[str, ...]
    stops: tuple[Stop, ...]
    problems: tuple[AtlasRow, ...]
    blocks: NDArray[np.str_]
    costs: Array
    least: Array
    ran: NDArray[np.bool_]
    free: float = 0.0

    @cached_property
    def logs(self) -> Array:
        """Losses, shape (problems, calls)."""
        return logs_of(self.costs, self.least)

    @cached_property
    def regrets(self) -> Array:
        """Losses without the cost that is free, shape (problems, calls).

        A little of the whole loss is added, so that the cheaper one of two free calls is named.
        """
        return (1 - TIE) * logs_of(self.costs - self.free, self.least) + TIE * self.logs

    @cached_property
    def positions(self) -> Array:
        """The logarithms of features, shape (problems, features); NaN if unknown."""
        return np.array([position_of(one) for one in self.problems])

    @cached_property
    def model(self) -> Model:
        """The model whose advice loses least on problems of other names.

        It is the single best call if no other model gains more than `CLOSE`.
        """
        means = {model: mean_loss(self.held_out[model]) for model in MODELS}
        best = min(MODELS, key=means.__getitem__)
        return single_best if means[single_best] <= means[best] + CLOSE else best

    @property
    def lost(self) -> Array:
        """The regret of advice by its model on problems of other names."""
        return self.held_out[self.model]

    def regret_at(self, position: Array, among: NDArray[np.intp] | None = None) -> float:
        """Return the expected regret of advice at a position: that on the nearest problems.

        `DOUBT` misses are added, so that it is large far from all problems on which advice is good.
        """
        own = np.arange(len(self.lost)) if among is None else among
        if not len(own):
            return math.log(MISS)
        (mean,), weights = nearest(
            self.positions[own], self.lost[own, None], self._shares(own), position
        )
        problems = _number(weights)
        return float(problems * mean + DOUBT * math.log(MISS)) / (problems + DOUBT)

    def ranked(self, features: Features) -> list[tuple[str, Stop]]:
        """Return the solvers and stops of the calls, the smallest expected regret first."""
        if not self.solvers:
            return []
        order = np.argsort(self.expected(position_of(features), self.model), kind="stable")
        return [(self.solvers[i], self.stops[i]) for i in order]

    def by_solver(self, names: Sequence[str]) -> dict[str, Array]:
        """Return the smallest loss of each solver's calls by problem; ``names`` are of calls."""
        places = grouped(range(len(names)), names.__getitem__)
        return {name: self.logs[:, own].min(axis=1) for name, own in places.items()}

    def expected(
        self, position: Array, model: Model, among: NDArray[np.intp] | None = None
    ) -> Array:
        """Return the expected regret of each call at a position, from some problems.

        A number of steps counts as if it were too small on one more problem (the rule of
        succession): it ends a run that does not know how good it is.
        """
        own = np.arange(len(self.problems)) if among is None else among
        found, weights = model(self.positions[own], self.regrets[own], self._shares(own), position)
        early = np.array([not stop.own for stop in self.stops])
        expected: Array = found + early * (math.log(MISS) - found) / (1 + _number(weights))
        return expected

    def _shares(self, own: NDArray[np.intp]) -> Array:
        """Return the weights of problems, which add up to 1 in each block."""
        blocks = self.blocks[own]
        shares: Array = 1.0 / np.array([(blocks == block).sum() for block in blocks])
        return shares

    @cached_property
    def names(self) -> NDArray[np.str_]:
        """The names of the problems without their sizes, or the blocks if all have one name."""
        names = np.array([one.name for one in self.problems])
        return names if len(set(names)) > 1 else self.blocks

    @cached_property
    def held_out(self) -> dict[Model, Array]:
        """The regret of each model's advice, made without the problems of the same name."""
        return self.without(self.names)

    def without(self, groups: NDArray[np.str_]) -> dict[Model, Array]:
        """Return the regret of each model's advice, made without the problems of the same group."""
        others = [(i, np.flatnonzero(groups != one)) for i, one in enumerate(groups)]
        return {
            model: np.array([
                self.regrets[i, np.argmin(
                    np.where(self.ran[i], self.expected(self.positions[i], model, own), math.inf)
                )]
                for i, own in others
                if len(own)
            ])
            for model in MODELS
        }  # fmt: skip


def single_best(
    positions: Array, regrets: Array, shares: Array, position: Array
) -> tuple[Array, Array]:
    """Return the mean regrets over all problems: the same everywhere."""
    del positions, position
    return shares @ regrets / shares.sum(), shares


def nearest(
    positions: Array, regrets: Array, shares: Array, position: Array
) -> tuple[Array, Array]:
    """Return the mean regrets, in which the nearest problems have most of the weight."""
    weights = shares * similarity(positions, position, NEAREST)
    return single_best(positions, regrets, weights, position)


def nearer(positions: Array, regrets: Array, shares: Array, position: Array) -> tuple[Array, Array]:
    """Return the mean regrets, in which nearer problems have more weight."""
    weights = shares * similarity(positions, position, NEAR)
    return single_best(positions, regrets, weights, position)


def linear(positions: Array, regrets: Array, shares: Array, position: Array) -> tuple[Array, Array]:
    """Return regrets that are linear in the features around a position.

    A ridge regression for each call, in which nearer problems have more weight.
    """
    known = np.isfinite(position) & np.isfinite(positions).all(axis=0)
    mean, weights = nearer(positions, regrets, shares, position)
    middle = np.average(positions[:, known], axis=0, weights=weights)
    X = positions[:, known] - middle
    penalized = (weights[:, None] * X).T @ X + RIDGE * np.eye(X.shape[1])
    slopes = np.linalg.solve(penalized, (weights[:, None] * X).T @ (regrets - mean))
    expected: Array = mean + (position[known] - middle) @ slopes
    return np.clip(expected, 0.0, math.log(MISS)), weights


def logs_of(costs: Array, least: Array) -> Array:
    """Return the logarithms of costs over the minimum of each problem, from 1 to `MISS`."""
    factors = np.nan_to_num(costs / least.reshape(-1, 1), nan=MISS)
    logs: Array = np.log(np.clip(factors, 1.0, MISS))
    return logs


def _number(weights: Array) -> float:
    """Return the effective number of problems of a weighted mean."""
    return float(weights.sum() ** 2 / (weights @ weights))


def similarity(positions: Array, position: Array, width: float) -> Array:
    """Return weights that fall exponentially with the distance, the largest of which is 1."""
    unlike = np.isnan(positions) != np.isnan(position)
    distances = np.where(unlike, UNLIKE, np.nan_to_num(np.abs(positions - position)))
    far = distances.sum(axis=1)
    weights: Array = np.exp(-(far - far.min()) / width)
    return weights


MODELS: tuple[Model, ...] = (single_best, nearest, nearer, linear)


@dataclass(frozen=True)
class Solved:
    """The calls that solve a problem.

    Attributes
    ----------
    ends : mapping
        The cost of solvers to their own end.
    early : mapping
        The runs of solvers that are within `TOLERANCE` after a number of steps, by seed.
    """

    comparison: Comparison
    ends: Mapping[str, float]
    early: Mapping[str, Sequence[AtlasRow]]

    @property
    def ran(self) -> set[str]:
        """The solvers that take the problem."""
        return {d.solver for d in self.comparison.decisions}

    def enough(self, solver: str) -> int:
        """Return the smallest number of steps of a solver that is enough on all seeds."""
        return max(row.enough for row in self.early[solver])

    def cost(self, solver: str, steps: int) -> float:
        """Return the cost of a call; NaN for a miss."""
        if not steps:
            return self.ends.get(solver, math.nan)
        if solver not in self.early or steps < self.enough(solver):
            return math.nan
        costs = [cost_at(row, steps, self.comparison.cost) for row in self.early[solver]]
        return float(np.median(costs))

    @property
    def least(self) -> float:
        """The cost of the cheapest call, of solvers with the largest number of seeds."""
        early = {solver: self.cost(solver, self.enough(solver)) for solver in self.early}
        seeds = {d.solver: d.seeds for d in self.comparison.decisions}
        most = max(seeds[solver] for solver in (*self.ends, *early))
        known = (*self.ends.items(), *early.items())
        return min(cost for solver, cost in known if seeds[solver] == most)


def losses(rows: Sequence[AtlasRow], comparisons: Iterable[Comparison]) -> Losses:
    """Return the losses of each call on the problems of one kind that some solver solves.

    The stops of a solver are the numbers of steps that are just enough on some problem. They count
    within `TOLERANCE` alone: for another one, only own ends are known.
    """
    first = {row.problem: row for row in reversed(rows)}
    names = {row.solver: row.solver_name for row in rows}
    by_problem = grouped(rows, lambda row: row.problem)
    found = [solved(c, by_problem[c.problem]) for c in comparisons]
    some = [one for one in found if one.ends or one.early]
    calls = list(dict.fromkeys(
        [(solver, 0) for one in some for solver in one.ends]
        + [(solver, one.enough(solver)) for one in some for solver in one.early]
    ))  # fmt: skip
    return Losses(
        tuple(solver for solver, _ in calls),
        tuple(names[solver] for solver, _ in calls),
        tuple(Stop.at(steps=steps) if steps else Stop() for _, steps in calls),
        tuple(first[one.comparison.problem] for one in some),
        np.array([one.comparison.block for one in some]),
        np.array([[one.cost(*call) for call in calls] for one in some]),
        np.array([one.least for one in some]),
        np.array([[solver in one.ran for solver, _ in calls] for one in some]),
        FREE.get(some[0].comparison.cost, 0.0) if some else 0.0,
    )


def solved(comparison: Comparison, rows: Sequence[AtlasRow]) -> Solved:
    """Return the calls that solve a problem.

    A solver with too few seeds to be tested counts if all of its runs got to the tolerance: a
    prediction is no verdict. An end that is reached within the first step has no early stop.
    """
    ends = {
        d.solver: d.cost
        for d in comparison.decisions
        if 0 < d.cost < math.inf
        and (d.as_good or (d.verdict is Verdict.UNTESTED and d.reached == d.seeds))
    }
    found = Solved(comparison, ends, {})
    if comparison.tolerance != TOLERANCE:
        return found
    by_solver = grouped(of_one_machine(rows, comparison.cost), lambda row: row.solver)
    early = {
        solver: own
        for solver, own in by_solver.items()
        if solver in found.ran  # another suite may have the problem with other solvers
        and all(row.enough and cost_at(row, row.enough, comparison.cost) > 0 for row in own)
        and any(row.enough < row.steps or row.ending in CUT for row in own)
    }
    return replace(found, early=early)


def cost_at(row: AtlasRow, steps: int, cost: str) -> float:
    """Return the cost of a run up to a number of steps that is enough.

    The cost of a step is constant but for the first ones. A run that ended by itself has no more
    steps than it took; one that a limit cut goes on.
    """
    whole: float = getattr(row, cost)
    if row.ending not in CUT:
        steps = min(steps, row.steps)
    if cost != "seconds" or row.enough == row.steps:
        return whole * steps / row.steps
    a_step = max(0.0, whole - row.spent) / (row.steps - row.enough)
    return row.spent + a_step * (steps - row.enough)


def position_of(one: Features | AtlasRow) -> Array:
    """Return the logarithms of features; NaN if unknown."""
    sizes = [float(size) if size > 0 else math.nan for size in (one.rows, one.d, one.k)]
    decay = max(one.decay - 1, 0.0) + SMALL if math.isfinite(one.decay) else math.nan
    return np.log([*sizes, decay, one.noise + SMALL, 1 - one.sparsity + SPARSEST])


def mean_loss(logs: Array) -> float:
    """Return the mean of some losses; that of a miss if there is none."""
    return float(logs.mean()) if len(logs) else math.log(MISS)


def members(found: Losses) -> Iterator[dict[str, Any]]:
    """Yield the worth of each solver among the others of a family, the best first.

    ``solver`` is a name in the catalogue; the best of its settings counts on each problem. It gets
    within the tolerance on ``reached`` problems, at ``factor`` times the least cost (a geometric
    mean in which a miss counts `MISS`). Without it the others cost ``marginal`` times as much.
    """
    names, own = np.array(found.solver_names), found.by_solver(found.solver_names)
    solvers, logs = list(own), np.array(list(own.values()))
    for i in np.argsort(logs.mean(axis=1)):
        others = np.delete(logs, i, axis=0).min(axis=0, initial=math.log(MISS))
        solved = np.isfinite(found.costs[:, names == solvers[i]]).any(axis=1)
        yield {
            "solver": solvers[i],
            "reached": int(solved.sum()),
            "factor": math.exp(logs[i].mean()),
            "marginal": math.exp((others - np.minimum(others, logs[i])).mean()),
        }


def portfolio(found: Losses) -> list[str]:
    """Return the labels of solvers in the order in which to try them.

    Each solver lowers the cost of the best one before it more than any other would, on the
    geometric mean over problems.
    """
    left, order = found.by_solver(found.solvers), list[str]()
    best = np.full(len(found.logs), math.log(MISS))
    while left:
        logs = np.array(list(left.values()))
        gained = np.fmin(best, logs).mean(axis=1) + 1e-3 * logs.mean(axis=1)
        order.append(list(left)[int(gained.argmin())])
        best = np.fmin(best, left.pop(order[-1]))
    return order
