"""Answers over problems: which solver to use, and how much dearer it is than the cheapest.

The one named has the least geometric mean over problems of its cost over that of the cheapest
solver that is as good as the best; where it is not as good itself, it counts `MISS`. Variants of
one data set share the weight of one problem. A problem on which nobody is shown to be as good says
nothing about costs, and is left out of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthobench.decide.rule import Comparison
from orthobench.decide.wording import evidence, together, use_sentence
from orthobench.stats.values import geometric_mean
from orthobench.tools.collections import grouped, plain
from orthobench.tools.formatting import clean

MISS = 10.0
"""What a problem counts on which a solver is not as good as the best."""


@dataclass(frozen=True)
class Standing:
    """A solver over the problems of a family.

    Attributes
    ----------
    solver : str
        Its label.
    use : str
        Its name in the catalogue, which can be typed.
    parameters : mapping
        Those that are the same on all problems.
    as_good_on, cheapest_on, problems : int
        On how many it is as good as the best, of these cheapest, and how many there are.
    factor : float
        Geometric mean of its cost over that of the cheapest that is as good; a miss counts `MISS`.
    worst : float
        The largest of these factors where it is as good.
    """

    solver: str
    use: str
    parameters: Mapping[str, Any]
    as_good_on: int
    cheapest_on: int
    problems: int
    factor: float
    worst: float


@dataclass(frozen=True)
class Answer:
    """What to use on the problems of a family, or of a store.

    Attributes
    ----------
    use : str, optional
        The name of a solver in the catalogue; None where none is shown to be as good as the best
        on any problem, or where families need different ones.
    parameters : mapping
        Its parameters, those that are the same on all problems.
    sentence : str
        What to use, how good it is and what it costs; or what to run to find out.
    as_good_on, problems : int
        On how many problems it is as good as the best, of how many.
    factor : float
        The cost of the next that is as good over its own, the geometric mean over problems; NaN
        where there is no other.
    alternatives : tuple of Standing
        The other solvers, the nearest first.
    mean_factor, worst_factor : float
        Its cost over that of the cheapest that is as good: geometric mean, where a miss counts
        `MISS`, and the largest where it is as good.
    evidence : str
        What was tested, in one line.
    cost : str
        What is least.
    tolerance : float
    family : str
        Empty where there are several.
    solver : str
        Its label in the suite.
    comparisons : tuple of Comparison
    by_family : mapping
        The answer of each family, where there are several.
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
        """Return what the sentence of a family begins with, where there are several."""
        return f"{clean(family.family)}: " if self.by_family else ""

    def __str__(self) -> str:
        """Return the sentence, and beneath it what was tested."""
        return f"{self.sentence}\n{self.evidence}"


def answer(comparisons: Sequence[Comparison], suite: str = "") -> Answer:
    """Return what to use, for each family and over all.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Of all problems, with one cost and tolerance.
    suite : str
        What to run more seeds of, where those that there are do not suffice.
    """
    families = grouped(comparisons, lambda c: c.family)
    answers = {family: _of_family(own, suite) for family, own in families.items()}
    if len(answers) == 1:
        return next(iter(answers.values()))
    if not answers:
        return _of_family((), suite)
    own = list(answers.values())
    same = len({one.use for one in own}) == 1
    first = own[0]
    return Answer(
        first.use if same else None,
        first.parameters if same else {},
        together({family: one.sentence for family, one in answers.items()}),
        sum(one.as_good_on for one in own),
        sum(one.problems for one in own),
        _mean([one.factor for one in own]) if same else math.nan,
        (),
        _mean([one.mean_factor for one in own]) if same else math.nan,
        max(one.worst_factor for one in own) if same else math.nan,
        together({family: one.evidence for family, one in answers.items()}),
        first.cost,
        first.tolerance,
        comparisons=tuple(comparisons),
        by_family=answers,
    )


def plain_answer(found: Answer) -> dict[str, Any]:
    """Return an answer as JSON values, without the comparisons: the rows of tables have them."""
    values = {
        name: v for name, v in vars(found).items() if name not in ("comparisons", "by_family")
    }
    families = {name: plain_answer(one) for name, one in found.by_family.items()}
    numbers: dict[str, Any] = plain(values)
    return {**numbers, **({"by_family": families} if families else {})}


def standings(comparisons: Sequence[Comparison]) -> list[Standing]:
    """Return how each solver stands over the problems of a family, the one to use first."""
    solvers = dict.fromkeys(d.solver for c in comparisons for d in c.decisions)
    found = [_standing(solver, comparisons) for solver in solvers]
    return sorted(found, key=lambda s: (s.factor, -s.as_good_on, -s.cheapest_on, s.worst, s.solver))


def _of_family(comparisons: Sequence[Comparison], suite: str) -> Answer:
    order = standings(comparisons)
    first = order[0] if order and order[0].as_good_on else None
    told = comparisons[0] if comparisons else Comparison("", "", "", "", None, ())
    return Answer(
        first.use if first else None,
        first.parameters if first else {},
        use_sentence(_in_turn(comparisons), comparisons, suite),
        first.as_good_on if first else 0,
        len(comparisons),
        _mean([c.lead(first.solver) for c in comparisons]) if first else math.nan,
        tuple(order[1:] if first else order),
        first.factor if first else math.nan,
        first.worst if first else math.nan,
        evidence(comparisons),
        told.cost,
        told.tolerance,
        told.family,
        first.solver if first else "",
        tuple(comparisons),
    )


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
    decided = [(c.block, f) for c, f in zip(comparisons, factors, strict=True) if c.as_good]
    blocks, of_decided = zip(*decided, strict=True) if decided else ((), ())
    return Standing(
        solver,
        known[0].name or solver,
        common([d.parameters for d in known]),
        sum(d.as_good for d in own),
        sum(c.cheapest == solver for c in comparisons),
        len(comparisons),
        geometric_mean(of_decided, blocks) if decided else math.inf,
        max((f for d, f in zip(own, factors, strict=True) if math.isfinite(d.factor)),
            default=math.nan),
    )  # fmt: skip


def common(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters that have the same value everywhere."""
    first, *others = parameters
    return {
        name: value
        for name, value in first.items()
        if all(one.get(name) == value for one in others)
    }


def _mean(factors: Sequence[float]) -> float:
    finite = [factor for factor in factors if 0 < factor < math.inf]
    return geometric_mean(finite, range(len(finite))) if finite else math.nan
