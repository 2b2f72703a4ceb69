"""What another process has used so far, as the operating system counts it; on Linux only."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

from orthobench.tools.load import read_small

TICK = 1.0 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
"""Seconds in the unit of CPU times in /proc."""


@dataclass(frozen=True)
class Usage:
    """What a process has used since it started.

    Attributes
    ----------
    wall : float
        Seconds of wall time, from an arbitrary beginning.
    cpu : float
        Seconds of CPU time of all its threads, and of the processes that it started and awaited.
    queued : float
        Seconds that its main thread was ready to run and had to wait for a core.
    children : int
        Processes that it started and that run still.
    stolen : float
        Seconds that a host took from all cores of this virtual machine; 0 on a real one.
    """

    wall: float
    cpu: float
    queued: float
    children: int
    stolen: float = 0.0

    def __sub__(self, before: Usage) -> Usage:
        """Return what was used since; of `children` those that run now."""
        return Usage(
            self.wall - before.wall,
            self.cpu - before.cpu,
            self.queued - before.queued,
            self.children,
            self.stolen - before.stolen,
        )


def stolen() -> float:
    """Return the seconds that a host took from all cores of this virtual machine; on Linux only.

    Raises
    ------
    OSError
        Where the system does not say.
    """
    return TICK * int(read_small("/proc/stat").split(maxsplit=9)[8])


def queued(process: int) -> float:
    """Return the seconds that the main thread of a process has waited for a core; on Linux only.

    Raises
    ------
    OSError
        Where the process is gone.
    """
    return int(read_small(f"/proc/{process}/schedstat").split()[1]) * 1e-9


def usage(process: int) -> Usage | None:
    """Return what a process has used; None where the system does not say, or it is gone.

    Parameters
    ----------
    process : int
        Its number.
    """
    if sys.platform != "linux":
        return None
    try:
        own = time.clock_gettime_ns(~process << 3 | 2) * 1e-9  # the number of its clock in Linux
        awaited = read_small(f"/proc/{process}/stat").rpartition(b")")[2].split()[13:15]
        waited, taken = queued(process), stolen()
        threads = os.listdir(f"/proc/{process}/task")  # noqa: PTH208 - as quick as the rest
    except OSError:
        return None
    children = sum(_children(f"/proc/{process}/task/{thread}") for thread in threads)
    cpu = own + TICK * sum(map(int, awaited))
    return Usage(time.monotonic(), cpu, waited, children, taken)


def _children(thread: str) -> int:
    with suppress(OSError):  # the kernel may be built without it, and the thread may be gone
        return len(read_small(f"{thread}/children").split())
    return 0
