"""An oracle whose data become NaN for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.testing.check import NotCheckable
from orthobench.tools.arrays import Array
from orthobench.tools.object_graph import Snapshot, arrays, writable


@contextmanager
def nan_data(oracle: Oracle, *, streaming: bool) -> Iterator[Callable[[], object]]:
    """Yield a function that turns an oracle's data into NaN until the end."""
    before = Snapshot(oracle)
    original: Any = getattr(oracle, "take", None)

    def take(count: int) -> Array:
        return np.full_like(original(count), np.nan)

    with ExitStack() as stack:

        def fill() -> None:
            if streaming and original:
                stack.enter_context(mock.patch.object(oracle, "take", take))
                return
            found = arrays(oracle).items()
            data = [a for path, a in found if a.dtype.kind == "f" and path != ".start"]
            if not data:
                raise NotCheckable("the oracle has no arrays of floats that could become NaN")
            try:
                for array in data:
                    with writable(array):
                        array.fill(np.nan)
            except ValueError as error:  # it is mapped from a file
                raise NotCheckable("its data are read-only: check it on other data") from error

        stack.callback(before.restore)
        yield fill
