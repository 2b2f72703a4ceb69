"""The loop that runs cells: what it stores and when, what it tells, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import orthobench as ob
from orthobench.execute.loop import execute
from orthobench.execute.suite_cells import SuiteCells
from orthobench.harness.cell import Cell
from orthobench.harness.cell import execute as execute_cell
from orthobench.harness.executors import Event, Executor, Observer
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Outcome
from orthobench.registry.suite_file import from_table
from orthobench.results.store import Store

TABLE = {
    "seeds": 2,
    "budget": {"steps": 3},
    "problem": ["leading-subspace"],
    "solver": ["power step=0.5", "power"],
}


@pytest.fixture
def suite(toys: SimpleNamespace) -> Suite:
    return from_table(TABLE, "toys", toys.registry)


class Told(Observer):
    """Notes what it is told, and how much of it is stored by then."""

    def __init__(self, store: Store) -> None:
        self.store, self.said = store, list[tuple[str, int]]()

    def begin(self, label: str, worker: str) -> None:
        self.said.append(("begin", len(self.store.contents())))

    def late(self, label: str, said: str) -> None:
        self.said.append((said, len(self.store.contents())))

    def end(self, label: str, failed: bool, worker: str) -> None:
        self.said.append(("end", len(self.store.contents())))


def ran(
    suite: Suite, path: Path, events: Callable[[Any], Iterator[Event]],
    monkeypatch: pytest.MonkeyPatch, keeps: Callable[[Cell, Outcome], bool] | None = None,
) -> tuple[list[tuple[str, int]], dict[str, Any]]:  # fmt: skip
    """Return what the loop tells with an executor that yields these events, and the session."""
    monkeypatch.setattr(Executor, "run", lambda executor, cells: events(cells))
    cells = SuiteCells(suite, suite.cells(), suite.cells())
    if keeps:
        monkeypatch.setattr(cells, "keeps", keeps)
    monkeypatch.setattr(cells, "conclude", lambda: {"found": 1})
    with Store(path, write=True) as store:
        told = Told(store)
        try:
            execute(cells, Executor("local", 3), store, told, "a command")
        finally:
            session = store.session("toys")
    return told.said, dict(session)


def in_pairs(cells: Any) -> Iterator[Event]:
    waiting = iter(cells.take, None)
    for first, second in zip(waiting, waiting, strict=True):
        yield Event(first, "1")
        yield Event(first, "1", late="late")
        yield Event(first, "1", execute_cell(first), more=True)
        yield Event(second, "2", execute_cell(second))


def test_cells_that_end_together_are_stored_together_before_it_is_told(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, session = ran(suite, tmp_path / "s.sqlite", in_pairs, monkeypatch)
    assert said == [
        ("begin", 0), ("late", 0), ("end", 2), ("end", 2),
        ("begin", 2), ("late", 2), ("end", 4), ("end", 4),
    ]  # fmt: skip
    assert session["ended"] is not None
    assert session["command"] == "a command"
    facts = session["environment"]
    assert (facts["run"]["workers"], facts["run"]["shared"], facts["found"]) == (3, 3, 1)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupt_loses_only_cells_in_flight_and_ends_what_runs_them(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    closed = []

    def events(cells: Any) -> Iterator[Event]:
        try:
            first = cells.take()
            yield Event(first, "1")
            yield Event(first, "1", execute_cell(first), more=True)
            raise error
        finally:
            closed.append(True)

    path = tmp_path / "s.sqlite"
    with pytest.raises(error):
        ran(suite, path, events, monkeypatch)
    assert closed == [True]
    with Store(path) as store:
        kept = len(store.contents())
        assert store.session("toys")["ended"] is None
    assert kept == (error is ZeroDivisionError)  # an error comes after the events before it
    monkeypatch.undo()
    assert len(ob.run(suite, path, executor="inline", quiet=True).records) == 4


def test_a_cell_that_the_scheduler_does_not_keep_is_not_stored(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, first = tmp_path / "s.sqlite", suite.cells()[0]
    ran(suite, path, in_pairs, monkeypatch, lambda cell, outcome: cell.key != first.key)
    with Store(path) as store:
        assert {*store.contents()} == {cell.key for cell in suite.cells()[1:]}
