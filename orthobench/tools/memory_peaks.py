"""Peaks of memory: what calls of a solver need at once, and what a process has had."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.places import Place

STATUS = Path("/proc/self/status")
"""Where Linux says how much memory a process has."""

FORGET = Path("/proc/self/clear_refs")
"""What is written here has Linux forget the peak of a process."""


class Peak:
    """The most bytes that some calls had at once, beyond those that were there before them.

    What a call leaves behind counts in the next ones. What comes and goes between calls does not.
    On the host it is the resident set of this process, in pages that were touched; glibc gives
    back those that were freed before each count. On a device it is what torch has allocated.

    Parameters
    ----------
    place : Place

    Attributes
    ----------
    value : float
        Bytes, so far.
    """

    def __init__(self, place: Place) -> None:
        self._device, self.value, self._kept = place.device != "cpu", 0.0, 0

    @staticmethod
    def missing(place: Place) -> str | None:
        """Return why the peak of what runs at a place cannot be measured here, or None."""
        if place.device != "cpu":
            return None if place.library == "torch" else "of devices only that of torch is known"
        if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"):
            return "the peak of a process's memory is known on Linux with glibc only"
        try:
            _forget()
        except OSError as error:
            return f"Linux does not let a process reset its peak here ({error})"
        return None

    @contextmanager
    def measuring(self, keeps: bool = True) -> Iterator[None]:
        """Count what happens meanwhile; `keeps` says whether what it leaves behind stays."""
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


def process_peak() -> int:
    """Return the most bytes of memory that this process has had since `reset_process_peak`.

    Since it began, where the system cannot forget a peak; 0 where it does not say.
    """
    try:
        return _status("VmHWM")
    except (OSError, StopIteration):
        return _highest()


def reset_process_peak() -> None:
    """Let the system forget how much memory this process has had; on Linux only."""
    with suppress(OSError):
        _forget()


def _highest() -> int:
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _forget() -> None:
    FORGET.write_text("5", encoding="ascii")  # the number of this request in Linux


def _status(name: str) -> int:
    """Return the bytes that Linux tells of this process under a name."""
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])
