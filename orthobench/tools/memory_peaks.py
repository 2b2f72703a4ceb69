"""Peaks of memory that calls need, of the host and of a device."""

from __future__ import annotations

import ctypes
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.places import Place

STATUS = Path("/proc/self/status")
"""Where Linux says how much memory a process has."""

FORGET = Path("/proc/self/clear_refs")
"""What is written here has Linux forget the peak of a process."""


class Peak(ABC):
    """The most bytes that some calls had at once, beyond those that were there before them.

    What a call leaves behind counts in the next ones. What comes and goes between calls does not.

    Attributes
    ----------
    value : float
        Bytes, so far.
    """

    def __init__(self) -> None:
        self.value = 0.0
        self._before = self._kept = 0

    def begin(self) -> None:
        """Begin a call."""
        self._before = self.restart()

    def end(self, keeps: bool = True) -> None:
        """End a call; `keeps` says whether what it leaves behind stays."""
        top, after = self.read()
        self.value = max(self.value, float(self._kept + top - self._before))
        self._kept = max(0, self._kept + keeps * (after - self._before))

    @abstractmethod
    def restart(self) -> int:
        """Forget the peak so far; return the bytes in use."""

    @abstractmethod
    def read(self) -> tuple[int, int]:
        """Return the peak of the bytes in use since `restart`, and those in use now."""


class HostPeak(Peak):
    """Peak of the memory of this process, in pages that were touched: its resident set.

    Allocators keep pages that were freed and hand them out again, which no count of pages shows;
    glibc gives them back when it is told to, before each count.
    """

    @staticmethod
    def missing() -> str | None:
        """Return why it cannot be measured here, or None."""
        if sys.platform != "linux" or _trim() is None:
            return "the peak of a process's memory is known on Linux with glibc only"
        try:
            _forget()
        except OSError as error:
            return f"Linux does not let a process reset its peak here ({error})"
        return None

    def restart(self) -> int:
        """Forget the peak so far; return the bytes in use."""
        now = self.read()[1]
        _forget()
        return now

    def read(self) -> tuple[int, int]:
        """Return the peak of the bytes in use since `restart`, and those in use now."""
        top = _status("VmHWM")
        trim = _trim()
        if trim is not None:
            trim(0)
        return top, _status("VmRSS")


class TorchPeak(Peak):
    """Peak of the bytes of tensors on a CUDA device, as torch's allocator counts them."""

    def restart(self) -> int:
        """Forget the peak so far; return the bytes in use."""
        cuda = LIBRARIES["torch"].module.cuda
        cuda.reset_peak_memory_stats()
        return int(cuda.memory_allocated())

    def read(self) -> tuple[int, int]:
        """Return the peak of the bytes in use since `restart`, and those in use now."""
        cuda = LIBRARIES["torch"].module.cuda
        return int(cuda.max_memory_allocated()), int(cuda.memory_allocated())


class JaxPeak(Peak):
    """Peak of the bytes of arrays on a CUDA device, as jax's allocator counts them.

    It forgets no peak: where an earlier one was higher, such as that of the warm-up, it is that.
    """

    def restart(self) -> int:
        """Return the bytes in use."""
        return self.read()[1]

    def read(self) -> tuple[int, int]:
        """Return the peak of the bytes in use, and those in use now."""
        stats = LIBRARIES["jax"].module.devices("cuda")[0].memory_stats()
        return int(stats["peak_bytes_in_use"]), int(stats["bytes_in_use"])


class CuPyPeak(Peak):
    """Peak of the bytes that cupy's pool holds: it gives none back before it is told to."""

    def restart(self) -> int:
        """Give free blocks back; return the bytes that are left."""
        pool = self._pool
        pool.free_all_blocks()
        return int(pool.total_bytes())

    def read(self) -> tuple[int, int]:
        """Return the bytes that it holds, and those of them that are in use."""
        top = int(self._pool.total_bytes())
        return top, self.restart()

    @property
    def _pool(self) -> Any:
        return LIBRARIES["cupy"].module.get_default_memory_pool()


DEVICE_PEAKS: dict[str, type[Peak]] = {"torch": TorchPeak, "jax": JaxPeak, "cupy": CuPyPeak}
"""The peaks of devices, by array library."""


def device_peak(place: Place) -> Peak | None:
    """Return the peak of the device of a place; None where that is the host."""
    return None if place.device == "cpu" else DEVICE_PEAKS[place.library]()


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


def _trim() -> Callable[[int], int] | None:
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def _forget() -> None:
    FORGET.write_text("5", encoding="ascii")  # the number of this request in Linux


def _status(name: str) -> int:
    """Return the bytes that Linux tells of this process under a name."""
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])
