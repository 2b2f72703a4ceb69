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


def lines(found: Verification) -> Iterator[str]:
    """Yield the lines of text about a verification."""
    yield (
        f"{_cells(found.cells)}, of which {found.checkable:,} can be computed here; "
        f"{found.drawn:,} drawn (share {found.share:g}, seed {found.seed})"
    )
    again = len(found.recomputed)
    near = again - found.exact
    yield f"{_cells(again)} came out again: {found.exact:,} bit for bit, {near:,} within tolerance"
    for text, count in found.platforms.items():
        yield f"  {_cells(count)} of another platform: {text}"
    if found.other_code:
        modules = Counter(name for names in found.other_code.values() for name in names)
        told = ", ".join(f"{name} ({count:,})" for name, count in sorted(modules.items()))
        yield f"  {_cells(len(found.other_code))} although their code is another here: {told}"
    if found.unseen:
        unseen = _cells(found.unseen)
        yield f"  exhibits of {unseen} not compared: they need the same platform, and no clock"
    if found.mismatches:
        yield f"{len(found.mismatches):,} values did not:"
        yield from (f"  {_told(one)}" for one in found.mismatches[:MOST])
    for label, name in found.renamed.items():
        yield f"{name} is called {label!r}"
    if left_out := sum(map(len, found.unchecked.values())):
        yield f"{_cells(left_out)} not checked:"
    for reason, cells in found.unchecked.items():
        yield f"  {_cells(len(cells))}, such as {cells[0]}: {reason}"
    if found.recomputed and not found.mismatches:
        yield _odds(found)


def facts(found: Verification) -> Mapping[str, Any]:
    """Return a verification as plain values."""
    return {"verified": bool(found.recomputed) and not found.mismatches, **asdict(found)}


def _told(one: Mismatch) -> str:
    where = "" if one.step is None else f" at step {one.step:,}"
    return f"{one.cell}: {one.metric}{where}: stored {one.stored!r}, recomputed {one.recomputed!r}"


def _odds(found: Verification) -> str:
    edited = [count for count in EDITED if count < found.checkable] or [1]
    shares = [100 * found_with(found.checkable, found.drawn, count) for count in edited]
    told = ", ".join(f"{n:,}: {share:.3g} %" for n, share in zip(edited, shares, strict=True))
    return f"a draw finds edits of so many cells with probability {told}"


def _cells(count: int) -> str:
    return f"{count:,} cell{'s' * (count != 1)}"
