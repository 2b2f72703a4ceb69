"""The machine: its load, and what processes and calls use of it and of its memory."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.places import Place


class Load(NamedTuple):
    """The logical processors of a machine, and the threads that want one, as a minute's average."""

    processors: int
    average: float | None

    @property
    def busy(self) -> bool:
        """Whether more than one thread waited for a processor, averaged over a minute."""
        return self.average is not None and self.average > self.processors + 1


def load() -> Load:
    """Return the load of this machine."""
    average = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Load(os.cpu_count() or 1, average)


def read_small(path: str) -> bytes:
    """Return the first 4 kB of a file of /proc or /sys."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


TICK = 1.0 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
"""Seconds in the unit of CPU times in /proc."""


@dataclass(frozen=True)
class Usage:
    """The resources that a process has used since it started.

    Attributes
    ----------
    wall, cpu : float
        Seconds of wall-clock time from an arbitrary beginning, and of CPU time with awaited
        children.
    queued : float
        Seconds that its main thread waited for a core.
    children : int
        Number of descendants that were not awaited.
    stolen : float
        As `stolen`.
    """

    wall: float
    cpu: float
    queued: float
    children: int
    stolen: float = 0.0


def stolen() -> float:
    """Return the seconds that a host took from all cores of this virtual machine; on Linux."""
    return TICK * int(read_small("/proc/stat").split(maxsplit=9)[8])


def queued(process: int) -> float:
    """Return the seconds that the main thread of a process has waited for a core; on Linux."""
    return int(read_small(f"/proc/{process}/schedstat").split()[1]) * 1e-9


def usage(process: int) -> Usage | None:
    """Return the resources that a process has used; None if it is gone, or not on Linux."""
    if sys.platform != "linux":
        return None
    try:
        own = time.clock_gettime_ns(~process << 3 | 2) * 1e-9  # the number of its clock in Linux
        awaited = read_small(f"/proc/{process}/stat").rpartition(b")")[2].split()[13:15]
        waited, taken = queued(process), stolen()
    except OSError:
        return None
    cpu = own + TICK * sum(map(int, awaited))
    return Usage(time.monotonic(), cpu, waited, len(descendants(process)), taken)


def children(process: int) -> list[int]:
    """Return the ids of the processes that a process started; on Linux."""
    found: list[int] = []
    with suppress(OSError):  # the process or a thread of it may be gone
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208 - quick
            found += map(int, read_small(f"/proc/{process}/task/{thread}/children").split())
    return found


def descendants(process: int) -> list[int]:
    """Return the ids of the children of a process, and of theirs."""
    own = children(process)
    return own + [one for child in own for one in descendants(child)]


def out_of_memory() -> int:
    """Return the number of processes that Linux has killed for want of memory."""
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/vmstat").read_text(encoding="ascii")
        return int(text.partition("\noom_kill ")[2].split()[0])
    return 0


def readable(count: int) -> str:
    """Return a number of bytes for people: ``"4.0 GiB"``."""
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:,.0f} {units[0]}" if units[0] == "bytes" else f"{size:,.1f} {units[0]}"


STATUS = Path("/proc/self/status")
"""The memory of this process in Linux."""

FORGET = Path("/proc/self/clear_refs")
"""Writing 5 here resets the peak of this process in Linux."""


class Peak:
    """The peak memory of some calls beyond that before them, in bytes (`value`).

    Memory that a call keeps counts in the next ones. On the host it is the resident set, after
    glibc has returned freed pages; on a device the allocations of torch.
    """

    def __init__(self, place: Place) -> None:
        self._device, self.value, self._kept = place.device != "cpu", 0.0, 0

    @staticmethod
    def missing(place: Place) -> str | None:
        """Return why the peak of what runs at a place cannot be measured here, or None."""
        if place.device != "cpu":
            return None if place.library == "torch" else "only torch knows the peak of a device"
        if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"):
            return "the peak of a process's memory is known on Linux with glibc only"
        try:
            _forget()
        except OSError as error:
            return f"Linux does not let a process reset its peak here ({error})"
        return None

    @contextmanager
    def measuring(self, keeps: bool = True) -> Iterator[None]:
        """Count the memory of this context; what it leaves behind counts on if it `keeps` it."""
        _, before = self._read()
        self._restart()
        yield
        top, after = self._read()
        self.value = max(self.value, float(self._kept + top - before))
        self._kept = max(0, self._kept + keeps * (after - before))

    def _restart(self) -> None:
        if self._device:
            LIBRARIES["torch"].module.cuda.reset_peak_memory_stats()
        else:
            _forget()

    def _read(self) -> tuple[int, int]:
        """Return the peak of the bytes in use, and those in use now."""
        if self._device:
            cuda = LIBRARIES["torch"].module.cuda
            return int(cuda.max_memory_allocated()), int(cuda.memory_allocated())
        top = _status("VmHWM")
        ctypes.CDLL(None).malloc_trim(0)
        return top, _status("VmRSS")


def process_peak() -> int | None:
    """Return the peak memory of this process since `reset_process_peak`; None if not on Linux."""
    return _status("VmHWM") or None


def reset_process_peak() -> None:
    """Reset the peak memory of this process; on Linux."""
    with suppress(OSError):
        _forget()


def _forget() -> None:
    FORGET.write_text("5", encoding="ascii")  # the number of this request in Linux


def resident() -> int:
    """Return the resident memory of this process, in bytes; on Linux."""
    return _status("VmRSS")


def _status(name: str) -> int:
    """Return a number of bytes in the status of this process; 0 if unknown."""
    try:
        lines = STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((1024 * int(ln.split()[1]) for ln in lines if ln.startswith(f"{name}:")), 0)
