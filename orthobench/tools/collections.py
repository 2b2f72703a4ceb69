"""Helpers for collections and JSON values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")
K = TypeVar("K")


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the items of each key, in their order; keys in order of first appearance."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON can hold it: None if it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """Return dataclasses and mappings as JSON values, with None for numbers not finite."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return finite_or_none(value)
    return value


def reduced(items: Iterable[T], merge: Callable[[T, T], T]) -> T:
    """Merge m items along a binary tree of neighbours, with at most log2(m) + 1 in memory.

    A run of 2^j items that begins at a multiple of 2^j is a subtree, to be reduced anywhere.
    """
    held: list[tuple[int, T]] = []
    for item in items:
        held.append((0, item))
        del item  # so that merging frees it
        while len(held) > 1 and held[-2][0] == held[-1][0]:
            _merge_last(held, merge)
    while len(held) > 1:
        _merge_last(held, merge)
    return held[0][1]


def _merge_last(held: list[tuple[int, T]], merge: Callable[[T, T], T]) -> None:
    _, second = held.pop()
    level, first = held.pop()
    held.append((level + 1, merge(first, second)))
