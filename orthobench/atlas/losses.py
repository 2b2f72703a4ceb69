"""The loss of each solver on the problems of an atlas, and models that predict it elsewhere.

The loss is the logarithm of the cost of a solver's call to its own end, over that of the named
call; a miss counts ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.atlas.answers import factors
from orthobench.atlas.features import Features
from orthobench.atlas.table import AtlasRow
from orthobench.decide.answer import MISS
from orthobench.decide.rule import Comparison
from orthobench.tools.arrays import Array

Model: TypeAlias = Callable[[Array, Array, Array, Array], Array]
"""Returns the expected loss of each solver at a position, from the positions of problems, the
losses there, the weights of the problems, and the position."""

WIDTH = 0.5
"""Width of the weights of nearer problems, in logarithms of features."""

UNLIKE = 2.0
"""Distance between a known and an unknown feature, in logarithms of features."""

RIDGE = 1.0
"""Penalty of slopes, in problems."""

CLOSE = 0.03
"""Minimum gain in mean loss for which a model replaces the single best solver."""

SMALL = 0.01
"""Added to features that may be zero, before their logarithms are taken."""

SIZES = ("rows", "d", "k")
"""Features that are sizes."""


@dataclass(frozen=True)
class Losses:
    """The problems of one kind with the losses of each solver.

    Attributes
    ----------
    solvers, solver_names : tuple of str
        Labels, and names in the catalogue.
    problems : tuple of AtlasRow
        A row of each problem.
    blocks : ndarray of str, shape (problems,)
        Variants of one data set have equal blocks.
    logs, costs : ndarray, shape (problems, solvers)
        Losses, and costs, which are NaN for a miss.
    """

    solvers: tuple[str, ...]
    solver_names: tuple[str, ...]
    problems: tuple[AtlasRow, ...]
    blocks: NDArray[np.str_]
    logs: Array
    costs: Array

    @cached_property
    def positions(self) -> Array:
        """The logarithms of features, shape (problems, features); NaN if unknown."""
        return np.array([position_of(one) for one in self.problems])

    @cached_property
    def model(self) -> Model:
        """The model whose advice loses least on problems of other blocks.

        It is the single best solver if no other model gains more than `CLOSE`.
        """
        means = {model: mean_loss(self.held_out[model]) for model in MODELS}
        best = min(MODELS, key=means.__getitem__)
        return single_best if means[single_best] <= means[best] + CLOSE else best

    @property
    def lost(self) -> Array:
        """The losses of advice by its model on problems of other blocks."""
        return self.held_out[self.model]

    def ranked(self, features: Features) -> list[str]:
        """Return the labels of the solvers, the smallest expected loss first."""
        if not self.solvers:
            return []
        order = np.argsort(self.expected(position_of(features), self.model))
        return [self.solvers[i] for i in order]

    def expected(
        self, position: Array, model: Model, among: NDArray[np.intp] | None = None
    ) -> Array:
        """Return the expected loss of each solver at a position, from some problems."""
        own = np.arange(len(self.problems)) if among is None else among
        blocks = self.blocks[own]
        shares = 1.0 / np.array([(blocks == block).sum() for block in blocks])
        return model(self.positions[own], self.logs[own], shares, position)

    @cached_property
    def held_out(self) -> dict[Model, Array]:
        """The losses of each model's advice, made without the problems of the same block."""
        others = [(i, np.flatnonzero(self.blocks != one)) for i, one in enumerate(self.blocks)]
        return {
            model: np.array([
                self.logs[i, self.expected(self.positions[i], model, own).argmin()]
                for i, own in others
                if len(own)
            ])
            for model in MODELS
        }  # fmt: skip


def single_best(positions: Array, logs: Array, shares: Array, position: Array) -> Array:
    """Return the mean losses over all problems: the same everywhere."""
    del positions, position
    expected: Array = shares @ logs / shares.sum()
    return expected


def nearer(positions: Array, logs: Array, shares: Array, position: Array) -> Array:
    """Return the mean losses, in which nearer problems have more weight."""
    unlike = np.isnan(positions) != np.isnan(position)
    distances = np.where(unlike, UNLIKE, np.nan_to_num(np.abs(positions - position)))
    far = distances.sum(axis=1)
    return single_best(positions, logs, shares * np.exp(-(far - far.min()) / WIDTH), position)


def linear(positions: Array, logs: Array, shares: Array, position: Array) -> Array:
    """Return losses that are linear in the features: a ridge regression for each solver."""
    known = np.isfinite(position) & np.isfinite(positions).all(axis=0)
    middle, mean = np.average(positions[:, known], axis=0, weights=shares), shares @ logs
    X, mean = positions[:, known] - middle, mean / shares.sum()
    weighted = shares[:, None] * X
    penalized = weighted.T @ X + RIDGE * np.eye(X.shape[1])
    slopes = np.linalg.solve(penalized, weighted.T @ (logs - mean))
    expected: Array = mean + (position[known] - middle) @ slopes
    return np.clip(expected, 0.0, math.log(MISS))


MODELS: tuple[Model, ...] = (single_best, nearer, linear)


def losses(rows: Sequence[AtlasRow], comparisons: Iterable[Comparison]) -> Losses:
    """Return the losses of each solver on the problems of one kind that some solver solves."""
    first = {row.problem: row for row in reversed(rows)}
    names = {row.solver: row.solver_name for row in rows}
    solved = [(c, own) for c in comparisons if (own := factors(c, first[c.problem].least))]
    solvers = tuple(dict.fromkeys(solver for _, own in solved for solver in own))
    return Losses(
        solvers,
        tuple(names[solver] for solver in solvers),
        tuple(first[c.problem] for c, _ in solved),
        np.array([c.block for c, _ in solved]),
        np.log([[own.get(name, MISS) for name in solvers] for _, own in solved]),
        np.array([
            [c.of(name).cost if name in own else math.nan for name in solvers]
            for c, own in solved
        ]),
    )  # fmt: skip


def position_of(one: Features | AtlasRow) -> Array:
    """Return the logarithms of features; NaN if unknown."""
    sizes = [float(size) if size > 0 else math.nan for size in (one.rows, one.d, one.k)]
    decay = max(one.decay - 1, 0.0) + SMALL if math.isfinite(one.decay) else math.nan
    return np.log([*sizes, decay, one.noise + SMALL, 1 - one.sparsity + SMALL])


def mean_loss(logs: Array) -> float:
    """Return the mean of some losses; that of a miss if there is none."""
    return float(logs.mean()) if len(logs) else math.log(MISS)


def members(found: Losses) -> Iterator[dict[str, Any]]:
    """Yield the worth of each solver among the others of a family, the best first.

    ``solver`` is a name in the catalogue; the best of its settings counts on each problem. It gets
    within the tolerance on ``reached`` problems, at ``factor`` times the least cost (a geometric
    mean in which a miss counts `MISS`). Without it the others cost ``marginal`` times as much.
    """
    names = np.array(found.solver_names)
    solvers = list(dict.fromkeys(found.solver_names))
    logs = np.array([found.logs[:, names == name].min(axis=1) for name in solvers])
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
    left, order = list(range(len(found.solvers))), list[str]()
    best = np.full(len(found.logs), math.log(MISS))
    while left:
        logs = found.logs[:, left]
        gained = np.fmin(best[:, None], logs).mean(axis=0) + 1e-3 * logs.mean(axis=0)
        first = left.pop(int(gained.argmin()))
        best = np.fmin(best, found.logs[:, first])
        order.append(found.solvers[first])
    return order
