"""Answers over problems: the solver to use, and the factor of its cost to the cheapest.

The solver is named whose cost over that of the cheapest that is as good has the smallest geometric
mean over problems; one on which it is not as good counts `MISS`. Variants of one data set have the
weight of one problem. A problem on which no solver is shown to be as good is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from orthobench.decide.rule import Comparison
from orthobench.decide.wording import evidence, together, use_sentence
from orthobench.stats.values import geometric_mean
from orthobench.tools.collections import grouped, plain
from orthobench.tools.formatting import clean

MISS = 10.0
"""The factor of a problem on which a solver is not as good as the best."""


@dataclass(frozen=True)
class Standing:
    """A solver over the problems of a family.

    Attributes
    ----------
    solver, use : str
        Its label, and its name in the catalogue.
    parameters : mapping
        Those that are the same on all problems.
    as_good_on, cheapest_on, problems : int
        Number of problems on which it is as good as the best, or the cheapest, and of all.
    factor, worst : float
        Its cost over that of the cheapest that is as good: the geometric mean, with `MISS` for a
        miss, and the largest, without misses.
    """

    solver: str
    use: str
    parameters: Mapping[str, Any]
    as_good_on: int
    cheapest_on: int
    problems: int
    factor: float
    worst: float


NOBODY = Standing("", "", {}, 0, 0, 0, math.nan, math.nan)


@dataclass(frozen=True)
class Answer:
    """The solver to use on the problems of a family, or of a store.

    Attributes
    ----------
    use : str, optional
        The name of a solver in the catalogue; None if no solver is shown to be as good as the best
        on any problem, or if families need different ones.
    parameters : mapping
        Its parameters that are the same on all problems.
    sentence, evidence : str
        The solver, its quality and its cost, or the command that would tell; and the tests.
    as_good_on, problems : int
        Number of problems on which it is as good as the best, and of all.
    factor : float
        The cost of the next that is as good over its own, the geometric mean; NaN without another.
    alternatives : tuple of Standing
        The other solvers, the nearest first.
    mean_factor, worst_factor : float
        As `factor` and `worst` of its `Standing`.
    cost, tolerance, family, solver
        The family is empty if there are several; the solver is its label in the suite.
    comparisons : tuple of Comparison
    by_family : mapping
        The answer of each family, if there are several.
    """

    use: str | None
    parameters: Mapping[str, Any]
    sentence: str
    as_good_on: int
    problems: int
    factor: float
    alternatives: tuple[Standing, ...]
    mean_factor: float
    worst_factor: float
    evidence: str
    cost: str
    tolerance: float
    family: str = ""
    solver: str = ""
    comparisons: tuple[Comparison, ...] = ()
    by_family: Mapping[str, Answer] = field(default_factory=dict)

    def prefix(self, family: Answer) -> str:
        """Return the name of a family before its sentence, if there are several."""
        return f"{clean(family.family)}: " if self.by_family else ""

    def __str__(self) -> str:
        """Return the sentence, and the evidence beneath it."""
        return f"{self.sentence}\n{self.evidence}"


def answer(comparisons: Sequence[Comparison], suite: str = "") -> Answer:
    """Return the solver to use, for each family and over all.

    All comparisons have one cost and tolerance; ``suite`` is the one to run on more seeds.
    """
    families = grouped(comparisons, lambda c: c.family)
    answers = {family: _of_family(own, suite) for family, own in families.items()}
    own = list(answers.values())
    if len(own) < 2:
        return own[0] if own else _of_family((), suite)
    joined = replace(
        own[0],
        sentence=together({family: one.sentence for family, one in answers.items()}),
        evidence=together({family: one.evidence for family, one in answers.items()}),
        as_good_on=sum(one.as_good_on for one in own),
        problems=sum(one.problems for one in own),
        factor=_mean([one.factor for one in own]),
        mean_factor=_mean([one.mean_factor for one in own]),
        worst_factor=max(one.worst_factor for one in own),
        alternatives=(), family="", solver="", comparisons=tuple(comparisons), by_family=answers,
    )  # fmt: skip
    if len({one.use for one in own}) == 1:
        return joined
    none = math.nan
    return replace(
        joined, use=None, parameters={}, factor=none, mean_factor=none, worst_factor=none
    )


def plain_answer(found: Answer) -> dict[str, Any]:
    """Return an answer as JSON values, without the comparisons."""
    values = {k: v for k, v in vars(found).items() if k not in ("comparisons", "by_family")}
    numbers: dict[str, Any] = plain(values)
    if found.by_family:
        numbers["by_family"] = {name: plain_answer(one) for name, one in found.by_family.items()}
    return numbers


def standings(comparisons: Sequence[Comparison]) -> list[Standing]:
    """Return the standing of each solver over the problems of a family, the one to use first."""
    solvers = dict.fromkeys(d.solver for c in comparisons for d in c.decisions)
    found = [_standing(solver, comparisons) for solver in solvers]
    return sorted(found, key=lambda s: (s.factor, -s.as_good_on, -s.cheapest_on, s.worst, s.solver))


def _of_family(comparisons: Sequence[Comparison], suite: str) -> Answer:
    order = standings(comparisons)
    best = order[0] if order and order[0].as_good_on else NOBODY
    about = comparisons[0] if comparisons else Comparison("", "", "", "", None, ())
    return Answer(
        use=best.use or None, parameters=best.parameters, solver=best.solver,
        sentence=use_sentence(_in_turn(comparisons), comparisons, suite),
        evidence=evidence(comparisons),
        as_good_on=best.as_good_on, problems=len(comparisons),
        factor=_mean([c.lead(best.solver) for c in comparisons]),
        mean_factor=best.factor, worst_factor=best.worst,
        alternatives=tuple(one for one in order if one is not best),
        cost=about.cost, tolerance=about.tolerance, family=about.family,
        comparisons=tuple(comparisons),
    )  # fmt: skip


def _in_turn(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the solver to use, that on the problems on which it is not as good, and so on."""
    found, left = list[str](), list(comparisons)
    while any(c.as_good for c in left):
        found.append(standings(left)[0].solver)
        left = [c for c in left if not c.of(found[-1]).as_good]
    return found


def _standing(solver: str, comparisons: Sequence[Comparison]) -> Standing:
    own = [c.of(solver) for c in comparisons]
    known = [c.by_solver[solver] for c in comparisons if solver in c.by_solver]
    factors = [max(1.0, d.factor) if math.isfinite(d.factor) else MISS for d in own]
    decided = {i: c.block for i, c in enumerate(comparisons) if c.as_good}
    means = [factors[i] for i in decided]
    finite = [max(1.0, d.factor) for d in own if math.isfinite(d.factor)]
    return Standing(
        solver, known[0].name or solver, common([d.parameters for d in known]),
        as_good_on=sum(d.as_good for d in own),
        cheapest_on=sum(c.cheapest == solver for c in comparisons),
        problems=len(comparisons),
        factor=geometric_mean(means, [*decided.values()]) if decided else math.inf,
        worst=max(finite, default=math.nan),
    )  # fmt: skip


def common(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters that have the same value everywhere."""
    first, *others = parameters
    return {k: v for k, v in first.items() if all(one.get(k) == v for one in others)}


def _mean(factors: Sequence[float]) -> float:
    finite = [factor for factor in factors if 0 < factor < math.inf]
    return geometric_mean(finite, range(len(finite))) if finite else math.nan
