"""An oracle whose data are NaN for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.testing.check import NotCheckable
from orthobench.tools.arrays import Array
from orthobench.tools.object_graph import Snapshot, arrays, writable


@contextmanager
def nan_data(oracle: Oracle, *, streaming: bool) -> Iterator[Callable[[], object]]:
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
        original = oracle.take

        def take(count: int) -> Array:
            return np.full_like(original(count), np.nan)

        with ExitStack() as stack:
            yield lambda: stack.enter_context(mock.patch.object(oracle, "take", take))
        return
    before = Snapshot(oracle)
    data = [a for path, a in arrays(oracle).items() if a.dtype.kind == "f" and path != ".start"]

    def fill() -> None:
        if not data:
            raise NotCheckable("the oracle holds no arrays of floats that could be turned into NaN")
        try:
            for array in data:
                with writable(array):
                    array.fill(np.nan)
        except ValueError as error:  # it is mapped from a file
            raise NotCheckable("its data cannot be written into: check it on other data") from error

    try:
        yield fill
    finally:
        before.restore()
