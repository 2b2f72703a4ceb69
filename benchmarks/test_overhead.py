"""Costs of the harness outside of solvers: a cell, a recorded point, and the clock itself.

A solver that does nothing leaves all the time to the harness. Targets: 3 ms a cell inline and 5 ms
with worker processes, 0.2 ms a recorded point, and seconds on the clock that do not depend, to 1 %,
on how often a run is recorded.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from smoke import usually
from still import Nowhere, Steady, Still

from orthobench.harness import run as harness
from orthobench.harness.cell import Cell, execute, instance_of
from orthobench.harness.executors import local, run_inline
from orthobench.harness.executors.guard import Guard, sealed
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget

CELLS = usually(200, smoke=3)
ROUNDS = usually(20, smoke=1)
PAIRS = usually(41, smoke=1)
STEPS = usually(20_000, smoke=1000)


def between(events):
    """Median seconds from one finished cell to the next."""
    ends = [time.perf_counter() for event in events if event.outcome]
    return float(np.median(np.diff(ends)))


@pytest.mark.parametrize(
    ("name", "way", "target"), [("inline", run_inline, 3), ("local", local.run, 5)]
)
def test_a_cell(report, name, way, target):
    cells = [Cell(Nowhere(), Still(number=i), 0, Budget(steps=100)) for i in range(CELLS)]
    best = min(between(way(cells)) for _ in range(usually(3, smoke=1)))
    report(f"a cell of 19 points, {name}", "", "", "", f"{best * 1e3:.2f} ms", "", target, "")


def recorded(solver, count, steps, monkeypatch):
    """Seconds of a run that is recorded so often: all of it, and those on the clock."""
    at = sorted({int(step) for step in np.linspace(1, steps, count)})
    monkeypatch.setattr(harness, "checkpoints", lambda _ratio: itertools.cycle(at))
    instance = instance_of(Nowhere(), 0)
    begin = time.perf_counter()
    outcome = harness.run(instance, solver, Budget(steps=steps), Streams.of("", "", 0))
    total = time.perf_counter() - begin
    assert len(outcome.trace) == len(at) + 1
    return total, outcome.trace[-1].seconds


def test_a_recorded_point(report, monkeypatch):
    few, many = (
        min(recorded(Still(), count, 2000, monkeypatch)[0] for _ in range(ROUNDS))
        for count in (10, 1010)
    )
    each = (many - few) / 1000
    report("a recorded point", "", "", "", f"{each * 1e3:.3f} ms", "", 0.2, "")


def test_the_clock_does_not_see_how_often_a_run_is_recorded(report, monkeypatch):
    pairs = [
        [recorded(Steady(), count, STEPS, monkeypatch)[1] for count in (5, 200)]
        for _ in range(PAIRS)
    ]
    few, many = np.median(pairs, axis=0)
    report("clock, 200 points over 5", "", "", "", "", f"{many / few:.4f}", "1 to 1 %", "")


def test_the_clock_of_a_guarded_run(report):
    cell = Cell(Nowhere(), Steady(), 0, Budget(steps=STEPS))
    job = sealed(cell)
    guard = Guard(threads=1)
    try:
        pairs = [
            [outcome.trace[-1].seconds for outcome in (execute(cell), guard.execute(job))]
            for _ in range(PAIRS)
        ]
    finally:
        guard.close()
    here, guarded = np.median(pairs, axis=0)
    report("clock, guarded over inline", "", "", "", "", f"{guarded / here:.4f}", "1 to 1 %", "")
