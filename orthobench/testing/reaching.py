"""The arrays that an object holds, wherever in it they are."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPAQUE = (str, bytes, int, float, complex, bool, type, types.ModuleType, np.random.Generator)
DEEP = 12
"""Levels of nesting that are looked into."""


def reached(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield all objects that `root` holds, itself first, each once and with where it is.

    Looks into attributes, slots, sequences, mappings, methods, and what functions close over.
    """
    seen: set[int] = set()
    kept = [root]  # so that no id is taken twice
    todo: list[tuple[str, Any, int]] = [("", root, 0)]
    while todo:
        where, item, depth = todo.pop()
        if item is None or isinstance(item, OPAQUE) or id(item) in seen:
            continue
        seen.add(id(item))
        kept.append(item)
        yield where, item
        if depth < DEEP:
            todo += [(where + name, part, depth + 1) for name, part in _parts(item)]


def arrays(root: Any) -> dict[str, NDArray[Any]]:
    """Return the numeric arrays that `root` holds, by where they are."""
    found = ((where, item) for where, item in reached(root) if isinstance(item, np.ndarray))
    return {where: item for where, item in found if item.dtype.kind in "fiubc"}


def _parts(item: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(item, np.ndarray):
        return
    if isinstance(item, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in item.items())
    elif isinstance(item, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", value) for i, value in enumerate(item))
    elif isinstance(item, types.FunctionType):
        yield from (("()", cell.cell_contents) for cell in item.__closure__ or () if _full(cell))
    elif isinstance(item, types.MethodType):
        yield "", item.__self__
    elif isinstance(item, functools.partial):
        yield from (("()", part) for part in (item.func, *item.args, *item.keywords.values()))
    else:
        yield from ((f".{name}", value) for name, value in _attributes(item))


def _full(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _attributes(item: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(item, "__dict__", {}).items()
    for cls in type(item).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(item, name):
                yield name, getattr(item, name)


class Snapshot:
    """The arrays that an object holds, as they were.

    Parameters
    ----------
    root : object
    """

    def __init__(self, root: Any) -> None:
        self._held = [(where, item, item.copy()) for where, item in arrays(root).items()]

    def changed(self) -> str | None:
        """Return where an array is that has been written into since, or None."""
        for where, item, before in self._held:
            if item.tobytes() != before.tobytes():
                return where.lstrip(".")
        return None

    def restore(self) -> None:
        """Write the arrays back that have changed."""
        for _, item, before in self._held:
            if item.tobytes() != before.tobytes():
                with writable(item):
                    item[...] = before


@contextmanager
def writable(array: NDArray[Any]) -> Iterator[None]:
    """Let an array be written into, where its memory can be."""
    before = array.flags.writeable
    array.flags.writeable = True
    try:
        yield
    finally:
        array.flags.writeable = before
