"""The loop that runs cells: it stores each cell as it ends."""

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


def ran(
    suite: Suite, path: Path, events: Callable[[Any], Iterator[Event]],
    monkeypatch: pytest.MonkeyPatch, keeps: Callable[[Cell, Outcome], bool] | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the session of the loop with an executor that yields these events."""
    monkeypatch.setattr(Executor, "run", lambda executor, cells: events(cells))
    cells = SuiteCells(suite, suite.cells(), suite.cells())
    if keeps:
        monkeypatch.setattr(cells, "keeps", keeps)
    monkeypatch.setattr(cells, "conclude", lambda: {"found": 1})
    with Store(path, write=True) as store:
        execute(cells, Executor("local", 3), store, observer or Observer(), "a command")
        return dict(store.session("toys"))


def all_events(cells: Any) -> Iterator[Event]:
    for cell in iter(cells.take, None):
        yield Event(cell, "1")
        yield Event(cell, "1", late="60 s so far")
        yield Event(cell, "1", execute_cell(cell))


def test_session_records_command_and_environment(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = ran(suite, tmp_path / "s.sqlite", all_events, monkeypatch)
    assert session["ended"] is not None
    assert session["command"] == "a command"
    facts = session["environment"]
    assert (facts["run"]["workers"], facts["run"]["shared"], facts["found"]) == (3, 3, 1)


def test_observer_hears_once_of_each_beginning_delay_and_end(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = []

    class Noting(Observer):
        def begin(self, label: str, worker: str) -> None:
            heard.append("begin")

        def late(self, label: str, reason: str) -> None:
            heard.append(reason)

        def end(self, label: str, failed: bool, worker: str) -> None:
            heard.append("end")

    ran(suite, tmp_path / "s.sqlite", all_events, monkeypatch, observer=Noting())
    assert heard == 4 * ["begin", "60 s so far", "end"]


def test_cell_that_the_scheduler_does_not_keep_is_not_stored(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, first = tmp_path / "s.sqlite", suite.cells()[0]
    ran(suite, path, all_events, monkeypatch, lambda cell, outcome: cell.key != first.key)
    with Store(path) as store:
        assert {run.key for run in store.runs()} == {cell.key for cell in suite.cells()[1:]}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_interrupt_loses_running_cells_only(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    closed = []

    def events(cells: Any) -> Iterator[Event]:
        try:
            first = cells.take()
            yield Event(first, "1")
            yield Event(first, "1", execute_cell(first))
            raise error
        finally:
            closed.append(True)

    path = tmp_path / "s.sqlite"
    with pytest.raises(error):
        ran(suite, path, events, monkeypatch)
    assert closed == [True]
    with Store(path) as store:
        assert len(list(store.runs())) == 1
        assert store.session("toys")["ended"] is None
    monkeypatch.undo()
    assert len(ob.run(suite, path, executor="inline", quiet=True).records) == 4
