"""The arrays that an object refers to, before and after a call."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPAQUE = (str, bytes, int, float, complex, bool, type, types.ModuleType, np.random.Generator)
"""Types that are not followed."""

DEPTH = 12
"""Maximum number of levels that are followed."""


def walk(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield the objects that an object refers to, itself first, with paths: ``".data['x'][0]"``.

    Attributes, slots, sequences, mappings, methods and closures are followed.
    """
    seen: set[int] = set()
    alive = [root]  # an id is only unique as long as its object lives
    todo: list[tuple[str, Any, int]] = [("", root, 0)]
    while todo:
        path, item, depth = todo.pop()
        if item is None or isinstance(item, OPAQUE) or id(item) in seen:
            continue
        seen.add(id(item))
        alive.append(item)
        yield path, item
        if depth < DEPTH:
            todo += [(path + name, part, depth + 1) for name, part in _parts(item)]


def arrays(root: Any) -> dict[str, NDArray[Any]]:
    """Return the numeric arrays that an object refers to, by path."""
    items = ((path, item) for path, item in walk(root) if isinstance(item, np.ndarray))
    return {path: item for path, item in items if item.dtype.kind in "fiubc"}


def _parts(item: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(item, np.ndarray):
        return
    if isinstance(item, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in item.items())
    elif isinstance(item, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", value) for i, value in enumerate(item))
    elif isinstance(item, types.FunctionType):
        for name, cell in zip(item.__code__.co_freevars, item.__closure__ or (), strict=True):
            with suppress(ValueError):  # it is empty as yet
                yield f"({name})", cell.cell_contents
    elif isinstance(item, types.MethodType):
        yield "", item.__self__
    elif isinstance(item, functools.partial):
        yield from ((f"({i})", part) for i, part in enumerate((item.func, *item.args)))
        yield from ((f"({name})", part) for name, part in item.keywords.items())
    else:
        slots = (vars(cls).get("__slots__", ()) for cls in type(item).__mro__)
        names = [name for own in slots for name in ([own] if isinstance(own, str) else own)]
        yield from ((f".{name}", value) for name, value in getattr(item, "__dict__", {}).items())
        yield from ((f".{name}", getattr(item, name)) for name in names if hasattr(item, name))


class Snapshot:
    """Copies of the arrays that an object refers to."""

    def __init__(self, root: Any) -> None:
        self._copies = [(path, array, array.copy()) for path, array in arrays(root).items()]

    def changed(self) -> str | None:
        """Return the path of an array that has changed since, or None."""
        for path, array, copy in self._copies:
            if array.tobytes() != copy.tobytes():
                return path.lstrip(".")
        return None

    def restore(self) -> None:
        """Write the copies back into the arrays that have changed."""
        for _, array, copy in self._copies:
            if array.tobytes() != copy.tobytes():
                with writable(array):
                    array[...] = copy


@contextmanager
def writable(array: NDArray[Any]) -> Iterator[None]:
    """Make an array writable in this context, if its memory is."""
    before = array.flags.writeable
    array.flags.writeable = True
    try:
        yield
    finally:
        array.flags.writeable = before
