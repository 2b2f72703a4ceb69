"""The plugin keeps to the contract of orthobench, and its method gets better."""

from collections.abc import Callable

import orthobench as ob
import pytest
from orthobench.registry.suite_file import load

from orthobench_minibatch_oja.solver import MinibatchOja


@pytest.mark.conformance("minibatch-oja")
def test_it_keeps_the_contract(conformance: Callable[[], None]) -> None:
    conformance()


def test_its_suite_can_be_run_and_the_method_gets_better_there() -> None:
    installed, solver = ob.catalogue(), MinibatchOja()
    suite = load(installed.suite(f"{solver.name}-comparison"), installed)
    for planned in suite.problems:
        outcome = ob.solve(solver, planned.problem, budget=planned.budget)
        first, *_, last = (each.metrics[planned.problem.primary] for each in outcome.trace)
        assert last < first
