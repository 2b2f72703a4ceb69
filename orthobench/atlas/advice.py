"""Advice: the method to use on data that an atlas has not seen, with the regret to expect.

For each solver the logarithm of its cost over that of the cheapest that is as good, where a miss
counts ten, is predicted at the features of the data: by its mean over the problems of the family,
in which nearer ones may have more weight (exp(-2 x) at a distance x between the logarithms of
features), by a ridge regression on them, or by randomized trees. Of these models the one is used
whose advice has the least regret on the problems of the atlas when those of the same data are left
out. The mean gives the single best solver: advice leaves that one only if this gains on problems
that it was not made from.

Costs are those of calls to the solver's own end. If the rows of the data are ordered, only problems
solved to `STRICT` count: solvers that see samples one after another do not end there.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orthobench.atlas.answers import CUT, compare, find, folded, opened, unmapped
from orthobench.atlas.features import Features, features_of
from orthobench.atlas.losses import (
    Losses,
    expected_bytes,
    features_in,
    losses,
    mean_loss,
    position_of,
)
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.contract.problem import AnyInstance, AnyProblem, Problem
from orthobench.contract.solver import AnySolver
from orthobench.decide.answer import Answer, answer, common
from orthobench.decide.code import code_of
from orthobench.decide.rule import STRICT, TOLERANCE
from orthobench.decide.wording import factor_text
from orthobench.errors import UsageError
from orthobench.harness.cell import instance_of
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.registry.preflight import check_ending
from orthobench.stats.calls import Stop
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.formatting import clean, plural
from orthobench.tools.machine import readable

BEYOND = 2.0
"""A size is extrapolated if it is this many times beyond all that was measured."""


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
    solver : str
        Its label in the atlas: the name, with settings that differ from the default.
    code : str
        The lines that compute the answer with `orthobench.solve`, as they can be pasted.
    stop : Stop
        Where the call ends: by itself, or after some samples of data that never end.
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
    solver: str
    code: str
    stop: Stop


def advise(
    problem: str | AnyProblem | AnyInstance,
    cost: str = "seconds",
    tolerance: float = TOLERANCE,
    atlas: Atlas | None = None,
    family: str = "",
    memory: float = math.inf,
) -> Advice:
    """Recommend a method from stored measurements, without running anything.

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
        The one that comes with the package if none is given.
    family : str
        The family of an instance, if it cannot be told by its oracle.
    memory : float
        Bytes that a method may take beside the data: those that are expected to take more are not
        named, nor those whose memory the atlas does not know.

    Returns
    -------
    Advice
        Its ``use`` is always a name.

    Raises
    ------
    UsageError
        If the atlas has no problem of the family, or no solver that can take the data.
    DataError
        If the data cannot be read.
    """
    atlas = atlas or opened(None)
    recipe, instance, text = _built(problem)
    rows = _rows_of_kind(atlas, recipe, instance, family)
    features = features_of(instance)
    found = losses(rows, cost, STRICT if features.ordered else tolerance)
    if not found.solvers:
        raise UsageError(
            "no run of the atlas ended by itself on such problems, so it cannot name a call: "
            f"{_check(text)} can"
        )
    solvers = [_usable(name, rows, recipe, instance) for name in found.solvers]
    usable = np.array([one is not None for one in solvers])
    if not usable.any():
        raise UsageError(
            "no solver of the atlas that is installed here and ends by itself can take these data: "
            f"{_check(text)} tries all"
        )
    taken = np.array([expected_bytes(rows, name, features) for name in found.solver_names])
    if memory < math.inf:
        known, usable = taken[usable & np.isfinite(taken)], usable & (taken <= memory)
        if not usable.any():
            least = readable(int(known.min())) if known.size else "unknown"
            raise UsageError(
                f"no solver is known to take at most {readable(int(memory))} beside the data: the "
                f"least that the atlas expects is {least}"
            )
    mean = found.expected(position_of(features), found.model)
    order = [int(i) for i in np.argsort(np.where(usable, mean, np.inf)) if usable[i]]
    best = solvers[order[0]]
    assert best is not None  # noqa: S101 - only usable ones are in the order
    stop = _stop(best, instance, rows)
    code = code_of(problem, best, stop)
    own = _worded(found, order, rows, features, cost, text, code, stop)
    if not math.isfinite(taken[order[0]]):
        return own
    needs = f"It takes at most about {readable(int(taken[order[0]]))} beside the data."
    return replace(own, sentence=f"{own.sentence} {needs}")


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
    """Return the problem if it is one, its instance, and how a command line names it."""
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
    """Return the rows of the family of a problem, with its metric if there are such."""
    base = recipe or (catalogue().base_of(instance.oracle) if instance else None)
    wanted = family or (base.family if base else "")
    kinds = [rows for rows in atlas.kinds.values() if rows[0].family == wanted]
    if not kinds:
        raise unmapped(atlas, wanted)
    metric = recipe.primary if recipe else ""
    return next((rows for rows in kinds if rows[0].metric == metric), kinds[0])


def _usable(
    solver: str, rows: Sequence[AtlasRow], recipe: AnyProblem | None, instance: AnyInstance
) -> AnySolver | None:
    """Return the solver with a label if it is installed here, takes the data and can be ended."""
    row = next(row for row in rows if row.solver == solver)
    try:
        offers = type(instance.oracle)
        made = catalogue().solver(row.solver_name, settings(row.solver_parameters), offers)
        check_ending(made, instance, Budget(**dict(_stop(made, instance, rows).limits)), None)
    except UsageError:
        return None
    if recipe:
        takes = made.refuses(recipe) is None
    else:
        takes = isinstance(instance.oracle, made.needs) and made.missing_packages() is None
    return made if takes else None


def _stop(solver: AnySolver, instance: AnyInstance, rows: Sequence[AtlasRow]) -> Stop:
    """Return where a call ends: by itself, or with as many samples as runs of the atlas had.

    Data that never end would not end a solver that draws samples.
    """
    endless = solver.batch > 0 and math.isinf(instance.oracle.remaining())
    samples = [row.samples for row in rows if row.ending not in CUT and row.samples > 0]
    if solver.converges or not endless or not samples:
        return Stop()
    return Stop.at(samples=int(np.median(samples)))


def _worded(
    found: Losses,
    order: Sequence[int],
    rows: Sequence[AtlasRow],
    features: Features,
    cost: str,
    text: str,
    code: str,
    stop: Stop,
) -> Advice:
    """Return the advice in words, with the command that settles it."""
    solver, second = found.solvers[order[0]], [found.solvers[i] for i in order[1:2]]
    parameters = common([settings(r.solver_parameters) for r in rows if r.solver == solver])
    regret = math.exp(mean_loss(found.held_out[found.model]))
    extrapolation, which = _extrapolation(features, rows)
    far = np.nansum(np.abs(found.positions - position_of(features)), axis=1)
    near = tuple(dict.fromkeys(found.problems[i] for i in np.argsort(far)[:3]))
    title = ALL_COSTS[cost].title
    sentence = f"Use {clean(solver)}: expect {factor_text(regret)} times the least {title}"
    sentence += f", judged on {plural(len(found.problems), 'problem')} of the atlas"
    if second:
        sentence += f"; next is {clean(second[0])}"
    if extrapolation > 1:
        sentence += f". Your data have {factor_text(extrapolation)} times {which} than any measured"
    if features.ordered:
        sentence += (
            ". The rows are ordered: only solvers that end at the best value itself are named, "
            "and a race would tell more"
        )
    return Advice(
        found.solver_names[order[0]], parameters, regret, extrapolation,
        second[0] if second else None, f"{sentence}.", _check(text), features, near, solver, code,
        stop,
    )  # fmt: skip


def _check(text: str) -> str:
    """Return the command that settles which call to make."""
    return shlex.join(["orthobench", "race", "-p", text or "SPEC"])


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
