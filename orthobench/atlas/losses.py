"""What each solver loses on the problems of an atlas, and models that tell it elsewhere.

The loss is the logarithm of a solver's cost over that of the call that is named; a miss counts ten.
Costs are those of calls to the solver's own end. A solver with too few seeds to be tested
counts with its cost if all of its runs got to the tolerance: a prediction is no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.atlas.answers import compare, factors
from orthobench.atlas.features import Features
from orthobench.atlas.table import AtlasRow
from orthobench.decide.answer import MISS
from orthobench.decide.rule import TOLERANCE
from orthobench.tools.arrays import Array

Model: TypeAlias = Callable[[Array, Array, Array, Array], Array]
"""Returns the loss of each solver that is expected at a position, of shape (solvers,): from the
positions of problems, the losses there, the weights of the problems, and the position."""

WIDTH = 0.5
"""The width of the weights of nearer problems, in logarithms of features."""

UNLIKE = 2.0
"""The distance between a feature that is known and one that is not."""

TREES, ABSENT = 50, -9.0
"""The number of trees, and what stands there for a feature that is unknown."""

RIDGE = 1.0
"""The penalty of slopes, in problems."""

CLOSE = 0.03
"""The difference between mean losses below which a model is no better than the single best."""

SMALL = 0.01
"""What is added to features that may be zero, before their ratios are taken."""

SIZES = ("rows", "d", "k")
"""The features that are sizes."""


@dataclass(frozen=True)
class Losses:
    """The problems of one kind with what each solver loses there.

    Attributes
    ----------
    solvers : tuple of str
        Their labels.
    solver_names : tuple of str
        What these are called in the catalogue.
    problems : tuple of str
        Their labels.
    names : tuple of str
        What the problems are called in the catalogue.
    features : tuple of Features
    blocks : tuple of str
        Those of variants of one data set are equal.
    logs : ndarray, shape (problems, solvers)
        The logarithm of cost over that of the cheapest that is as good; of `MISS` if it does not
        get there, or was not run.
    costs : ndarray, shape (problems, solvers)
        The cost; NaN if it does not get there.
    """

    solvers: tuple[str, ...]
    solver_names: tuple[str, ...]
    problems: tuple[str, ...]
    names: tuple[str, ...]
    features: tuple[Features, ...]
    blocks: tuple[str, ...]
    logs: Array
    costs: Array

    @cached_property
    def positions(self) -> Array:
        """The logarithms of features, shape (problems, features); NaN if unknown."""
        return np.array([position_of(one) for one in self.features])

    @cached_property
    def model(self) -> Model:
        """The model whose advice loses least on problems that it was not made from.

        It is the single best solver if no other one gains more than `CLOSE`.
        """
        lost = {model: mean_loss(self.held_out[model]) for model in MODELS}
        best = min(MODELS, key=lost.__getitem__)
        return single_best if lost[single_best] <= lost[best] + CLOSE else best

    def expected(
        self, position: Array, model: Model, among: NDArray[np.intp] | None = None
    ) -> Array:
        """Return the loss of each solver that is expected at a position, from some problems."""
        own = np.arange(len(self.problems)) if among is None else among
        blocks = np.array(self.blocks)[own]
        shares = 1.0 / np.array([(blocks == block).sum() for block in blocks])
        return model(self.positions[own], self.logs[own], shares, position)

    @cached_property
    def held_out(self) -> dict[Model, Array]:
        """What is lost by the advice of each model, made without the problems of the same block.

        Only problems count beside which there are those of other blocks.
        """
        blocks = np.array(self.blocks)
        others = [(i, np.flatnonzero(blocks != block)) for i, block in enumerate(blocks)]
        return {
            model: np.array([
                self.logs[i, self.expected(self.positions[i], model, own).argmin()]
                for i, own in others
                if len(own)
            ])
            for model in MODELS
        }  # fmt: skip

    def of_solvers(self) -> dict[str, tuple[Array, Array]]:
        """Return losses and costs of each solver by its name: the best of its settings counts."""
        names = np.array(self.solver_names)
        return {
            name: (
                self.logs[:, names == name].min(axis=1),
                np.fmin.reduce(self.costs[:, names == name], axis=1),
            )
            for name in dict.fromkeys(self.solver_names)
        }


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
    from sklearn.linear_model import Ridge

    known = np.isfinite(position) & np.isfinite(positions).all(axis=0)
    if not known.any():
        return single_best(positions, logs, shares, position)
    fitted = Ridge(RIDGE).fit(positions[:, known], logs, shares)
    expected: Array = fitted.predict(position[None, known]).reshape(-1)
    return np.clip(expected, 0.0, math.log(MISS))


def trees(positions: Array, logs: Array, shares: Array, position: Array) -> Array:
    """Return the losses that randomized trees predict (Geurts, Ernst and Wehenkel 2006)."""
    from sklearn.ensemble import ExtraTreesRegressor

    known = np.nan_to_num(np.vstack([positions, position]), nan=ABSENT)
    targets = logs.ravel() if logs.shape[1] == 1 else logs
    forest = ExtraTreesRegressor(TREES, random_state=0).fit(known[:-1], targets, shares)
    expected: Array = forest.predict(known[-1:]).reshape(-1)
    return expected


MODELS: tuple[Model, ...] = (single_best, nearer, linear, trees)
"""What tells the loss of each solver at a position."""


def losses(rows: Sequence[AtlasRow], cost: str = "seconds", tolerance: float = TOLERANCE) -> Losses:
    """Return what each solver loses on the problems of one kind.

    A problem on which no solver gets to the tolerance is left out.
    """
    first = {row.problem: row for row in reversed(rows)}
    names = {row.solver: row.solver_name for row in rows}
    told = [(c, own) for c in compare(rows, cost, tolerance) if (own := factors(c))]
    solvers = tuple(dict.fromkeys(solver for _, own in told for solver in own))
    return Losses(
        solvers,
        tuple(names[solver] for solver in solvers),
        tuple(c.problem for c, _ in told),
        tuple(c.name for c, _ in told),
        tuple(features_in(first[c.problem]) for c, _ in told),
        tuple(c.block for c, _ in told),
        np.log([[own.get(name, MISS) for name in solvers] for _, own in told]),
        np.array(
            [[c.of(name).cost if name in own else math.nan for name in solvers] for c, own in told]
        ),
    )


def features_in(row: AtlasRow) -> Features:
    """Return the features of the problem of a row."""
    return Features(row.rows, row.d, row.k, row.decay, row.noise, row.sparsity)


def position_of(one: Features) -> Array:
    """Return the logarithms of features; NaN if unknown."""
    sizes = [float(size) if size > 0 else math.nan for size in (one.rows, one.d, one.k)]
    decay = max(one.decay - 1, 0.0) + SMALL if math.isfinite(one.decay) else math.nan
    return np.log([*sizes, decay, one.noise + SMALL, 1 - one.sparsity + SMALL])


def mean_loss(logs: Array) -> float:
    """Return the mean of some losses; that of a miss if there is none."""
    return float(logs.mean()) if len(logs) else math.log(MISS)


def members(found: Losses) -> Iterator[dict[str, Any]]:
    """Yield what each solver is worth among the others of a family, the best first.

    ``solver`` is a name in the catalogue; the best of its settings counts on each problem. It gets
    there on ``reached`` problems, at ``factor`` times the least cost, a geometric mean in which a
    miss counts `MISS`; without it the best of the others costs ``marginal`` times as much.
    ``exponents`` and ``error`` are those of `fit`.
    """
    solvers = found.of_solvers()
    logs = np.array([own for own, _ in solvers.values()])
    for i in np.argsort(logs.mean(axis=1)):
        name, (own, costs) = [*solvers.items()][i]
        others = np.delete(logs, i, axis=0).min(axis=0, initial=math.log(MISS))
        exponents, error = fit(found.features, costs)
        yield {
            "solver": name,
            "reached": int(np.isfinite(costs).sum()),
            "factor": math.exp(own.mean()),
            "marginal": math.exp((others - np.minimum(others, own)).mean()),
            "exponents": exponents,
            "error": error,
        }


def expected_bytes(rows: Sequence[AtlasRow], solver: str, at: Features) -> float:
    """Return the bytes that a solver is expected to take beside the data; NaN if unmeasured.

    They are a power law of the sizes, times the factor by which it is too low if it is lowest.
    """
    measured = {
        row.problem_id: row
        for row in rows
        if row.solver_name == solver and row.memory > 0 and math.isfinite(row.memory)
    }
    if not measured:
        return math.nan
    own = [features_in(row) for row in measured.values()]
    sizes = np.array([[max(getattr(one, name), 1) for name in SIZES] for one in (*own, at)], float)
    X = np.c_[np.log(sizes), np.ones(len(sizes))]
    y = np.log([row.memory for row in measured.values()])
    solution = np.linalg.lstsq(X[:-1], y, rcond=1e-3)[0]  # what hardly varies has no power
    return float(np.exp(X[-1] @ solution + max(0.0, float((y - X[:-1] @ solution).max()))))


def fit(features: Sequence[Features], costs: Array) -> tuple[dict[str, float], float]:
    """Return the powers by which a cost grows with sizes, and the factor by which that is wrong.

    Parameters
    ----------
    features : sequence of Features
    costs : ndarray, shape (problems,)
        NaN if unknown.

    Returns
    -------
    exponents : dict
        Of the sizes that vary; empty if there are fewer problems than two more than sizes.
    error : float
        The median of the factor of error, each problem by a fit without it.
    """
    sizes = np.array([[getattr(one, name) for name in SIZES] for one in features], dtype=float)
    known = np.isfinite(costs)
    varies = [i for i in range(len(SIZES)) if len(set(sizes[known, i])) > 1 and sizes[:, i].all()]
    if known.sum() < len(varies) + 3:
        return {}, math.nan
    X = np.c_[np.log(sizes[known][:, varies]), np.ones(known.sum())]
    y = np.log(costs[known])
    solution = np.linalg.lstsq(X, y, rcond=None)[0]
    leverage = np.einsum("ij,ji->i", X, np.linalg.pinv(X))
    left_out = (y - X @ solution) / np.maximum(1 - leverage, 1e-6)
    exponents = {SIZES[i]: float(a) for i, a in zip(varies, solution, strict=False)}
    return exponents, float(np.exp(np.median(np.abs(left_out))))
