"""How busy the machine was before and after a run, as 10 bytes of a store."""

from __future__ import annotations

import struct

from orthobench.results.checks import MisfitError
from orthobench.tools.machine import Load

FORM = struct.Struct("<5H")
"""Processors, then load averages before and after in hundredths, then MHz before and after."""

UNKNOWN = 2**16 - 1
"""Stands for what the machine did not say; larger values are stored as one less than it."""


def packed(load: tuple[Load, Load] | None) -> bytes | None:
    """Return the loads before and after a run as bytes; None where they were not measured."""
    if load is None:
        return None
    averages = (None if one.average is None else 100 * one.average for one in load)
    numbers = (load[0].processors, *averages, *(one.mhz for one in load))
    return FORM.pack(*(UNKNOWN if x is None else min(round(x), UNKNOWN - 1) for x in numbers))


def unpacked(data: bytes | None) -> tuple[Load, Load] | None:
    """Return what `packed` took, or raise MisfitError."""
    if data is None:
        return None
    if len(data) != FORM.size:
        raise MisfitError(f"its load has {len(data)} bytes")
    numbers = [None if x == UNKNOWN else x for x in FORM.unpack(data)]
    processors, *averages, mhz, mhz_after = numbers
    before, after = (None if x is None else x / 100 for x in averages)
    count = processors or 1
    return Load(count, before, mhz), Load(count, after, mhz_after)
