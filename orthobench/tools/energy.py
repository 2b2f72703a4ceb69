"""Energy that processors and devices have taken, where a counter can be read."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

POWERCAP = Path("/sys/class/powercap")
"""Where Linux has the counters of processors and their memory (RAPL)."""


class Joules(ABC):
    """The energy that was taken during some calls, by the whole host or the whole device.

    Attributes
    ----------
    value : float
        Joules, so far.
    """

    def __init__(self) -> None:
        self.value = 0.0
        self._before: Mapping[str, float] = {}

    def begin(self) -> None:
        """Begin a call."""
        self._before = self.read()

    def end(self) -> None:
        """End a call."""
        now = self.read()
        self.value += sum(
            (now[name] - before) % self.turn(name) for name, before in self._before.items()
        )

    @abstractmethod
    def read(self) -> Mapping[str, float]:
        """Return the joules of each counter."""

    def turn(self, name: str) -> float:
        """Return the joules at which a counter begins anew."""
        del name
        return float("inf")


@dataclass(frozen=True)
class Zone:
    """A processor, or the memory of one, in the tree of powercap."""

    folder: Path

    @property
    def counts(self) -> bool:
        """Whether it is a whole processor or its memory, which no other zone contains."""
        try:
            return self._text("name").startswith(("package", "dram"))
        except OSError:
            return False

    @property
    def joules(self) -> float:
        """Its counter."""
        return int(self._text("energy_uj")) * 1e-6

    @property
    def turn(self) -> float:
        """Where its counter begins anew."""
        return int(self._text("max_energy_range_uj")) * 1e-6

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="ascii").strip()


class HostJoules(Joules):
    """The energy of all processors and their memory, by RAPL; all that runs on them counts."""

    def __init__(self) -> None:
        super().__init__()
        self._zones = {zone.folder.name: zone for zone in _zones()}

    @staticmethod
    def missing() -> str | None:
        """Return why it cannot be measured here, or None."""
        zones = _zones()
        if not zones:
            return f"there is no counter of the processor's energy in {POWERCAP}"
        try:
            for zone in zones:
                _ = zone.joules
        except OSError as error:
            return f"the counter of the processor's energy cannot be read: {error}"
        return None

    def read(self) -> Mapping[str, float]:
        """Return the joules of each counter."""
        return {name: zone.joules for name, zone in self._zones.items()}

    def turn(self, name: str) -> float:
        """Return the joules at which a counter begins anew."""
        return self._zones[name].turn


class DeviceJoules(Joules):
    """The energy of the first visible device of NVIDIA, by NVML; all that runs on it counts."""

    @staticmethod
    def missing() -> str | None:
        """Return why it cannot be measured here, or None."""
        if find_spec("pynvml") is None:
            return "pynvml is not installed: pip install nvidia-ml-py"
        try:
            DeviceJoules().read()
        except Exception as error:  # its own class, which needs it
            return f"NVML has no counter of the device's energy here ({error})"
        return None

    def read(self) -> Mapping[str, float]:
        """Return the joules since the driver was loaded."""
        return {"": _nvml().nvmlDeviceGetTotalEnergyConsumption(_device()) * 1e-3}


def _zones() -> list[Zone]:
    return [zone for zone in map(Zone, sorted(POWERCAP.glob("intel-rapl:*"))) if zone.counts]


@cache
def _nvml() -> Any:
    nvml = __import__("pynvml")
    nvml.nvmlInit()
    return nvml


@cache
def _device() -> Any:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    if visible.isdigit():
        return _nvml().nvmlDeviceGetHandleByIndex(int(visible))
    return _nvml().nvmlDeviceGetHandleByUUID(visible)
