"""The loop that runs cells: a scheduler names the next, an executor runs it, a store keeps it.

Each cell is stored in one transaction when it ends, so that an interrupt or a kill loses only the
cells that are running.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

from orthobench.harness.cell import Cell
from orthobench.harness.executors import Cells, Executor, Observer
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.results.runs import Run
from orthobench.results.store import Store
from orthobench.tools import environment
from orthobench.tools.environment import limited
from orthobench.tools.files import hide_home

OnPoint: TypeAlias = Callable[[Run, Checkpoint], object]
"""Called with a run and one of its checkpoints."""


def tell(on_point: OnPoint, run: Run) -> None:
    """Call a hook with each checkpoint of a run."""
    for point in run.trace:
        on_point(run, point)


class Scheduler(Cells):
    """Decides which cell of a suite comes next, given the results so far.

    Attributes
    ----------
    suite : Suite
    planned : sequence of Cell
        Cells of the suite when the loop begins; others may follow.
    stored : int
        Number of cells that the store had.
    """

    suite: Suite
    planned: Sequence[Cell]
    stored: int = 0

    def __len__(self) -> int:
        """Return the number of cells that are left."""
        return 0

    def begin(self, store: Store) -> None:
        """Take the store, which has the planned cells."""

    def keeps(self, cell: Cell, outcome: Outcome) -> bool:
        """Return whether a finished cell is stored; raise if all others are useless."""
        del cell, outcome
        return True

    def finish(self, cell: Cell) -> None:
        """Take note that a cell is stored."""

    def conclude(self) -> Mapping[str, Any]:
        """Return what the session records at its end, besides its environment."""
        return {}


def execute(
    scheduler: Scheduler,
    executor: Executor,
    store: Store,
    observer: Observer,
    command: str = "",
    on_point: OnPoint | None = None,
) -> None:
    """Run the cells of a scheduler until there are no more, and store each cell as it ends.

    Parameters
    ----------
    scheduler : Scheduler
    executor : Executor
    store : Store
        Open for writing; it gets one session.
    observer : Observer
    command : str
        The command that started the session.
    on_point : callable, optional
        Its errors end the loop.
    """
    suite = scheduler.suite
    with limited(suite.threads):
        facts = {**environment.snapshot(), "run": executor.facts()}
    session = store.begin(suite, scheduler.planned, hide_home(command), facts)
    scheduler.begin(store)
    observer.expect(len(scheduler), scheduler.stored)
    with closing(executor.run(scheduler)) as events:
        for event in events:
            cell, outcome = event.cell, event.outcome
            if event.late:
                observer.late(cell.label, event.late)
                continue
            if outcome is None:
                observer.begin(cell.label, event.worker)
                continue
            if scheduler.keeps(cell, outcome):
                store.add(session, [(cell, outcome)], suite.name)
                scheduler.finish(cell)
                if on_point:
                    tell(on_point, Run.of(cell, outcome))
            observer.end(cell.label, outcome.stop.status.failed, event.worker)
            observer.expect(len(scheduler))
    store.end(session, scheduler.conclude())
