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
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return finite_or_none(value)
    return value
