"""What people read of a verification."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from orthobench.verify.check import Verification
from orthobench.verify.comparing import Mismatch

EDITED = (1, 10, 100)
"""For how many edited cells is said how likely one of them would have been drawn."""

MOST = 100
"""Mismatches that are listed; `--json` has all."""


def found_with(cells: int, drawn: int, edited: int) -> float:
    """Return the probability that a draw without replacement has one of the edited cells.

    Parameters
    ----------
    cells : int
        Those that are drawn from.
    drawn, edited : int
    """
    missed = (max(0, cells - drawn - i) / (cells - i) for i in range(min(edited, cells)))
    return 1.0 - math.prod(missed)


def lines(result: Verification) -> Iterator[str]:
    """Yield the lines of text about a verification."""
    yield (
        f"{_cells(result.cells)}, of which {result.checkable:,} can be computed here; "
        f"{result.drawn:,} drawn (share {result.share:g}, seed {result.seed})"
    )
    again = len(result.recomputed)
    near = again - result.exact
    yield f"{_cells(again)} came out again: {result.exact:,} bit for bit, {near:,} within tolerance"
    for text, count in result.platforms.items():
        yield f"  {_cells(count)} of another platform: {text}"
    if result.other_code:
        modules = Counter(name for names in result.other_code.values() for name in names)
        said = ", ".join(f"{name} ({count:,})" for name, count in sorted(modules.items()))
        yield f"  {_cells(len(result.other_code))} although their code is another here: {said}"
    if result.unseen:
        unseen = _cells(result.unseen)
        yield f"  exhibits of {unseen} not compared: they need the same platform, and no clock"
    if result.mismatches:
        yield f"{len(result.mismatches):,} values did not:"
        yield from (f"  {_told(one)}" for one in result.mismatches[:MOST])
    for label, name in result.renamed.items():
        yield f"{name} is called {label!r}"
    if left_out := sum(map(len, result.unchecked.values())):
        yield f"{_cells(left_out)} not checked:"
    for reason, cells in result.unchecked.items():
        yield f"  {_cells(len(cells))}, such as {cells[0]}: {reason}"
    if result.recomputed and not result.mismatches:
        yield _odds(result)
    yield f"next: {_next(result)}"


def facts(result: Verification) -> Mapping[str, Any]:
    """Return a verification as plain values."""
    return {"verified": bool(result.recomputed) and not result.mismatches, **asdict(result)}


def _next(result: Verification) -> str:
    if result.mismatches:
        return "ask whoever ran it about these values, and take none of them before"
    if not result.recomputed:
        return "install what the reasons name, or name the folder of its data with --data"
    rest = "--share 1 computes all cells again, --seed N others"
    return "nothing is left to compute" if result.drawn == result.checkable else rest


def _told(one: Mismatch) -> str:
    where = "" if one.step is None else f" at step {one.step:,}"
    return f"{one.cell}: {one.metric}{where}: stored {one.stored!r}, recomputed {one.recomputed!r}"


def _odds(result: Verification) -> str:
    edited = [count for count in EDITED if count < result.checkable] or [1]
    shares = [100 * found_with(result.checkable, result.drawn, count) for count in edited]
    odds = ", ".join(f"{n:,}: {share:.3g} %" for n, share in zip(edited, shares, strict=True))
    return f"a draw finds edits of so many cells with probability {odds}"


def _cells(count: int) -> str:
    return f"{count:,} cell{'s' * (count != 1)}"
