"""Answers of an atlas: for each kind of problems, which solver to use when, and how sure.

A situation is a share of the problems, or of the solvers, and what counts on them. Each is decided
by the rule of inference of reports: `orthobench.report.answers`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orthobench.atlas.choice import favourites
from orthobench.atlas.regimes import LOWEST, Compared, Regime, compared, cost
from orthobench.atlas.table import COSTS, SHARES, WITHDRAWN, Atlas, AtlasRow
from orthobench.report.answers import FAILED, MISSED, Answer, summarize
from orthobench.report.formatting import clean
from orthobench.report.sentences import INTERVAL, effect_text, factor_phrase, interval_text, lost
from orthobench.stats.paired import Comparison, Decision

HALF = 0.5
"""From this share of noise, or of zeros and missing entries, on, data are noisy or sparse."""

LARGE = 3
"""A dimension is large where it is in the upper one of so many parts of those of its kind."""

SLIM = 4
"""A state is small up to so many times the numbers of the solution,"""

BESIDES = 4096
"""and so many bytes for all else."""

PRECISE = SHARES.index(1e-6)
"""The target of high accuracy."""


@dataclass(frozen=True)
class Situation:
    """Rows that are compared, and what counts.

    Attributes
    ----------
    name : str
        ``"few samples"``: unique in its kind, and part of addresses.
    question : str
        What counts, for people: ``"Few samples: the fewest until 1 % of the gap is left"``.
    regime : Regime
    rows : tuple of AtlasRow
    """

    name: str
    question: str
    regime: Regime
    rows: tuple[AtlasRow, ...]


@dataclass(frozen=True)
class Loss:
    """A problem on which the solver of an answer is not the best.

    Attributes
    ----------
    problem : (str, str)
        Suite and label.
    text : str
        Who is ahead there, by how much and how sure that is.
    shown : bool
        Whether the difference is shown.
    """

    problem: tuple[str, str]
    text: str
    shown: bool


@dataclass(frozen=True)
class AtlasAnswer:
    """The answer in one situation.

    Attributes
    ----------
    family : str
        The kind of problems, as `orthobench.atlas.table.kinds` calls it.
    situation : Situation
    answer : Answer
    losses : tuple of Loss
        Where the solver of the answer loses, those that are shown first.
    compared : tuple of Compared
        The problems.
    """

    family: str
    situation: Situation
    answer: Answer
    losses: tuple[Loss, ...]
    compared: tuple[Compared, ...]

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """The problems that it is about."""
        return tuple(one.rows[0].contest for one in self.compared)


def answers(atlas: Atlas, about: str = "") -> list[AtlasAnswer]:
    """Return the answers for each kind of problems, in every situation that results speak about.

    Parameters
    ----------
    atlas : Atlas
    about : str
        A family, or one of the kinds; all are meant where it is empty.
    """
    return [
        _answer(kind, situation)
        for kind, rows in atlas.kinds.items()
        if about in ("", kind, rows[0].family)
        for situation in situations([row for row in rows if row.tier != WITHDRAWN])
    ]


def situations(rows: Sequence[AtlasRow]) -> Iterator[Situation]:
    """Yield the situations that the results of one kind of problems speak about."""
    everything = tuple(rows)
    if not everything:
        return
    lowest = f"the lowest {clean(everything[0].metric.replace('_', ' '))} within the budget"
    yield Situation("best in the end", f"In the end: {lowest}", LOWEST, everything)
    texts = {
        "samples": ("few samples", "Few samples: the fewest"),
        "seconds": ("little time", "Little time: the least"),
        "flops": ("few flops", "Few operations: the fewest flops"),
    }
    offered = costs(rows)
    for name in offered:
        short, text = texts[name]
        own = of_one_machine(everything) if name == "seconds" else everything
        yield Situation(short, f"{text} until 1 % of the gap is left", cost(name), own)
    if "seconds" in offered:
        yield Situation(
            "high accuracy", "High accuracy: the least time until a millionth of the gap is left",
            Regime("High accuracy", "takes {} times as long", lambda row: row.seconds_to[PRECISE]),
            of_one_machine(everything),
        )  # fmt: skip
    yield from _of_some(everything, lowest)


def of_one_machine(rows: Sequence[AtlasRow]) -> tuple[AtlasRow, ...]:
    """Return the rows of the machine that has the most: times of two do not compare."""
    (most, _), *_ = Counter(row.machine for row in rows).most_common(1)
    return tuple(row for row in rows if row.machine == most)


def _of_some(rows: tuple[AtlasRow, ...], lowest: str) -> Iterator[Situation]:
    """Yield the situations of some problems, or of some solvers, only."""
    sizes = sorted({row.d for row in rows if row.d})
    large = sizes[len(sizes) - len(sizes) // LARGE] if len(sizes) >= LARGE else math.inf
    slim = tuple(row for row in rows if row.memory <= SLIM * 8 * row.d * row.k + BESIDES)
    keep = f"keep at most {SLIM} times the solution"
    some = {
        "little memory": (
            f"Little memory: as in the end, since all methods {keep}"
            if slim == rows
            else f"Little memory: {lowest}, of the methods that {keep}",
            slim,
        ),
        "large d": (
            f"Large d: {lowest}, where d is {large:g} or more",
            tuple(row for row in rows if row.d >= large),
        ),
        "noisy": (
            f"Noisy: {lowest}, where half of the variance or more is beyond the leading k",
            tuple(row for row in rows if row.noise >= HALF),
        ),
        "sparse": (
            f"Sparse: {lowest}, where half of the entries or more are zero or missing",
            tuple(row for row in rows if row.sparsity >= HALF),
        ),
    }
    for name, (question, own) in some.items():
        if own:
            yield Situation(name, question, LOWEST, own)


def costs(rows: Sequence[AtlasRow]) -> list[str]:
    """Return the costs that all runs have that reached anything."""
    known = [row for row in rows if not row.failed]
    return [name for name in COSTS if known and all(getattr(row, name) > 0 for row in known)]


def _answer(family: str, situation: Situation) -> AtlasAnswer:
    found = tuple(compared(situation.rows, situation.regime))
    nobody = FAILED if situation.regime is LOWEST else MISSED
    text = summarize(
        situation.question, situation.regime.factor, [one.contest for one in found], nobody
    )
    named = [*favourites(found), ("", 0)][0]
    if named[0] != text.solver:  # another one is first most often
        answer = _as_good(*named, len(found)) if named[0] else text.answer
        text = replace(text, answer=answer, solver=named[0])
    losses = _losses(text.solver, situation.regime, found)
    return AtlasAnswer(family, situation, text, losses, found)


def _as_good(solver: str, count: int, problems: int) -> str:
    """Return on how many problems a solver is as good as the best."""
    where = f"all {problems} problems" if count == problems else f"{count} of {problems} problems"
    return f"{clean(solver)}, as good as the best on {where}"


def _losses(solver: str, regime: Regime, found: Sequence[Compared]) -> tuple[Loss, ...]:
    """Return the problems on which a solver takes part and another one is best."""
    losses = []
    for one in found:
        own = next((c for c in one.contest.comparisons if c.other == solver), None)
        if own is not None and one.contest.best is not None:
            shown = own.decision is Decision.BEHIND
            text = _loss(own, regime, shown, solver in one.failing)
            losses.append(Loss(one.rows[0].contest, text, shown))
    return tuple(sorted(losses, key=lambda loss: not loss.shown))


def _loss(c: Comparison, regime: Regime, shown: bool, failing: bool) -> str:
    """Return who is ahead of a solver, by how much, and whether that is shown."""
    first = f"{clean(c.best)} is {'ahead' if shown else 'first'}, {clean(c.other)}"
    sure = "" if shown else ": no difference is shown"
    if math.isinf(c.effect):
        return f"{first} {factor_phrase(regime.factor, c.effect)}{sure}"
    text = f"{lost(regime.factor)} on some seeds, and " if failing else ""
    text += f"ends {effect_text(c)}" if regime is LOWEST else factor_phrase(regime.factor, c.effect)
    paired = " seed by seed" if c.ratio and c.effect < 1 else ""
    return f"{first} {text}{paired} ({INTERVAL} {interval_text(c)}){sure}"
