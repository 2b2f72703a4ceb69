"""What asv tracks: every solver that is installed, with no line for any of them."""

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import orthobench as ob
from orthobench.contract import hookimpl
from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Problem
from orthobench.harness.cell import Cell, execute
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import Plugin, Registry
from orthobench.tools.environment import version

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def cases(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    from history.cases import cases

    return cases


def registry_of(solvers, problems):
    class Brings:
        @hookimpl
        def orthobench_solvers(self):
            return solvers

        @hookimpl
        def orthobench_problems(self):
            return problems

    registry = Registry()
    registry.add(Brings(), Plugin("third-party"))
    return registry


def packages(solver):
    own = solver.packages
    return own if isinstance(own, tuple) else solver().packages  # a property of parameters


def test_every_built_in_solver_is_tracked_on_a_problem_that_it_takes(cases):
    catalogue = ob.catalogue()
    found = cases(catalogue)
    own = {
        name
        for name, provided in catalogue.solvers.items()
        if provided.plugin.distribution == "orthobench"
        and all(map(version, packages(provided.item)))
    }
    assert own <= {case.solver.name for case in found.values()}
    assert all(case.solver.refuses(case.problem) is None for case in found.values())
    names = {re.sub(r"\W+", "_", name) for name in found}
    assert len(names) == len(found)
    assert all(name.isidentifier() for name in names)


def test_no_case_refers_to_files(cases):
    assert {case.problem.checksum() for case in cases(ob.catalogue()).values()} == {""}


def test_a_new_plugin_is_tracked_and_runs(cases, toys):
    (case,) = cases(registry_of([toys.Solver], [toys.Problem])).values()
    assert case.name == "power on leading-subspace"
    assert not execute(Cell(case.problem, case.solver, 0, Budget(steps=2))).stop.status.failed


def test_a_required_parameter_takes_the_first_of_its_grid_or_the_solver_is_left_out(cases, toys):
    @dataclass(frozen=True)
    class Tuned(toys.Solver):
        name = "tuned"
        step_size: float = parameter(help="step size", grid=(0.5, 1.0))

        def refuses(self, problem):
            return None if self.step_size == 0.5 else "not the first"

    @dataclass(frozen=True)
    class Untunable(toys.Solver):
        name = "untunable"
        step_size: float = parameter(help="step size")

    assert list(cases(registry_of([Tuned, Untunable], [toys.Problem]))) == [
        "tuned on leading-subspace"
    ]


def test_a_solver_of_odd_needs_gets_a_problem_with_changed_sizes(cases, toys):
    @dataclass(frozen=True)
    class Square(toys.Solver):
        name = "square"

        def refuses(self, problem):
            return None if problem.n == problem.k else "not square"

    found = cases(registry_of([Square], [toys.Problem])).values()
    assert [case.problem.n == case.problem.k for case in found] == [True]


def test_what_is_tracked_is_read_off_the_trace(cases, toys, monkeypatch):
    from history import solvers

    (case,) = cases(registry_of([toys.Solver], [toys.Problem])).values()
    tracked = type("Toy", (solvers._Tracked,), {"case": case})()
    monkeypatch.setattr(solvers, "BUDGET", Budget(steps=40))
    at_target, finals = [], []
    for seed in solvers.SEEDS:
        trace = execute(Cell(case.problem, case.solver, seed, Budget(steps=40))).trace
        gaps = [mark.metrics["gap"] for mark in trace]
        pairs = zip(trace, gaps, strict=True)
        at_target.append(next(mark.work.flops for mark, gap in pairs if gap <= 0.05 * gaps[0]))
        finals.append(gaps[-1])
    assert tracked.track_flops_to_target() == sorted(at_target)[1] > 100
    assert tracked.track_final_metric() == pytest.approx(sorted(finals)[1], abs=1e-9)
    monkeypatch.setattr(solvers, "BUDGET", Budget(steps=1))
    assert math.isnan(tracked.track_flops_to_target())
    tracked.setup()
    begin = tracked.timer()
    tracked.time_run()
    assert tracked.timer() > begin


def test_problems_with_data_are_left_out(cases, toys):
    class Filed(toys.Problem):
        name = "filed"
        checksum = lambda self: "abc"  # noqa: E731

    assert Filed.checksum is not Problem.checksum
    assert cases(registry_of([toys.Solver], [Filed])) == {}
