"""Faults of a suite are refused before anything runs or is written."""

from dataclasses import replace

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import Oracle
from orthobench.harness.cell import Cell
from orthobench.harness.stopping import RunStatus
from orthobench.harness.suite import Suite, SuiteProblem, SuiteSolver
from orthobench.registry.preflight import check_cells, check_instance


def suite(*solvers, problem=None, **tables):
    return {
        "seeds": 2,
        "budget": {"samples": 50},
        "problem": [problem or {"name": "digits", "k": 2}],
        "solver": list(solvers) or [{"name": "oja"}],
        **tables,
    }


def target(metric):
    return {"metric": metric, "value": 1e-3}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            suite(target=target("suboptimalty")),
            r"metric of digits k=2 as the target: 'suboptimalty'; did you mean 'suboptimality'",
        ),
        (
            suite(levels={"densty": [0.1]}),
            r"metric of digits k=2 to compare at: 'densty'; .*suboptimality",
        ),
        (
            suite(
                problem={"name": "digits", "k": 2, "levels": {"rnk": [3]}}, target=target("rank")
            ),
            r"to compare at: 'rnk'; did you mean 'rank'",
        ),
    ],
)
def test_a_metric_that_no_judge_reports_is_refused(tmp_path, table, said):
    with pytest.raises(ob.UsageError, match=said):
        ob.run(table, tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("metric", ["rank", "relaxed_suboptimality", "constraint_violation"])
def test_a_metric_of_some_solutions_only_can_be_asked_for(tmp_path, metric):
    asked = suite({"name": "msg"}, target={"metric": metric, "value": 1e9})
    results = ob.run(asked, tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert not results.failures
    for record in results.records:
        assert record.stop.status.value == "target"
        assert metric in record.trace[-1].metrics


def test_tuning_without_validation_data_is_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).standard_normal((200, 5)))
    problem = {
        "name": "npy-stochastic-pca",
        "path": str(tmp_path / "X.npy"),
        "k": 2,
        "validation": 0,
    }
    one = suite({"name": "oja", "step": {"tune": [1]}}, problem=problem)
    assert not ob.run(one, tmp_path / "one.sqlite", executor="inline", quiet=True).failures
    two = suite({"name": "oja", "step": {"tune": [1, 2]}}, problem=problem)
    with pytest.raises(ob.UsageError, match=r"oja cannot be tuned on .*give the problem a valid"):
        ob.run(two, tmp_path / "two.sqlite", executor="inline", quiet=True)
    assert not (tmp_path / "two.sqlite").exists()
    # one trial is stored already: the other one alone could run
    with pytest.raises(ob.UsageError, match="cannot be tuned"):
        ob.run(two, tmp_path / "one.sqlite", executor="inline", quiet=True)


def test_a_solver_that_no_budget_ends_gets_seconds(tmp_path, toys, monkeypatch):
    monkeypatch.setattr("orthobench.harness.stopping.DEFAULT_SECONDS", 0.05)
    problem = SuiteProblem(toys.Problem(), "toy", ob.Budget(samples=10), ("toys", "1"))
    solver = SuiteSolver(toys.Solver(), "power", {}, ("toys", "1"))
    suite_of_one = Suite("toys", (problem,), (solver,), (0,))
    results = ob.run(suite_of_one, tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert results.records[0].stop.status is RunStatus.BUDGET
    assert results.records[0].budget == {"samples": 10, "seconds": 0.05}
    (cell,) = replace(suite_of_one, target=ob.Target("gap", 0.0)).cells()
    assert cell.budget == problem.budget
    with pytest.raises(ob.UsageError, match=r"nothing limits this run.*Budget\(steps=1000\)"):
        ob.solve(toys.Solver(), toys.Problem(), ob.Budget(samples=10))
    budgets = (ob.Budget(steps=3), ob.Budget(flops=1e3), ob.Budget(seconds=1e-3))
    assert all(budget.binds(0) for budget in budgets)
    assert ob.Budget(samples=3).binds(1)
    assert not ob.Budget(samples=3).binds(0)


def test_a_missing_default_library_concerns_its_solver_alone(tmp_path, monkeypatch):
    def missing(place):
        return "there is no torch" if place.library == "torch" else None

    monkeypatch.setattr("orthobench.tools.places.Place.missing", missing)
    monkeypatch.setattr("orthobench_kit.peer.Peer.missing_packages", lambda solver: None)
    run = {"executor": "inline", "quiet": True}
    results = ob.run(suite({"name": "oja"}, {"name": "torch-eigh"}), tmp_path / "s.sqlite", **run)
    assert [r.stop.reason for r in results.refused] == ["there is no torch"] * 2
    assert results.failures == []
    named = suite({"name": "oja"}, {"name": "torch-eigh", "on": "torch:cpu/float32"})
    with pytest.raises(ob.UsageError, match="computed on torch:cpu/float32: there is no torch"):
        ob.run(named, tmp_path / "t.sqlite", **run)


def test_an_instance_of_another_kind_a_place_and_packages_are_refused(toys, monkeypatch):
    instance = toys.Problem().build(None)
    check_instance(toys.Solver(), instance)
    foreign = replace(instance, oracle=Oracle.__new__(type("Foreign", (Oracle,), {})))
    with pytest.raises(ob.UsageError, match="power needs a MatrixOracle, the instance offers For"):
        check_instance(toys.Solver(), foreign)
    monkeypatch.setattr(toys.Solver, "packages", ("no-such-package",))
    with pytest.raises(ob.UsageError, match="solver power: needs no-such-package"):
        check_instance(toys.Solver(), instance)
    monkeypatch.setattr(type(toys.Solver.place), "missing", lambda place: "it is gone")
    with pytest.raises(ob.UsageError, match="power cannot compute on numpy: it is gone"):
        check_instance(toys.Solver(), instance)


def test_a_suite_without_a_possible_cell_is_refused(toys, monkeypatch):
    cell = Cell(toys.Problem(), toys.Solver(), 0, ob.Budget(steps=3))
    cells = [replace(cell, seed=seed) for seed in range(3)]
    check_cells(cells)
    monkeypatch.setattr(toys.Solver, "refuses", lambda self, problem: "too large")
    with pytest.raises(ob.UsageError) as caught:
        check_cells(cells)
    assert str(caught.value) == (
        "no solver can take these problems (power on leading-subspace: too large)"
    )


def test_a_measure_that_is_impossible_is_refused(toys, monkeypatch):
    cell = Cell(toys.Problem(), toys.Solver(), 0, ob.Budget(steps=3), measure="memory")
    monkeypatch.setattr("orthobench.registry.preflight.Peak.missing", lambda place: None)
    check_cells([cell])
    monkeypatch.setattr("orthobench.registry.preflight.Peak.missing", lambda place: "no counter")
    with pytest.raises(ob.UsageError, match=r"the memory of runs on numpy cannot be .* no counter"):
        check_cells([cell])
    check_cells([replace(cell, measure="")])
    blocks = ob.catalogue().solver("batch-pca", {"on": "blocks"})
    monkeypatch.setattr("orthobench.registry.preflight.Peak.missing", lambda place: None)
    with pytest.raises(ob.UsageError, match="their workers report memory in any case"):
        check_cells([replace(cell, solver=blocks)])
