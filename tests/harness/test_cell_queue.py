"""In which order cells wait, and that executors take what is added while they run."""

import pytest

from orthobench.harness.cell import Cell
from orthobench.harness.executors import cell_queue, run_inline
from orthobench.harness.executors.cell_queue import CellQueue, kernels_of
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue


def cells(toys, sizes=(4, 5), seeds=(0, 1), steps=(0.5, 1.0)):
    return [
        Cell(toys.Problem(n=n), toys.Solver(step_size=step), seed, Budget(steps=3))
        for n in sizes
        for seed in seeds
        for step in steps
    ]


def test_a_worker_stays_with_its_data_then_goes_on_in_the_first_problem(toys):
    planned = cells(toys)
    waiting = CellQueue(planned)
    first = waiting.take()
    assert first is planned[0]
    assert waiting.take((first.problem, first.seed)) is planned[1]
    assert waiting.take((first.problem, first.seed)) is planned[2]
    assert waiting.take((planned[4].problem, 1)) is planned[6]


def test_another_worker_begins_with_the_last_solver(toys):
    planned = cells(toys)
    waiting = CellQueue(planned)
    assert waiting.take() is planned[0]
    assert waiting.take(last=True) is planned[3]


def test_cells_that_are_added_come_before_those_of_later_problems(toys):
    first, *others, late = cells(toys, seeds=(0,))
    waiting = CellQueue([first, *others])
    waiting.take()
    waiting.add([late])
    assert list(iter(waiting.take, None)) == [others[0], others[1], late]
    assert waiting.take() is None


@pytest.fixture
def kernels(monkeypatch):
    """Solvers with a step of 1 call other kernels than those with smaller steps."""

    def of(cell):
        return frozenset({"shared", "slow"} if cell.solver.step_size < 1 else {"shared", "quick"})

    monkeypatch.setattr(cell_queue, "kernels_of", of)


@pytest.mark.usefixtures("kernels")
class TestKernelsThatAreCompiledBeside:
    def test_cells_that_would_wait_for_most_of_them_come_last(self, toys):
        planned = cells(toys, sizes=(4,), seeds=(0,), steps=(0.5, 0.6, 1.0))
        queue = CellQueue(planned)
        first = queue.take()
        assert queue.take(beside=[first]) is planned[2]
        assert queue.take(beside=[first]) is planned[1]

    def test_cells_of_later_problems_come_before_cells_that_would_wait(self, toys):
        planned = cells(toys, sizes=(4, 5), seeds=(0,), steps=(0.5, 0.6, 1.0))
        queue = CellQueue(planned)
        queue.finish(planned[2])
        first = queue.take()
        held = first.problem, first.seed
        taken = [queue.take(held, beside=[first]) for _ in range(3)]
        assert taken == [planned[2], planned[5], planned[1]]

    def test_a_worker_leaves_its_data_where_all_there_would_wait_for_more(self, toys):
        planned = cells(toys, sizes=(4,), seeds=(0,), steps=(0.5, 0.6, 1.0))
        late = cells(toys, sizes=(5,), seeds=(0,), steps=(0.7,))
        queue = CellQueue([*planned, *late])
        first = queue.take()
        assert queue.take((late[0].problem, 0), beside=[first]) is planned[2]

    def test_once_they_are_compiled_the_first_problem_goes_on(self, toys):
        planned = cells(toys, sizes=(4, 5), seeds=(0,), steps=(0.5, 0.6, 0.7))
        queue = CellQueue(planned)
        queue.finish(queue.take())
        second = queue.take()
        assert second is planned[1]
        assert queue.take(beside=[second]) is planned[2]


def test_kernels_of_a_solver_are_in_modules_that_it_imports():
    def of(name):
        problem = catalogue().problem("digits")
        solver = catalogue().solver(name, offers=problem.offers)
        return kernels_of(Cell(problem, solver, 0, Budget(samples=1)))

    update = "orthobench_stochastic_pca._kernels.updates"
    assert update in of("meg") & of("warmuth-kuzmin")
    assert of("oja")
    assert update not in of("oja")
    assert not of("batch-pca")


@pytest.mark.parametrize("follow", [0, 3])
def test_an_executor_runs_what_is_added_after_its_last_cell(toys, follow):
    planned = cells(toys, sizes=(4,), seeds=(0, 1), steps=(0.5, 1.0))
    waiting, done = CellQueue(planned[:1]), []
    for event in run_inline(waiting):
        if event.outcome:
            done.append(event.cell)
            if len(done) == 1:
                waiting.add(planned[1 : 1 + follow])
    assert done == planned[: 1 + follow]
