"""The memory of this machine or container, to refuse what does not fit before it is tried."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@cache
def total() -> int | None:
    """Return the bytes of memory of the machine, or of the container where it has less.

    None where the system does not say.
    """
    limits = [limit for limit in (_physical(), *map(_container, _CGROUPS)) if limit]
    return min(limits, default=None)


def refusal_of(needed: int, what: str) -> str | None:
    """Return a sentence that something does not fit into memory, or None where it does.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        The subject of the sentence.
    """
    most = total()
    if most is None or needed <= most:
        return None
    return f"{what} needs {readable(needed)} of memory, and there are {readable(most)}"


def readable(count: int) -> str:
    """Return a number of bytes for people: ``"4.0 GiB"``."""
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:,.0f} {units[0]}" if units[0] == "bytes" else f"{size:,.1f} {units[0]}"


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
