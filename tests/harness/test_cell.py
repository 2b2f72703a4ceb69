"""Cells: what makes two of them the same, and what becomes of one."""

from dataclasses import replace

import numpy as np
import pytest

from orthobench.contract import Solution
from orthobench.harness import cell as module
from orthobench.harness.cell import Cell, built, execute, instance_of
from orthobench.harness.stopping import Budget, RunStatus, Target, Termination


@pytest.fixture
def cell(toys):
    return Cell(
        toys.Problem(), toys.Solver(), 3, Budget(steps=4), problem_label="p", solver_label="s",
        tuned={"step": 1.0, "k": 2},
    )  # fmt: skip


def test_a_cell_is_called_by_its_labels_tuned_values_and_seed(cell):
    assert cell.label == "s step=1.0 k=2 on p, seed 3"
    assert replace(cell, tuned={}).label == "s on p, seed 3"
    assert cell.position == 0


def test_key_changes_with_all_that_the_result_depends_on(cell, toys):
    changes = [
        {"problem": toys.Problem(n=7)}, {"problem": toys.Pictured()},
        {"solver": toys.Solver(step_size=0.5)}, {"seed": 4}, {"budget": Budget(steps=5)},
        {"budget": Budget(flops=4)}, {"until": Target("gap", 0.5)}, {"until": Target("gap", 0.25)},
        {"threads": 2}, {"versions": (("toys", "1"),)}, {"data": "digest"}, {"measure": "memory"},
    ]  # fmt: skip
    keys = [replace(cell, **change).key for change in changes]
    assert len({cell.key, *keys}) == 1 + len(changes)
    same = {
        "problem_label": "q", "solver_label": "t", "tuned": {}, "position": 9,
        "levels": (Target("gap", 1.0),),
    }  # fmt: skip
    assert {replace(cell, **{name: value}).key for name, value in same.items()} == {cell.key}
    assert replace(cell, **same) == cell


def test_the_content_of_a_cell_is_what_its_key_is_of(cell):
    content = cell.content
    assert (content["seed"], content["threads"], content["data"]) == (3, 1, "")
    assert content["budget"] == {"steps": 4}
    assert content["until"] is None
    assert not {"measure", "reruns", "place"} & {*content}
    until = replace(cell, until=Target("gap", 0.5), measure="memory").content
    assert until["until"] == {"metric": "gap", "value": 0.5}
    assert until["measure"] == "memory"


def test_a_solver_that_runs_anew_says_so(cell, toys, monkeypatch):
    module._settings.cache_clear()
    monkeypatch.setattr(toys.Solver, "reruns", True)
    assert replace(cell, seed=5).content["reruns"] is True
    module._settings.cache_clear()


def test_cells_on_the_same_data_share_an_instance(cell, toys):
    first = built(cell)
    assert built(replace(cell, solver=toys.Solver(step_size=0.5))) is first
    assert built(replace(cell, seed=4)) is not first
    assert built(replace(cell, data="changed")) is not first


def test_an_instance_is_the_same_for_the_same_seed(toys):
    seen = Solution(np.eye(6)[:, :2])
    truths = [
        instance_of(toys.Pictured(), seed).exhibits(seen)["truth"].values for seed in (0, 0, 1)
    ]
    assert np.array_equal(truths[0], truths[1])
    assert not np.array_equal(truths[0], truths[2])


def test_refused_problem_is_not_built(cell, toys, monkeypatch):
    monkeypatch.setattr(toys.Solver, "refuses", lambda self, problem: f"no {problem.name}")
    monkeypatch.setattr(module, "built", None)
    assert execute(cell).stop == Termination(RunStatus.REFUSED, "no leading-subspace")


def test_a_problem_that_cannot_be_built_is_said_to_be_the_fault(cell, monkeypatch):
    def fail(cell):
        raise ZeroDivisionError("toy")

    monkeypatch.setattr(module, "built", fail)
    stop = execute(cell).stop
    assert (stop.status, stop.reason.partition(" (test_cell.py, line")[0]) == (
        RunStatus.ERROR, "problem leading-subspace: ZeroDivisionError('toy')"
    )  # fmt: skip


def test_a_cell_runs_to_its_budget_or_its_target(cell):
    outcome = execute(cell)
    assert (outcome.stop.status, outcome.trace[-1].work.steps) == (RunStatus.BUDGET, 4)
    assert outcome.final is None
    met = execute(replace(cell, until=Target("gap", 1e9)))
    assert (met.stop.status, met.trace[-1].work.steps) == (RunStatus.TARGET, 0)
