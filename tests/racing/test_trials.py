"""Stored runs in a race: their trials, and which of them go on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from records import record

import orthobench as ob
from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.cell import execute
from orthobench.harness.executors import Executor
from orthobench.harness.stopping import Budget, RunStatus, Target
from orthobench.harness.trace import Checkpoint
from orthobench.racing import grid
from orthobench.racing.entrants import Entrants, entrants
from orthobench.racing.grid import Point, grids, points
from orthobench.racing.race import stored
from orthobench.racing.standing import Rules, trial_of
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table, load
from orthobench.results.runs import Run
from orthobench.results.store import Store

GAPS = (1.0, 0.5, 0.25)


def ran(status: RunStatus = RunStatus.DONE, density: float = 0.3, **values: Any) -> Run:
    trace = [
        Checkpoint(
            float(i), 0.125, Work(i, 10 * i, 100 * i),
            {"gap": gap, "val": 2 * gap, "density": density, "constraint_violation": 0.0},
        )
        for i, gap in enumerate(GAPS)
    ]  # fmt: skip
    values = {"budget": {"seconds": 9.0}, "solver": "s", "seed": 4, "trace": trace, **values}
    return record("key", status=status, reason="why", **values)


def test_a_run_says_its_values_seconds_and_cost() -> None:
    trial = trial_of(ran(), "samples")
    assert (trial.configuration, trial.seed, trial.cap) == ("s", 4, 9.0)
    assert trial.curve is not None
    assert trial.curve.start == 1.0
    assert trial.values.tolist() == [1.0, 0.5, 0.25]
    assert trial.seconds.tolist() == [0.125, 1.125, 2.125]
    assert trial.spent.tolist() == [1.0, 10.0, 20.0]
    assert trial_of(ran(budget={}), "samples").cap == math.inf


def test_a_run_has_ended_failed_or_may_go_on_by_its_status() -> None:
    for status in RunStatus:
        trial = trial_of(ran(status), "seconds")
        assert trial.ended is (status in (RunStatus.DONE, RunStatus.NOT_STATIONARY)), status
        late = status in (RunStatus.TIMEOUT, RunStatus.NOTHING_DONE)
        assert len(trial.values) == (3 if status.ok or late else 0), status
        assert trial.failed == ("" if status.ok or late else "why"), status


@pytest.mark.parametrize(("density", "inside"), [(0.3, True), (0.2, True), (0.31, False)])
def test_runs_that_end_at_a_level_keep_it(density: float, inside: bool) -> None:
    level = Target("density", 0.3)
    trial = trial_of(ran(density=density, levels=(level, Target("density", 0.0))), "seconds")
    assert trial.values.tolist() == ([*GAPS] if inside else 3 * [math.inf])
    assert trial.curve is not None
    assert trial.curve.start == 1.0


@pytest.fixture
def suite(toys: SimpleNamespace) -> ob.harness.suite.Suite:
    table = {"seeds": 2, "problem": "leading-subspace", "solver": ["power", "power step=0.5"]}
    return from_table({**table, "budget": {"steps": 3}}, "toys", toys.registry)


def test_stored_runs_of_other_code_are_only_counted(
    suite: ob.harness.suite.Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    assert stored(suite, path) == ([], 0)
    assert not path.exists()
    cells = [replace(cell, budget=Budget(seconds=0.01)) for cell in suite.cells()[:3]]
    with Store(path, write=True) as store:
        session = store.begin(suite, cells, "", {})
        store.add(session, [(cell, execute(cell)) for cell in cells[:2]])
    found, stale = stored(suite, path)
    assert [(cell.key, run.key) for cell, run in found] == [(c.key, c.key) for c in cells[:2]]
    assert [cell.budget for cell, _ in found] == 2 * [Budget(seconds=0.01)]
    assert stale == 0
    one = replace(suite, solvers=suite.solvers[:1])
    assert [cell.key for cell, _ in stored(one, path)[0]] == [cells[0].key]
    assert stored(one, path)[1] == 1
    monkeypatch.setattr("orthobench.harness.cell.digests", lambda *_: {"changed": "1"})
    assert stored(suite, path) == ([], 2)


def test_a_point_of_a_map_is_done_when_its_race_came_to_an_end(
    suite: ob.harness.suite.Suite, tmp_path: Path
) -> None:
    point = Point(Entrants(suite, {}), tmp_path / "s.sqlite")
    assert not point.is_done
    cells = suite.cells()[:1]
    with Store(point.store, write=True) as store:
        session = store.begin(suite, cells, "", {})
        store.add(session, [(cells[0], execute(cells[0]))])
    assert not point.is_done
    with Store(point.store, write=True) as store:
        store.end(session)
    assert point.is_done


def test_the_map_runs_short_points_first_and_skips_absent_data(
    suite: ob.harness.suite.Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, said = list[float](), list[str]()

    def race(one: Entrants, rules: Rules, store: Path, executor: Executor) -> SimpleNamespace:
        assert executor.at_once == 1
        order.append(rules.total)
        if rules.total == 70.0:
            raise ob.DataError("no such file")
        return SimpleNamespace(problem="p", sentence="Use it.", interrupted=False)

    monkeypatch.setattr(grid, "run", race)
    own = Entrants(suite, {})
    some = [Point(own, tmp_path / f"{total}.sqlite", total) for total in (90.0, 70.0, 20.0)]
    assert grid.measure(some, 60.0, said.append) == 0
    assert order == [20.0, 70.0, 90.0]
    assert "skipped: no such file" in said[1]


def test_points_take_the_time_of_their_own_budget(tmp_path: Path) -> None:
    text = "[budget]\nseconds = 10.0\n[[problem]]\nname = 'digits'\n"
    longer = "[[problem]]\nname = 'digits'\nk = 8\nbudget = { seconds = 100.0 }\n"
    file = tmp_path / "map-own.toml"
    file.write_text(text + longer)
    small = load(file, catalogue())
    assert [grid.race_seconds(problem) for problem in small.problems] == [60.0, 600.0]


def test_parts_of_the_map_are_named_by_themselves_or_their_family(tmp_path: Path) -> None:
    part = next(iter(grids()))
    some = points([part], tmp_path)
    assert some
    assert {point.store.parent for point in some} == {tmp_path / part}
    assert len({point.store for point in some}) == len(some)
    family = some[0].entrants.suite.problems[0].problem.family
    assert {point.store for point in some} <= {p.store for p in points([family], tmp_path)}
    with pytest.raises(UsageError, match="part of the map"):
        points([f"{part}x"], tmp_path)


def test_defaults_and_grid_points_have_their_own_labels(
    toys: SimpleNamespace,
) -> None:
    table = {
        "problem": "leading-subspace",
        "solver": [{"name": "power", "step": {"tune": [0.5, 1.0, 2.0]}}],
        "budget": {"steps": 3},
    }
    asked = from_table(table, "toys", toys.registry)
    found = entrants(asked, asked.problems[0])
    assert found.order == {"power": "power", "power step=0.5": "power", "power step=2": "power"}
    assert [s.solver.step_size for s in found.suite.solvers] == [1.0, 0.5, 2.0]
    assert all(s.tuned == {} for s in found.suite.solvers)
    assert found.suite.problems[0].budget == Budget()
    assert found.missing == {}


def test_the_first_level_of_each_metric_is_that_of_the_race(
    toys: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toys.Problem, "at", {"density": (0.2, 0.1)})
    table = {"problem": "leading-subspace", "solver": "power", "budget": {"steps": 3}}
    asked = from_table(table, "toys", toys.registry)
    assert entrants(asked, asked.problems[0]).suite.problems[0].levels == (Target("density", 0.2),)
