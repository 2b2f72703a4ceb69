"""The tree along which summaries are merged; the number of blocks alone determines it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def reduced(items: Iterable[T], merge: Callable[[T, T], T]) -> T:
    """Merge items along a binary tree: on each level the first with the second, and so on.

    An item without a partner goes up as it is. Each is merged as soon as its partner is there, so
    that of m items no more than log2(m) + 1 are held. Since a run of 2^j items that begins at a
    multiple of 2^j is a tree of its own, such runs can be reduced anywhere.

    Parameters
    ----------
    items : iterable
        At least one.
    merge : callable
    """
    held: list[tuple[int, T]] = []
    for item in items:
        held.append((0, item))
        del item  # the list holds it, and merging drops it
        while len(held) > 1 and held[-2][0] == held[-1][0]:
            _merge_last(held, merge)
    while len(held) > 1:
        _merge_last(held, merge)
    return held[0][1]


def _merge_last(held: list[tuple[int, T]], merge: Callable[[T, T], T]) -> None:
    _, second = held.pop()
    level, first = held.pop()
    held.append((level + 1, merge(first, second)))
