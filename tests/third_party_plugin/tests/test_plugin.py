"""The plugin keeps to the contract of orthobench, which finds it where it is installed."""

import orthobench as ob
from orthobench.registry.suite_file import load
from orthobench.testing import check_problem, check_solver

from orthobench_minibatch_oja.problem import PowerLaw
from orthobench_minibatch_oja.solver import MinibatchOja

NAME = "minibatch-oja"


def test_the_solver_keeps_the_contract() -> None:
    check_solver(MinibatchOja())


def test_the_problem_keeps_the_contract() -> None:
    check_problem(PowerLaw())


def test_orthobench_finds_what_the_plugin_brings() -> None:
    installed = ob.catalogue()
    assert NAME not in installed.broken, installed.broken[NAME]
    assert installed.solvers[NAME].item is MinibatchOja
    assert installed.problems[f"{NAME}-power-law"].item is PowerLaw


def test_the_suite_can_be_run() -> None:
    suite = load(ob.catalogue().suite(f"{NAME}-comparison"), ob.catalogue())
    assert {planned.solver.name for planned in suite.solvers} == {NAME, "oja", "incremental-pca"}
    for planned in suite.solvers:
        assert all(planned.solver.refuses(p.problem) is None for p in suite.problems)
