"""The plan of a suite: which cells there are, and where in its order."""

from dataclasses import replace

from orthobench.contract.problem import Oracle
from orthobench.registry.suite_file import from_table

TABLE = {
    "seeds": 5,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace", "n": [6, 8]}],
    "solver": [{"name": "power", "step": {"tune": [0.5, 1.0]}}],
}


def test_the_rest_of_a_trial_is_where_a_plan_without_tuning_seeds_has_it(toys):
    whole = replace(from_table(TABLE, "toys", toys.registry), tuning_seeds=())
    positions = {p.key: p.position for p in whole.cells()}
    suite = replace(whole, tuning_seeds=whole.seeds[:2])
    for trial in suite.cells():
        rest = suite.rest(trial)
        assert [p.seed for p in rest] == [*whole.seeds[2:]]
        assert {p.key: p.position for p in rest}.items() <= positions.items()


def test_a_solver_that_can_take_no_problem_is_planned_for_each_which_refuses_it(toys):
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
