"""The answers that a page can show: for each family under each cost and tolerance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from orthobench.decide.answer import Answer, answer
from orthobench.decide.comparisons import compare_by
from orthobench.decide.rule import STRICT, TOLERANCE
from orthobench.report.plots.families import costs
from orthobench.results.tuning import SolverResult

MOST_PAIRS = 20_000
"""Maximum number of pairs of solvers on a problem for which there is more than one answer."""

Answers: TypeAlias = Mapping[tuple[str, str], Answer]
"""The answers of a family, by cost and tolerance."""


def family_answers(entries: Sequence[SolverResult], suite: str = "") -> Answers:
    """Return what to use on the problems of one family, under each cost and tolerance.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of the family; with very many, there are only the first cost and tolerance.
    suite : str
        What to run more seeds of.
    """
    parts = entries[0].tolerance or TOLERANCE, STRICT
    tolerances = {f"{100 * part:.6g} %": part for part in parts}
    keys = list(product(costs(entries), tolerances))
    solvers = Counter(entry.problem for entry in entries)
    if sum(count**2 for count in solvers.values()) > MOST_PAIRS:
        keys = keys[:1]
    begun = [entry for entry in entries if entry.finished and not entry.refused]
    views = [(cost, tolerances[tolerance]) for cost, tolerance in keys]
    found = compare_by(begun, views)
    return {key: answer(own, suite) for key, own in zip(keys, found, strict=True)}
