"""The memory of this machine, and sentences on what does not fit into it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from orthobench.tools.machine import readable

_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@cache
def total() -> int | None:
    """Return the memory of the machine or its container, in bytes; None if unknown."""
    limits = [limit for limit in (_physical(), *map(_container, _CGROUPS)) if limit]
    return min(limits, default=None)


def refusal_of(needed: int, what: str) -> str | None:
    """Return a sentence that `what`, which needs some bytes, does not fit into memory, or None."""
    most = total()
    if most is None or needed <= most:
        return None
    return f"{what} needs {readable(needed)} of memory, and there are {readable(most)}"


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _container(path: str) -> int | None:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
