"""CPU seconds of this process, which a busy machine lengthens much less than wall time."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import TypeVar

T = TypeVar("T")


def spent(call: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds of a call, and its result."""
    begin = process_time()
    result = call()
    return process_time() - begin, result
