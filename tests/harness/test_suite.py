"""The plan of a suite: its cells and their order."""

from collections import Counter
from dataclasses import replace

import pytest

from orthobench.contract.problem import Oracle
from orthobench.errors import UsageError
from orthobench.harness.suite import Suite
from orthobench.registry.suite_file import from_table

TABLE = {
    "seeds": 5,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace", "n": [6, 8]}],
    "solver": [{"name": "power", "step": {"tune": [0.5, 1.0]}}],
}


def test_rest_of_a_trial_has_the_positions_of_a_full_plan(toys):
    whole = replace(from_table(TABLE, "toys", toys.registry), tuning_seeds=())
    positions = {p.key: p.position for p in whole.cells()}
    suite = replace(whole, tuning_seeds=whole.seeds[:2])
    for trial in suite.cells():
        rest = suite.rest(trial)
        assert [p.seed for p in rest] == [*whole.seeds[2:]]
        assert {p.key: p.position for p in rest}.items() <= positions.items()


def test_trials_run_on_their_seeds_and_a_solver_with_one_on_all(toys):
    table = {**TABLE, "solver": [*TABLE["solver"], {"name": "power", "label": "one"}]}
    suite = replace(from_table(table, "toys", toys.registry), tuning_seeds=(0, 1))
    runs = Counter((cell.solver_label, cell.solver.step_size) for cell in suite.cells())
    # two problems, and two seeds or five
    assert sorted(runs.values()) == [4, 4, 10]
    assert [runs[key] for key in runs if key[0] == "one"] == [10]


def test_a_solver_has_16_trials_at_most_where_the_suite_does_not_say(toys):
    def suite(trials):
        steps = [0.5 + i / 100 for i in range(trials)]
        solver = {"name": "power", "step": {"tune": steps}}
        return from_table({**TABLE, "solver": [solver]}, "toys", toys.registry)

    assert len(suite(16).solvers) == 16
    plain = Suite("toys", (), (), (0,))
    assert (plain.threads, plain.trials, plain.score) == (1, 16, "end")
    with pytest.raises(UsageError, match="17 trials, but tuning allows each solver 16"):
        suite(17)


def test_solver_without_a_problem_is_planned_for_each(toys):
    class Alien(Oracle):
        pass

    class Astray(toys.Solver):
        needs = Alien

    suite = from_table(TABLE, "toys", toys.registry)
    (first, *_) = suite.solvers
    solver = replace(first, solver=Astray(), label="astray")
    plan = replace(suite, solvers=(*suite.solvers, solver)).cells()
    planned = {(p.problem.n, p.seed) for p in plan if p.solver == solver.solver}
    assert planned == {(n, seed) for n in (6, 8) for seed in suite.seeds}
