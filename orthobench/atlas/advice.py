"""Advice: the method to use on data that an atlas has not seen, with the expected regret.

One of four models predicts the loss of each call (`orthobench.atlas.losses`) at the features of
the data: the mean over the problems of the family; two means in which nearer problems have more
weight; a ridge regression around the features. The one is used that has the least regret
on problems of the atlas when all sizes of the same problem are left out.

If the rows of the data are ordered, only problems solved to `STRICT` count: solvers that see
samples one after another do not end there. If they are not, problems with ordered rows do not
count.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orthobench.atlas.answers import compare, expected_order, opened, unmapped
from orthobench.atlas.features import Features, features_of
from orthobench.atlas.losses import Losses, losses, position_of
from orthobench.atlas.table import Atlas, AtlasRow, settings
from orthobench.contract.problem import AnyInstance, AnyProblem, Problem
from orthobench.contract.solver import AnySolver
from orthobench.decide.answer import common
from orthobench.decide.code import code_of
from orthobench.decide.rule import STRICT, TOLERANCE
from orthobench.decide.wording import factor_text, stop_text
from orthobench.errors import UsageError
from orthobench.harness.cell import instance_of
from orthobench.harness.stopping import Budget
from orthobench.registry.entries import specification
from orthobench.registry.plugins import catalogue
from orthobench.registry.preflight import check_ending, check_instance
from orthobench.stats.calls import Stop
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.formatting import clean, duration, plural

MOST_READ = 2**26
"""Maximum number of entries of a file or stream that are read before a race."""

BEYOND = 2.0
"""Factor between a size and all measured sizes from which on it is extrapolated."""

REGRET = 1.25
"""Maximum expected regret of advice that needs no race."""


@dataclass(frozen=True)
class Advice:
    """The method to use on some data.

    Attributes
    ----------
    use : str
        The name of a solver in the catalogue.
    parameters : mapping
        Those that were equal in all measurements.
    expected_regret : float
        Its expected cost, less a tenth of a second, over that of the cheapest. It is a geometric
        mean of such factors on the nearest problems of the atlas, and of a quarter of a miss. Each
        problem is advised without its other sizes.
    extrapolation : float
        The factor between the data and all measured sizes; 1 if they are within.
    runner_up : str, optional
    sentence, check : str
        The advice, and the command of a race on the data.
    features : Features
    near : tuple of str
        The three nearest problems.
    solver : str
        Its label in the atlas: the name, with settings that differ from the default.
    code : str
        The lines that compute the result with `orthobench.solve`.
    stop : Stop
        Its own end, or a number of steps.
    doubt : str
        Why a race is the better answer; empty if advice is enough.
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
    doubt: str = ""


def advise(
    problem: str | AnyProblem | AnyInstance,
    cost: str = "seconds",
    tolerance: float = TOLERANCE,
    atlas: Atlas | None = None,
) -> Advice:
    """Recommend a method from stored measurements, without running anything.

    Parameters
    ----------
    problem : str, Problem or Instance
        As ``"npy-stochastic-pca path=X.npy k=8"``, or your data such as
        ``ob.stochastic_pca(X, k=8)``. It is built once, and its features are measured.
    cost : str
        The cost to minimise: ``"seconds"``, ``"samples"`` or ``"flops"``.
    tolerance : float
        The part of the gap that counts as good enough: 0.01 or 1e-6.
    atlas : Atlas, optional
        By default the one in the package.

    Raises
    ------
    UsageError
        If the atlas has no problem of the family, or no call that can take the data.
    DataError
        If the data cannot be read, or are not finite.
    """
    atlas = atlas or opened(None)
    recipe, instance = _built(problem)
    rows = _rows_of_kind(atlas, recipe or catalogue().base_of(instance.oracle))
    features = features_of(instance)
    found = similar(rows, features.ordered, cost, tolerance)
    named = problem if isinstance(problem, str) else "SPEC"
    check = shlex.join(["orthobench", "race", "-p", named])
    order: dict[str, tuple[AnySolver, Stop]] = {}
    for one, stop in found.ranked(features):
        if one not in order and (chosen := _usable(one, stop, rows, recipe, instance)):
            order[one] = chosen, stop
        if len(order) > 1:
            break
    if not order:
        raise UsageError(
            f"no solver of the atlas that is installed here can take these data: {check} tries all"
        )
    label, *next_ = order
    chosen, stop = order[label]
    beyond = _extrapolation(features, rows)
    position = position_of(features)
    far = np.nansum(np.abs(found.positions - position), axis=1)
    regret = math.exp(found.regret_at(position))
    calls = [clean(name) + stop_text(own) for name, (_, own) in order.items()]
    return Advice(
        use=chosen.name,
        parameters=common([settings(r.solver_parameters) for r in rows if r.solver == label]),
        expected_regret=regret,
        extrapolation=beyond[0],
        runner_up=next_[0] if next_ else None,
        sentence=_sentence(found, regret, calls, beyond, features, cost),
        check=check,
        features=features,
        near=tuple(dict.fromkeys(found.problems[i].problem for i in np.argsort(far)[:3])),
        solver=label,
        code=code_of(problem, chosen, stop),
        stop=stop,
        doubt=_doubt(regret, beyond[0], features),
    )


def likely(problem: AnyProblem, instance: AnyInstance) -> list[tuple[str, dict[str, Any]]]:
    """Return the order in which to try solvers on data, the fastest first: names and parameters.

    The installed atlas answers: by these data, or by `expected_order` if no solver is known to end
    on such data. Empty if it does not know the family.

    Raises
    ------
    DataError
        If the data are unfit.
    """
    features = features_of(instance, MOST_READ)
    atlas = opened(None, family=problem.family)
    if not atlas.rows:
        return []
    rows = _rows_of_kind(atlas, problem)
    found = replace(similar(rows, features.ordered), free=0.0)  # a race has to save all time
    named = {row.solver: (row.solver_name, settings(row.solver_parameters)) for row in rows}
    labels = dict.fromkeys(label for label, _ in found.ranked(features))
    return [named[label] for label in labels] or expected_order(problem)


def similar(
    rows: Sequence[AtlasRow], ordered: bool, cost: str = "seconds", tolerance: float = TOLERANCE
) -> Losses:
    """Return the losses of calls on the problems that answer for data with such rows."""
    if ordered:
        return losses(rows, compare(rows, cost, min(tolerance, STRICT)))
    own = [row for row in rows if not row.ordered]
    return losses(own, compare(own, cost, tolerance))


def _built(problem: str | AnyProblem | AnyInstance) -> tuple[AnyProblem | None, AnyInstance]:
    """Return the problem if it is one, and its instance."""
    if isinstance(problem, str):
        entry = specification(problem)
        problem = catalogue().problem(entry.pop("name"), entry)
    if isinstance(problem, Problem):
        return problem, instance_of(problem, 0)
    return None, problem


def _rows_of_kind(atlas: Atlas, problem: AnyProblem | type[AnyProblem]) -> Sequence[AtlasRow]:
    """Return the rows of the family of a problem, with its metric if there are any."""
    kinds = [rows for rows in atlas.kinds.values() if rows[0].family == problem.family]
    if not kinds:
        raise unmapped(atlas, problem.family)
    return next((rows for rows in kinds if rows[0].metric == problem.primary), kinds[0])


def _usable(
    solver: str,
    stop: Stop,
    rows: Sequence[AtlasRow],
    recipe: AnyProblem | None,
    instance: AnyInstance,
) -> AnySolver | None:
    """Return the solver with a label if it is installed here, takes the data and ends there."""
    row = next(row for row in rows if row.solver == solver)
    try:
        offers = type(instance.oracle)
        made = catalogue().solver(row.solver_name, settings(row.solver_parameters), offers)
        check_instance(made, instance)
        check_ending(made, instance, Budget(**dict(stop.limits)), None)
    except UsageError:
        return None
    return None if recipe and made.refuses(recipe) else made


def _sentence(
    found: Losses, regret: float, calls: Sequence[str], beyond: tuple[float, str],
    features: Features, cost: str,
) -> str:  # fmt: skip
    free = f" plus {duration(found.free)}" if found.free else ""
    text = (
        f"Use {calls[0]}: expect {factor_text(regret)} times the least {ALL_COSTS[cost].title}"
        f"{free}, judged on the nearest of {plural(len(found.problems), 'problem')} of the atlas"
    )
    if calls[1:]:
        text += f"; next is {calls[1]}"
    if beyond[0] > 1:
        text += f". Your data have {factor_text(beyond[0])} times {beyond[1]} than any measured"
    if features.ordered:
        text += (
            ". The rows are ordered: only solvers that end at the best value itself are named; "
            "check with a race"
        )
    return f"{text}."


def _doubt(regret: float, extrapolation: float, features: Features) -> str:
    """Return why a race is the better answer; empty if advice is enough."""
    if extrapolation > 1:
        return "the data are far from all that was measured"
    if features.ordered:
        return "the order of the rows may matter"
    if regret <= REGRET:
        return ""
    return "on similar problems of the atlas such advice is often wrong"


def _extrapolation(features: Features, rows: Sequence[AtlasRow]) -> tuple[float, str]:
    """Return the largest factor between a size and all measured ones, and which size."""
    beyond = [(1.0, "")]
    for name, word in (("rows", "rows"), ("d", "columns"), ("k", "components")):
        sizes, own = {getattr(row, name) for row in rows} - {0}, getattr(features, name)
        if sizes and own > BEYOND * max(sizes):
            beyond.append((own / max(sizes), f"more {word}"))
        elif sizes and 0 < own < min(sizes) / BEYOND:
            beyond.append((min(sizes) / own, f"fewer {word}"))
    return max(beyond)
