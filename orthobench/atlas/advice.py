"""Advice: the method to use on data that an atlas has not seen, with the regret to expect.

For each solver the logarithm of its cost over that of the cheapest that is as good, where a miss
counts ten, is predicted at the features of the data: by its mean over the problems of the family,
nearer ones with more weight (exp(-x/h) at a distance x between the logarithms of features), or by a
ridge regression on them. Of these `MODELS` the one is used whose advice has the least regret on the
problems of the atlas when those of the same data are left out. The first gives all problems the
same weight, which is the single best solver: advice leaves that one only where this gains on
problems that it was not made from.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.atlas.answers import compare, find, folded, opened
from orthobench.atlas.features import Features, features_of
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.contract.problem import AnyInstance, AnyProblem, Problem
from orthobench.decide.answer import MISS, Answer, answer
from orthobench.decide.rule import TOLERANCE
from orthobench.decide.wording import factor_text
from orthobench.errors import UsageError
from orthobench.harness.cell import instance_of
from orthobench.registry.plugins import catalogue
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean, plural

Model: TypeAlias = Callable[[Array, Array, Array, Array], Array]
"""Returns the loss of each solver that is expected at a position, of shape (solvers,): from the
positions of problems, the losses there, the weights of the problems, and the position."""

BANDWIDTHS = (math.inf, 4.0, 2.0, 1.0, 0.5)
"""Widths of the weights, in logarithms of features; the first is the single best solver."""

RIDGE = 1.0
"""The penalty of slopes, in problems."""

SMALL = 0.01
"""What is added to features that may be zero, before their ratios are taken."""

BEYOND = 2.0
"""A size is extrapolated where it is so many times beyond all that was measured."""


@dataclass(frozen=True)
class Advice:
    """What to use on some data.

    Attributes
    ----------
    use : str
        The name of a solver in the catalogue.
    parameters : mapping
        Those that were the same wherever it was measured.
    expected_regret : float
        Its cost over that of the cheapest, to be expected: the geometric mean over problems of the
        atlas, advised without those of the same name.
    extrapolation : float
        How many times beyond all sizes that were measured the data are; 1 where they are not.
    runner_up : str, optional
    sentence : str
    check : str
        The command that settles it.
    features : Features
    near : tuple of str
        The problems with the most weight.
    """

    use: str
    parameters: Mapping[str, Any]
    expected_regret: float
    extrapolation: float
    runner_up: str | None
    sentence: str
    check: str
    features: Features
    near: tuple[str, ...]


@dataclass(frozen=True)
class Losses:
    """The problems of one kind with what each solver loses there.

    Attributes
    ----------
    solvers : tuple of str
        Their labels.
    problems : tuple of str
        Their labels.
    blocks : tuple of int
        A number for each problem: those of one name and size, which are variants of the same data,
        share it.
    positions : ndarray, shape (problems, features)
        Logarithms of features; NaN where unknown.
    logs : ndarray, shape (problems, solvers)
        The logarithm of cost over that of the cheapest that is as good; of `MISS` where it does not
        get there, or was not run.
    """

    solvers: tuple[str, ...]
    problems: tuple[str, ...]
    blocks: tuple[int, ...]
    positions: Array
    logs: Array

    @cached_property
    def model(self) -> Model:
        """The model whose advice loses least on problems that it was not made from."""
        return min(MODELS, key=lambda m: (round(_mean(self.held_out(m)), 2), MODELS.index(m)))

    def expected(
        self, position: Array, model: Model, among: NDArray[np.intp] | None = None
    ) -> Array:
        """Return the loss of each solver that is expected at a position, from some problems."""
        own = np.arange(len(self.problems)) if among is None else among
        blocks = np.array(self.blocks)[own]
        shares = 1.0 / np.array([(blocks == block).sum() for block in blocks])
        return model(self.positions[own], self.logs[own], shares, position)

    def held_out(self, model: Model) -> Array:
        """Return what is lost on each problem by the advice made without those of its block."""
        blocks = np.array(self.blocks)
        losses = []
        for i, block in enumerate(blocks):
            others = np.flatnonzero(blocks != block)
            if len(others):
                expected = self.expected(self.positions[i], model, others)
                losses.append(self.logs[i, expected.argmin()])
        return np.array(losses)


def _nearer(width: float) -> Model:
    """Return the model that gives nearer problems more weight; infinite width: all the same."""

    def mean(positions: Array, logs: Array, shares: Array, position: Array) -> Array:
        distances = np.abs(positions - position)
        finite = ~np.isnan(distances)
        known = np.maximum(finite.sum(axis=1), 1) / distances.shape[1]
        far = np.where(finite, distances, 0.0).sum(axis=1) / known
        weights = shares * np.exp(-(far - far.min()) / width)
        expected: Array = weights @ logs / weights.sum()
        return expected

    return mean


def _linear(positions: Array, logs: Array, shares: Array, position: Array) -> Array:
    """Return losses that are linear in the features: a ridge regression for each solver."""
    known = np.isfinite(position) & np.isfinite(positions).all(axis=0)
    centre = (shares @ positions[:, known]) / shares.sum()
    X, x = positions[:, known] - centre, position[known] - centre
    mean = (shares @ logs) / shares.sum()
    gram = X.T @ (shares[:, None] * X) + RIDGE * np.eye(X.shape[1])
    slopes = np.linalg.solve(gram, X.T @ (shares[:, None] * (logs - mean)))
    expected: Array = np.clip(mean + x @ slopes, 0.0, math.log(MISS))
    return expected


MODELS: tuple[Model, ...] = (*map(_nearer, BANDWIDTHS), _linear)
"""What tells the loss of each solver at a position. The first is the single best solver."""


def advise(
    problem: str | AnyProblem | AnyInstance,
    cost: str = "seconds",
    tolerance: float = TOLERANCE,
    atlas: Atlas | None = None,
    family: str = "",
) -> Advice:
    """Say which method to use, from measurements that are there already; nothing is run.

    Parameters
    ----------
    problem : str, Problem or Instance
        As ``"npy-stochastic-pca path=X.npy k=8"``, or data of your own such as
        ``ob.stochastic_pca(X, k=8)``.
        It is built once, and its data are measured: size, spectrum, noise, share of zeros.
    cost : str
        What is to be least: ``"seconds"``, ``"samples"`` or ``"flops"``.
    tolerance : float
        The part of the gap by which a method may end above the best that is as good: 0.01 or 1e-6.
    atlas : Atlas, optional
        The one that comes with the package where none is given.
    family : str
        The family of an instance, where it cannot be told by its oracle.

    Returns
    -------
    Advice
        Its ``use`` is always a name.

    Raises
    ------
    UsageError
        Where the atlas has no problem of the family, or no solver that can take the data.
    DataError
        Where the data cannot be read.
    """
    atlas = atlas or opened(None)
    recipe, instance, text = _built(problem)
    rows = _rows_of_kind(atlas, recipe, instance, family)
    features = features_of(instance)
    found = losses(rows, cost, tolerance)
    usable = np.array([_usable(name, rows, recipe, instance) for name in found.solvers])
    if not usable.any():
        raise UsageError("no solver of the atlas that is installed here can take these data")
    mean = found.expected(_position(features), found.model)
    order = [int(i) for i in np.argsort(np.where(usable, mean, np.inf)) if usable[i]]
    return _worded(found, order, rows, features, cost, text)


def on_problem(
    atlas: Atlas, text: str, cost: str = "seconds", tolerance: float = TOLERANCE
) -> Answer:
    """Return what to use on one of an atlas's own problems, by its name or label."""
    (kind, *_), _ = find(atlas, text)
    wanted = folded(text)
    rows = [r for r in atlas.kinds[kind] if wanted in (folded(r.name), folded(r.problem))]
    return answer(compare(rows, cost, tolerance))


def _built(
    problem: str | AnyProblem | AnyInstance,
) -> tuple[AnyProblem | None, AnyInstance, str]:
    """Return the problem where it is one, its instance, and how a command line names it."""
    if isinstance(problem, str):
        from orthobench.registry.entries import specification

        entry: dict[str, Any] = specification(problem)
        recipe = catalogue().problem(entry.pop("name"), entry)
        return recipe, instance_of(recipe, 0), problem
    if isinstance(problem, Problem):
        return problem, instance_of(problem, 0), problem.name
    return None, problem, ""


def _rows_of_kind(
    atlas: Atlas, recipe: AnyProblem | None, instance: AnyInstance | None, family: str
) -> Sequence[AtlasRow]:
    """Return the rows of the family of a problem, with its metric where there are such."""
    base = recipe or (catalogue().base_of(instance.oracle) if instance else None)
    wanted = family or (base.family if base else "")
    kinds = [rows for rows in atlas.kinds.values() if rows[0].family == wanted]
    if not kinds:
        families = ", ".join(dict.fromkeys(row.family for row in atlas.rows)) or "none"
        raise UsageError(
            f"the atlas has no problem of the family {wanted!r}, so it cannot tell; its families: "
            f"{families}"
        )
    metric = recipe.primary if recipe else ""
    return next((rows for rows in kinds if rows[0].metric == metric), kinds[0])


def losses(rows: Sequence[AtlasRow], cost: str = "seconds", tolerance: float = TOLERANCE) -> Losses:
    """Return what each solver loses on the problems of one kind.

    A problem on which nobody gets there is left out.
    """
    problems, positions, found, own_blocks = [], [], [], []
    blocks: dict[tuple[str, int, int], int] = {}
    first = {row.problem: row for row in reversed(rows)}
    for c in compare(rows, cost, tolerance):
        factors = {d.solver: d.factor for d in c.as_good if 0 < d.factor < math.inf}
        if not factors:
            continue
        row = first[c.problem]
        problems.append(c.problem)
        own_blocks.append(blocks.setdefault((c.block, row.rows, row.d), len(blocks)))
        positions.append(_position(features_in(row)))
        found.append({name: min(factor, MISS) for name, factor in factors.items()})
    solvers = tuple(dict.fromkeys(name for one in found for name in one))
    logs = np.log([[one.get(name, MISS) for name in solvers] for one in found])
    return Losses(solvers, tuple(problems), tuple(own_blocks), np.array(positions), logs)


def features_in(row: AtlasRow) -> Features:
    """Return the features of the problem of a row; of samples that never end, those drawn."""
    drawn = int(row.samples) if math.isfinite(row.samples) else 0
    return Features(row.rows or drawn, row.d, row.k, row.decay, row.noise, row.sparsity)


def _position(one: Features) -> Array:
    """Return the logarithms of features; NaN where unknown."""
    sizes = [float(size) if size > 0 else math.nan for size in (one.rows, one.d, one.k)]
    decay = max(one.decay - 1, 0.0) + SMALL if math.isfinite(one.decay) else math.nan
    return np.log([*sizes, decay, one.noise + SMALL, 1 - one.sparsity + SMALL])


def _mean(logs: Array) -> float:
    return float(logs.mean()) if len(logs) else math.log(MISS)


def _usable(
    solver: str, rows: Sequence[AtlasRow], recipe: AnyProblem | None, instance: AnyInstance
) -> bool:
    """Return whether a solver is installed here and takes the data, by its label."""
    text = next(row.solver_parameters for row in rows if row.solver == solver)
    try:
        offers = type(instance.oracle)
        made = catalogue().solver(solver.split()[0], settings(text), offers)
    except UsageError:
        return False
    if recipe:
        return made.refuses(recipe) is None
    return isinstance(instance.oracle, made.needs) and made.missing_packages() is None


def _worded(
    found: Losses,
    order: Sequence[int],
    rows: Sequence[AtlasRow],
    features: Features,
    cost: str,
    text: str,
) -> Advice:
    """Return the advice in words, with the command that settles it."""
    solver, second = found.solvers[order[0]], [found.solvers[i] for i in order[1:2]]
    measured = [settings(row.solver_parameters) for row in rows if row.solver == solver]
    parameters = {
        name: value
        for name, value in measured[0].items()
        if all(one.get(name) == value for one in measured)
    }
    regret = math.exp(_mean(found.held_out(found.model)))
    extrapolation, which = _extrapolation(features, rows)
    far = np.nansum(np.abs(found.positions - _position(features)), axis=1)
    near = tuple(dict.fromkeys(found.problems[i] for i in np.argsort(far)[:3]))
    title = ALL_COSTS[cost].title
    sentence = f"Use {clean(solver)}: expect {factor_text(regret)} times the least {title}"
    sentence += f", judged on {plural(len(found.problems), 'problem')} of the atlas"
    if second:
        sentence += f"; next is {clean(second[0])}"
    if extrapolation > 1:
        sentence += f". Your data have {factor_text(extrapolation)} times {which} than any measured"
    check = shlex.join(["orthobench", "race", "-p", text or "SPEC"])
    return Advice(
        solver.split()[0], parameters, regret, extrapolation, second[0] if second else None,
        f"{sentence}.", check, features, near,
    )  # fmt: skip


def _extrapolation(features: Features, rows: Sequence[AtlasRow]) -> tuple[float, str]:
    """Return how far a size is beyond all that was measured, and which."""
    measured = [features_in(row) for row in {r.problem_id: r for r in rows}.values()]
    beyond = [(1.0, "")]
    for name, word in (("rows", "rows"), ("d", "columns"), ("k", "components")):
        sizes = [getattr(one, name) for one in measured if getattr(one, name) > 0]
        own = getattr(features, name)
        if sizes and own > BEYOND * max(sizes):
            beyond.append((own / max(sizes), f"more {word}"))
        elif sizes and 0 < own < min(sizes) / BEYOND:
            beyond.append((min(sizes) / own, f"fewer {word}"))
    return max(beyond)
