"""Checks of what a run does to the process of its solver; they cost no step."""

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
"""Number of entries of each array that are compared."""

GROWTH = 32 * 2**20
"""Minimum growth of memory in each half of the steps of a run, in bytes."""


class Conduct:
    """The process of a solver before a run, to compare with it after the run.

    `output` is the descriptor of the file of standard output.
    """

    def __init__(self, oracle: Oracle, output: int) -> None:
        self._oracle, self._output = oracle, output
        self._random, self._threads = generators(), set(threading.enumerate())
        self._printed = self._size()
        self._data = [(a, _some(a)) for a in arrays(oracle).values() if a.flags.writeable]
        self._memory: list[tuple[int, int]] = []

    def point(self, steps: int) -> None:
        """Record the memory in use at a checkpoint."""
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
        with suppress(Exception):  # a solver may have replaced it
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
    """Return some entries from all over an array."""
    return np.asarray(array.flat[:: max(1, array.size // ENTRIES)]).tobytes()
