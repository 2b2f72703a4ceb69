"""Data that are not numbers, given to a solver by an oracle that had good ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.testing.findings import NotCheckable
from orthobench.testing.reaching import Snapshot, arrays, writable
from orthobench.tools.arrays import Array


@contextmanager
def poisoned(oracle: Oracle, *, streaming: bool) -> Iterator[Callable[[], None]]:
    """Give a function that turns all that an oracle tells from then on into NaN, until the end.

    Samples are turned as they are taken, since `prepare` would refuse them; of a solver that
    takes none the arrays are, those that functions close over included, `start` excepted.
    """
    if streaming and hasattr(oracle, "take"):
        with _taking_nan(oracle) as poison:
            yield poison
        return
    held = Snapshot(oracle)
    try:
        yield lambda: _fill(oracle)
    finally:
        held.restore()


def _fill(oracle: Oracle) -> None:
    filled = 0
    for where, array in arrays(oracle).items():
        if array.dtype.kind == "f" and where != ".start":
            with writable(array):
                array.fill(np.nan)
            filled += 1
    if not filled:
        raise NotCheckable("the oracle holds no arrays that could be turned into NaN")


@contextmanager
def _taking_nan(oracle: Oracle) -> Iterator[Callable[[], None]]:
    original = oracle.take  # type: ignore[attr-defined]

    def take(count: int) -> Array:
        return np.full_like(original(count), np.nan)

    def poison() -> None:
        oracle.take = take  # type: ignore[attr-defined]

    try:
        yield poison
    finally:
        vars(oracle).pop("take", None)
