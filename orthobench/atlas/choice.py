"""Choice: which solver an atlas names, from the comparisons of the problems that are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from orthobench.atlas.regimes import Compared
from orthobench.atlas.table import SHARES

TOLERANCE = 1.2
"""A solver within this factor of the best is as good as that one, if it leaves at most `LEFT`."""

LEFT = SHARES[1]
"""The largest share of the gap that it may leave: a loss that never comes near zero is small in no
factor."""


def close(one: Compared) -> set[str]:
    """Return the solvers that are as good as the best: in the median, without a failed run.

    They are within `TOLERANCE` of it, and leave at most `LEFT` of the gap.
    """
    if one.contest.best is None and not one.contest.equal:
        return set()
    as_good = {n for n, factor in one.factors.items() if factor <= TOLERANCE}
    return {n for n in as_good if not one.left[n] > LEFT} - one.failing


def favourites(problems: Sequence[Compared]) -> list[tuple[str, int]]:
    """Return the solver that is `close` to the best on the most problems; of several the fastest.

    Where these are less than half of the problems, the one follows that is on most of the others,
    if it is on half of them.

    Returns
    -------
    list of (str, int)
        At most two solvers, each with the number of problems.
    """
    seconds: dict[str, list[float]] = {}
    for row in (row for one in problems for row in one.rows):
        seconds.setdefault(row.solver, []).append(row.seconds)
    found: list[tuple[str, int]] = []
    left = list(problems)
    while len(found) < 2 and 2 * len(left) > len(problems):
        counts = Counter(name for one in left for name in close(one))
        most = max(counts.values(), default=0)
        if not most or (found and 2 * most < len(left)):
            break
        first = min(
            (name for name, count in counts.items() if count == most),
            key=lambda name: (float(np.median(seconds[name])), name),
        )
        found.append((first, most))
        left = [one for one in left if first not in close(one)]
    return found
