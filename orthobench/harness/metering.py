"""Runs that measure memory or energy, which slows them down: each is a run of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Protocol

import numpy as np

from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import AnySolver, State
from orthobench.errors import UsageError
from orthobench.harness.placement import Calls, calls
from orthobench.tools.energy import DeviceJoules, HostJoules
from orthobench.tools.memory_peaks import HostPeak, Peak, device_peak
from orthobench.tools.places import Place

MEASURES = MEMORY, ENERGY = ("memory", "energy")
"""What a run can measure beside time."""

METRICS = HOST_BYTES, DEVICE_BYTES, HOST_JOULES, DEVICE_JOULES = (
    "peak_host_bytes",
    "peak_device_bytes",
    "host_joules",
    "device_joules",
)
"""The metrics that such runs have beside those of the judge."""


class Gauge(Protocol):
    """Measures something during calls; `value` is what it has found so far."""

    value: float

    def begin(self) -> None:
        """Begin a call."""

    def end(self) -> None:
        """End a call."""


def refusal(measure: str, place: Place) -> str | None:
    """Return why something cannot be measured of what is computed at a place, or None.

    Parameters
    ----------
    measure : str
        One of `MEASURES`.
    place : Place
    """
    if place.reduces:
        return "its samples are in blocks; their runs tell what each worker took in any case"
    if measure == MEMORY:
        return HostPeak.missing()
    return HostJoules.missing() if place.device == "cpu" else DeviceJoules.missing()


def gauges(measure: str, place: Place) -> Mapping[str, Gauge]:
    """Return what measures `measure`, by the names of metrics; the arguments as in `refusal`.

    Raises
    ------
    UsageError
        Where it cannot be measured.
    """
    if why := refusal(measure, place):
        raise UsageError(f"the {measure} of what runs on {place} cannot be measured: {why}")
    if measure == MEMORY:
        device = device_peak(place)
        return {HOST_BYTES: HostPeak(), **({DEVICE_BYTES: device} if device else {})}
    found: dict[str, Gauge] = {} if HostJoules.missing() else {HOST_JOULES: HostJoules()}
    return found if place.device == "cpu" else {**found, DEVICE_JOULES: DeviceJoules()}


class MeasuredCalls(Calls):
    """Calls during which something is measured; what happens between them does not count.

    Parameters
    ----------
    solver : Solver
    measure : str
        One of `MEASURES`.
    """

    def __init__(self, solver: AnySolver, measure: str) -> None:
        self._inner, self._reruns = calls(solver), solver.reruns
        self._gauges = gauges(measure, solver.place)
        self._after_init = self._gauges
        self.waits = self._inner.waits

    def init(self, oracle: Oracle, rng: np.random.Generator) -> State:
        """Return the state before the first step."""
        with self._measuring():
            state: State = self._inner.init(oracle, rng)
        self._after_init = self._gauges
        return state

    def advance(self, oracle: Oracle, state: State, count: int) -> None:
        """Do `count` steps."""
        if self._reruns:
            self._gauges = {name: copy(gauge) for name, gauge in self._after_init.items()}
        with self._measuring():
            self._inner.advance(oracle, state, count)

    def solution(self, state: State) -> Solution:
        """Return the solution; the memory that this needs counts, but the solution is not kept."""
        peaks = [gauge for gauge in self._gauges.values() if isinstance(gauge, Peak)]
        for peak in peaks:
            peak.begin()
        found: Solution = self._inner.solution(state)
        for peak in peaks:
            peak.end(keeps=False)
        return found

    def idle(self) -> None:
        """Wait for the device."""
        self._inner.idle()

    def rehearse(self, oracle: Oracle, state: State, count: int) -> None:
        """Prepare the code of the next call of `advance`."""
        self._inner.rehearse(oracle, state, count)

    def fetched(self, solution: Solution) -> Solution:
        """Return a solution with its arrays on the host."""
        return self._inner.fetched(solution)

    def extra_metrics(self, oracle: Oracle) -> dict[str, float]:
        """Return what was measured so far, by name, and what the inner calls have."""
        found = {name: gauge.value for name, gauge in self._gauges.items()}
        return {**found, **self._inner.extra_metrics(oracle)}

    @contextmanager
    def _measuring(self) -> Iterator[None]:
        for gauge in self._gauges.values():
            gauge.begin()
        yield
        for gauge in self._gauges.values():
            gauge.end()


def measured(solver: AnySolver, measure: str) -> Calls:
    """Return the calls of a solver, during which `measure` is measured unless it is empty."""
    return MeasuredCalls(solver, measure) if measure else calls(solver)
