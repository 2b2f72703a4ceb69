"""An oracle whose data turn into NaN, to see whether a solver notices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.testing.check import NotCheckable
from orthobench.testing.object_graph import Snapshot, arrays, writable
from orthobench.tools.arrays import Array


@contextmanager
def nan_data(oracle: Oracle, *, streaming: bool) -> Iterator[Callable[[], None]]:
    """Give a function that turns an oracle's data into NaN; they are restored at the end.

    Samples become NaN as they are taken, since `prepare` would refuse them. Of an oracle that is
    not streamed all arrays of floats become NaN, those in closures included, and `start` excepted.

    Parameters
    ----------
    oracle : Oracle
    streaming : bool
        Whether the solver takes samples.
    """
    if streaming and hasattr(oracle, "take"):
        with _nan_samples(oracle) as turn_to_nan:
            yield turn_to_nan
        return
    before = Snapshot(oracle)
    try:
        yield lambda: _fill_with_nan(oracle)
    finally:
        before.restore()


def _fill_with_nan(oracle: Oracle) -> None:
    filled = 0
    for where, array in arrays(oracle).items():
        if array.dtype.kind == "f" and where != ".start":
            with writable(array):
                array.fill(np.nan)
            filled += 1
    if not filled:
        raise NotCheckable("the oracle holds no arrays of floats that could be turned into NaN")


@contextmanager
def _nan_samples(oracle: Oracle) -> Iterator[Callable[[], None]]:
    original = oracle.take  # type: ignore[attr-defined]

    def take(count: int) -> Array:
        return np.full_like(original(count), np.nan)

    def turn_to_nan() -> None:
        oracle.take = take  # type: ignore[attr-defined]

    try:
        yield turn_to_nan
    finally:
        vars(oracle).pop("take", None)
