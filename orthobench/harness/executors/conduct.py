"""What a run does to the process of its solver that it must not: checks that cost no step."""

from __future__ import annotations

import os
import random
import sys
import threading
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Oracle
from orthobench.harness.stopping import FAULTS
from orthobench.tools.machine import resident
from orthobench.tools.object_graph import arrays, walk

ENTRIES = 64
"""Number of entries of each array that are compared with what they were."""

GROWTH = 32 * 2**20
"""Bytes that a run takes more in each half of its steps if its memory is said to grow."""


class Conduct:
    """The process of a solver before a run, to be compared with what it is after it.

    Parameters
    ----------
    oracle : Oracle
        Its arrays are to stay as they are.
    output : int
        The descriptor of the file that takes what is printed.

    Notes
    -----
    About 0.3 ms a run and 0.05 ms a checkpoint, all of it off the clock.
    """

    def __init__(self, oracle: Oracle, output: int) -> None:
        self._oracle, self._output = oracle, output
        self._random, self._threads = generators(), set(threading.enumerate())
        self._printed = self._size()
        self._data = [(a, _some(a)) for a in arrays(oracle).values() if a.flags.writeable]
        self._memory: list[tuple[int, int]] = []

    def point(self, steps: int) -> None:
        """Note how much memory is in use at a checkpoint."""
        self._memory.append((steps, resident()))

    def faults(self) -> list[str]:
        """Return the names of `FAULTS` that apply."""
        written = any(getattr(item, "written", False) for _, item in walk(self._oracle))
        found = {
            "random": generators() != self._random,
            "output": self._size() > self._printed,
            "inputs": written or any(_some(array) != before for array, before in self._data),
            "threads": bool(set(threading.enumerate()) - self._threads),
            "memory": self._grows(),
        }
        return [name for name in FAULTS if found[name]]

    def _size(self) -> int:
        with suppress(Exception):  # a solver may have put anything there
            sys.stdout.flush()
        return os.fstat(self._output).st_size

    def _grows(self) -> bool:
        if len(self._memory) < 3:
            return False
        (_, first), (steps, last) = self._memory[0], self._memory[-1]
        middle = next(size for at, size in self._memory if 2 * at >= steps)
        return min(middle - first, last - middle) > GROWTH


def generators() -> dict[str, object]:
    """Return the states of the global random generators, by name."""
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is checked
    words = np.asarray(keys).tobytes()
    return {"numpy.random": (kind, words, *rest), "random": random.getstate()}


def _some(array: NDArray[Any]) -> bytes:
    """Return some entries of an array, from all over it."""
    return np.asarray(array.flat[:: max(1, array.size // ENTRIES)]).tobytes()
