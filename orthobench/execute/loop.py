"""The loop that runs cells: a scheduler says which is next, an executor runs it, a store keeps it.

A cell is stored in one transaction as soon as it is finished, those that end at one time together.
So whatever ends the loop, an interrupt or a kill, loses no more than the cells in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

from orthobench.harness.cell import Cell
from orthobench.harness.executors import Executor, Observer, in_batches
from orthobench.harness.executors.cell_queue import Cells
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
    """Says which cell of a suite comes next, given the results so far.

    Attributes
    ----------
    suite : Suite
    planned : sequence of Cell
        The plan of the suite when the loop begins; cells that are finished later join it.
    stored : int
        Number of cells that the store had already.
    """

    suite: Suite
    planned: Sequence[Cell]
    stored: int = 0

    def __len__(self) -> int:
        """Return the number of cells that are left, if it is known."""
        return 0

    def begin(self, store: Store) -> None:
        """Take the store, which has the plan now."""

    def keeps(self, cell: Cell, outcome: Outcome) -> bool:
        """Return whether a finished cell is stored; raise what makes all others useless."""
        del cell, outcome
        return True

    def finish(self, cell: Cell) -> None:
        """Take note that a cell is finished, and stored."""

    def tables(self) -> Iterator[str]:
        """Yield the problems all of whose cells are finished by now, each once."""
        return iter(())

    def conclude(self) -> Mapping[str, Any]:
        """Return what the session records beside its environment, when nothing is left to run."""
        return {}


def execute(
    scheduler: Scheduler,
    executor: Executor,
    store: Store,
    observer: Observer,
    command: str = "",
    show: Callable[[str], object] = str,
    on_point: OnPoint | None = None,
) -> None:
    """Run what a scheduler asks for until it asks for nothing more, and store each cell as it ends.

    Parameters
    ----------
    scheduler : Scheduler
    executor : Executor
    store : Store
        Open to be written; it gets one session.
    observer : Observer
        Is told of cells as they begin and end.
    command : str
        What the session says started it.
    show : callable
        Called with each problem whose cells are all finished.
    on_point : callable, optional
        Called with each checkpoint that was stored, and its run; what it raises ends the loop.
    """
    suite = scheduler.suite
    with limited(suite.threads):
        facts = {**environment.snapshot(), "run": executor.facts()}
    session = store.begin(suite, scheduler.planned, hide_home(command), facts)
    scheduler.begin(store)
    observer.expect(len(scheduler), scheduler.stored)
    for problem in scheduler.tables():
        show(problem)
    with closing(executor.run(scheduler)) as events:
        for batch in in_batches(events):
            ended = [(e.cell, e.outcome) for e in batch if e.outcome]
            kept = [(cell, outcome) for cell, outcome in ended if scheduler.keeps(cell, outcome)]
            if kept:
                store.add(session, kept, suite.name)
            for cell, outcome in kept:
                scheduler.finish(cell)
                if on_point:
                    tell(on_point, Run.of(cell, outcome))
            for event in batch:
                label = event.cell.label
                if event.late:
                    observer.late(label, event.late)
                elif event.outcome is None:
                    observer.begin(label, event.worker)
                else:
                    observer.end(label, event.outcome.stop.status.failed, event.worker)
            observer.expect(len(scheduler))
            for problem in scheduler.tables():
                show(problem)
    store.end(session, scheduler.conclude())
