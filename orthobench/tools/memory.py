"""The memory of this machine or container, and of this process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from orthobench.tools.load import read_small

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


def peak() -> int:
    """Return the most bytes of memory that this process has had since `reset_peak`.

    Since it began, where the system cannot forget a peak; 0 where it does not say.
    """
    try:
        status = read_small("/proc/self/status")
        return 1024 * int(status.partition(b"VmHWM:")[2].split()[0])
    except (OSError, IndexError):
        return _highest()


def reset_peak() -> None:
    """Let the system forget how much memory this process has had; on Linux only."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _highest() -> int:
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


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
