"""The order of waiting cells, and cells that are added during a run."""

import pytest

from orthobench.harness.cell import Cell
from orthobench.harness.executors import CellQueue, run_inline
from orthobench.harness.stopping import Budget


def cells(toys, sizes=(4, 5), seeds=(0, 1), steps=(0.5, 1.0)):
    return [
        Cell(toys.Problem(n=n), toys.Solver(step_size=step), seed, Budget(steps=3))
        for n in sizes
        for seed in seeds
        for step in steps
    ]


def test_queue_stays_on_the_data_of_a_worker(toys):
    planned = cells(toys)
    waiting = CellQueue(planned)
    first = waiting.take()
    assert first is planned[0]
    assert waiting.take((first.problem, first.seed)) is planned[1]
    assert waiting.take((first.problem, first.seed)) is planned[2]
    assert waiting.take((planned[4].problem, 1)) is planned[6]


def test_queue_gives_the_last_solver_to_another_worker(toys):
    planned = cells(toys)
    waiting = CellQueue(planned)
    assert waiting.take() is planned[0]
    assert waiting.take(last=True) is planned[3]


def test_queue_puts_added_cells_before_later_problems(toys):
    first, *others, late = cells(toys, seeds=(0,))
    waiting = CellQueue([first, *others])
    waiting.take()
    waiting.add([late])
    assert list(iter(waiting.take, None)) == [others[0], others[1], late]
    assert waiting.take() is None


@pytest.mark.parametrize("follow", [0, 3])
def test_executor_runs_cells_added_after_its_last_one(toys, follow):
    planned = cells(toys, sizes=(4,), seeds=(0, 1), steps=(0.5, 1.0))
    waiting, done = CellQueue(planned[:1]), []
    for event in run_inline(waiting):
        if event.outcome:
            done.append(event.cell)
            if len(done) == 1:
                waiting.add(planned[1 : 1 + follow])
    assert done == planned[: 1 + follow]
