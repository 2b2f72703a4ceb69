"""Advice: the method to use on data that an atlas has not seen, with the regret to expect.

For each solver the logarithm of its cost over that of the cheapest that is as good, where a miss
counts ten, is averaged over the problems of the family, nearer ones with more weight: exp(-x/h) at
a distance x between the logarithms of features. The bandwidth h is the one, of `BANDWIDTHS`, whose
advice has the least regret on the problems of the atlas when all of the same name are left out. The
widest gives all problems the same weight, which is the single best solver: advice leaves that one
only where this gains on problems that it was not made from.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.atlas.answers import compare, find, folded, opened
from orthobench.atlas.features import Features, features_of
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.contract.parameters import parameters_of
from orthobench.contract.problem import AnyInstance, AnyProblem, Problem
from orthobench.decide.answer import MISS, Answer, answer
from orthobench.decide.rule import TOLERANCE, Comparison
from orthobench.decide.wording import factor_text
from orthobench.errors import UsageError
from orthobench.harness.cell import instance_of
from orthobench.registry.plugins import catalogue
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean, plural

BANDWIDTHS = (math.inf, 4.0, 2.0, 1.0, 0.5)
"""Widths of the weights, in logarithms of features; the first is the single best solver."""

SMALL = 0.01
"""What is added to features that may be zero, before their ratios are taken."""

SEEDS = 10
"""The seeds of the command that settles it."""

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
    blocks : tuple of str
        The name of each problem in the catalogue.
    positions : ndarray, shape (problems, features)
        Logarithms of features; NaN where unknown.
    logs : ndarray, shape (problems, solvers)
        The logarithm of cost over that of the cheapest that is as good; of `MISS` where it is not
        as good, or was not run.
    """

    solvers: tuple[str, ...]
    blocks: tuple[str, ...]
    positions: Array
    logs: Array

    def expected(self, position: Array, width: float, among: NDArray[np.intp]) -> Array:
        """Return the mean loss of each solver near a position, over some of the problems."""
        distances = np.abs(self.positions[among] - position)
        finite = ~np.isnan(distances)
        share = np.maximum(finite.sum(axis=1), 1) / distances.shape[1]
        far = np.where(finite, distances, 0.0).sum(axis=1) / share
        weights = np.exp(-(far - far.min()) / width)
        names = np.array(self.blocks)[among]
        for name in set(names):  # variants of one data set share the weight of one problem
            weights[names == name] /= (names == name).sum()
        mean: Array = weights @ self.logs[among] / weights.sum()
        return mean

    def held_out(self, width: float) -> Array:
        """Return the loss of what is advised on each problem without those of its name."""
        names = np.array(self.blocks)
        losses = []
        for i, name in enumerate(names):
            others = np.flatnonzero(names != name)
            if len(others):
                losses.append(
                    self.logs[i, self.expected(self.positions[i], width, others).argmin()]
                )
        return np.array(losses)


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
    comparisons = [c for c in compare(rows, cost, tolerance) if c.as_good]
    losses = _losses(comparisons, rows)
    usable = np.array([_usable(name, rows, recipe, instance) for name in losses.solvers])
    if not usable.any():
        raise UsageError("no solver of the atlas that is installed here can take these data")
    width = min(BANDWIDTHS, key=lambda h: (round(_mean(losses.held_out(h)), 6), -h))
    mean = losses.expected(_position(features), width, np.arange(len(losses.blocks)))
    order = [int(i) for i in np.argsort(np.where(usable, mean, np.inf)) if usable[i]]
    return _worded(comparisons, losses, order, width, rows, features, cost, text)


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


def _losses(comparisons: Sequence[Comparison], rows: Sequence[AtlasRow]) -> Losses:
    one = {row.problem_id: row for row in rows}
    first = {problem: row for (_, problem), row in one.items()}
    solvers = tuple(dict.fromkeys(d.solver for c in comparisons for d in c.decisions))
    logs = np.full((len(comparisons), len(solvers)), math.log(MISS))
    for i, c in enumerate(comparisons):
        for d in c.as_good:
            if d.factor > 0 and math.isfinite(d.factor):
                logs[i, solvers.index(d.solver)] = math.log(d.factor)
    positions = [_position(features_in(first[c.problem])) for c in comparisons]
    return Losses(solvers, tuple(c.block for c in comparisons), np.array(positions), logs)


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
    comparisons: Sequence[Comparison],
    losses: Losses,
    order: Sequence[int],
    width: float,
    rows: Sequence[AtlasRow],
    features: Features,
    cost: str,
    text: str,
) -> Advice:
    """Return the advice in words, with the command that settles it."""
    solver, second = losses.solvers[order[0]], [losses.solvers[i] for i in order[1:2]]
    decisions = [c.of(solver) for c in comparisons if c.of(solver).parameters]
    parameters = {
        name: value
        for name, value in (decisions[0].parameters.items() if decisions else ())
        if all(d.parameters.get(name) == value for d in decisions)
    }
    regret = math.exp(_mean(losses.held_out(width)))
    extrapolation, which = _extrapolation(features, rows)
    far = np.nansum(np.abs(losses.positions - _position(features)), axis=1)
    near = tuple(dict.fromkeys(comparisons[i].problem for i in np.argsort(far)[:3]))
    title = ALL_COSTS[cost].title
    sentence = f"Use {clean(solver)}: expect {factor_text(regret)} times the least {title}"
    sentence += f", judged on {plural(len(losses.blocks), 'problem')} of the atlas"
    if second:
        sentence += f"; next is {clean(second[0])}"
    if extrapolation > 1:
        sentence += f". Your data have {factor_text(extrapolation)} times {which} than any measured"
    words = ["orthobench", "run", "-p", text or "SPEC"]
    for name in (solver, *second):
        words += ["-s", _specification(name, rows)]
    return Advice(
        solver.split()[0], parameters, regret, extrapolation, second[0] if second else None,
        f"{sentence}.", shlex.join([*words, "--seeds", str(SEEDS)]), features, near,
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


def _specification(solver: str, rows: Sequence[AtlasRow]) -> str:
    """Return a solver as the command line names it: tuned where it declares what to try."""
    name = solver.split()[0]
    provided = catalogue().solvers.get(name)
    if provided is None:
        return name
    values = settings(next(row.solver_parameters for row in rows if row.solver == solver))
    words = [name]
    for parameter in parameters_of(provided.item):
        value = values.get(parameter.name, parameter.default)
        if parameter.grid:
            words.append(f"{parameter.name}={{tune=true}}")
        elif value != parameter.default:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            words.append(f"{parameter.name}={shlex.quote(text)}")
    return " ".join(words)
