"""Whether benchmarks only show that they run: ``pytest benchmarks --smoke``, in a minute.

Each constant that makes a benchmark long has its value in a smoke run beside it.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

ON = False
"""Set by `conftest.py` before it imports any benchmark."""


def usually(value: T, smoke: T) -> T:
    """Return a size or a number of rounds, or the least that runs every line."""
    return smoke if ON else value
