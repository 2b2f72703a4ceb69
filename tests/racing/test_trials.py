"""What stored runs say in a race: their trials, which of them go on, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
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
from orthobench.harness.stopping import Budget, RunStatus, Target
from orthobench.harness.trace import Checkpoint
from orthobench.racing import grid
from orthobench.racing.entrants import Entry, entrants
from orthobench.racing.grid import Point, grids, points
from orthobench.racing.race import stored
from orthobench.racing.scheduler import RaceScheduler
from orthobench.racing.standing import Rules, measured, trial_of
from orthobench.registry.suite_file import from_table
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
    assert (trial.configuration, trial.seed, trial.cap, trial.start) == ("s", 4, 9.0, 1.0)
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


@pytest.mark.parametrize("status", [RunStatus.TIMEOUT, RunStatus.CRASHED])
def test_a_run_without_a_checkpoint_has_no_values(status: RunStatus) -> None:
    trial = trial_of(ran(status, trace=()), "seconds")
    assert (len(trial.values), len(trial.seconds), len(trial.spent)) == (0, 0, 0)
    assert (trial.ended, trial.failed) == (False, "" if status is RunStatus.TIMEOUT else "why")


@pytest.mark.parametrize(("density", "inside"), [(0.3, True), (0.2, True), (0.31, False)])
def test_what_ends_at_a_level_keeps_it(density: float, inside: bool) -> None:
    level = Target("density", 0.3)
    trial = trial_of(ran(density=density, levels=(level, Target("density", 0.0))), "seconds")
    assert trial.values.tolist() == ([*GAPS] if inside else 3 * [math.inf])
    assert trial.start == 1.0


@pytest.mark.parametrize(
    ("metrics", "metric"),
    [({"gap": 1, "val": 1}, "gap"), ({"val": 1}, "val"), ({"other": 1}, "gap"), (None, "gap")],
)
def test_a_race_is_about_the_primary_metric_or_the_other_one_that_is_known(
    metrics: dict[str, float] | None, metric: str
) -> None:
    trace = () if metrics is None else (Checkpoint(0.0, 0.0, Work(), metrics),)
    assert measured(ran(trace=trace)) == metric


@pytest.fixture
def suite(toys: SimpleNamespace) -> ob.harness.suite.Suite:
    table = {"seeds": 2, "problem": "leading-subspace", "solver": ["power", "power step=0.5"]}
    return from_table({**table, "budget": {"steps": 3}}, "toys", toys.registry)


def test_runs_that_would_be_the_same_today_go_on_and_others_are_counted(
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
    point = Point(Entry(suite, {}), tmp_path / "s.sqlite")
    assert not point.is_done
    cells = suite.cells()[:1]
    with Store(point.store, write=True) as store:
        session = store.begin(suite, cells, "", {})
        store.add(session, [(cells[0], execute(cells[0]))])
    assert not point.is_done
    with Store(point.store, write=True) as store:
        store.end(session)
    assert point.is_done


@pytest.fixture
def measured_points(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that measures three points, of which some are done, for 10 s each."""

    def call(within: float, done: str = "", broken: str = "") -> tuple[int, list[Any], list[str]]:
        now, asked, said = [50.0], [], list[str]()

        def run(entry: Any, rules: Rules, store: str) -> Any:
            now[0] += 10.0
            asked.append((entry.name, rules, store))
            return SimpleNamespace(
                problem=entry.name, sentence="Use a.", interrupted=entry.name == broken
            )

        monkeypatch.setattr(grid, "run", run)
        monkeypatch.setattr(grid, "time", SimpleNamespace(monotonic=lambda: now[0]))
        some: list[Any] = [
            SimpleNamespace(
                entry=SimpleNamespace(name=name, order={"a": "a"}), store=f"{name}.sqlite",
                is_done=name in done,
            )
            for name in "pqr"
        ]  # fmt: skip
        return grid.measure(some, within, 4.0, said.append), asked, said

    return call


@pytest.mark.parametrize(
    ("within", "done", "ran", "left"),
    [(100.0, "q", "pr", 0), (15.0, "", "pq", 1), (0.0, "", "", 3)],
)  # fmt: skip
def test_no_race_of_a_map_begins_when_the_time_is_over(
    measured_points: Any, within: float, done: str, ran: str, left: int
) -> None:
    found, asked, said = measured_points(within, done)
    assert found == left
    assert [(name, store) for name, _, store in asked] == [(name, f"{name}.sqlite") for name in ran]
    number = 3 - len(done)
    assert said == [
        f"{name}: Use a. {number - i} point{'s' * (number - i != 1)} left"
        for i, name in enumerate(ran, 1)
    ]


def test_a_race_of_a_map_that_was_broken_off_is_left(measured_points: Any) -> None:
    left, asked, _ = measured_points(100.0, broken="q")
    assert (left, [name for name, *_ in asked]) == (2, ["p", "q"])


def test_parts_of_the_map_are_named_by_themselves_or_their_family(tmp_path: Path) -> None:
    part = next(iter(grids()))
    some = points([part], tmp_path)
    assert some
    assert {point.store.parent for point in some} == {tmp_path / part}
    assert len({point.store for point in some}) == len(some)
    family = some[0].entry.suite.problems[0].problem.family
    assert {point.store for point in some} <= {p.store for p in points([family], tmp_path)}
    with pytest.raises(UsageError, match="part of the map"):
        points([f"{part}x"], tmp_path)


def test_a_default_and_the_points_of_its_grid_race_under_labels_of_their_own(
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


def test_a_race_is_called_by_its_problem_and_what_it_measures() -> None:
    names = {
        (text, cost): ob.racing.entrants.entry(text, cost, ["oja"]).suite.name
        for text in ("digits", "digits k=2") for cost in ("seconds", "samples", "memory")
    }  # fmt: skip
    assert all(name.startswith("race-digits-") for name in names.values())
    assert names["digits", "seconds"] == names["digits", "samples"]
    assert names["digits", "memory"] == f"{names['digits', 'seconds']}-memory"
    assert len({*names.values()}) == 4


def test_the_first_level_of_each_metric_is_that_of_the_race(
    toys: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toys.Problem, "at", {"density": (0.2, 0.1)})
    table = {"problem": "leading-subspace", "solver": "power", "budget": {"steps": 3}}
    asked = from_table(table, "toys", toys.registry)
    assert entrants(asked, asked.problems[0]).suite.problems[0].levels == (Target("density", 0.2),)


@pytest.fixture
def race(suite: ob.harness.suite.Suite) -> Callable[..., RaceScheduler]:
    """A function that makes a race of 100 s that began 30 s ago, of loaded solvers."""

    def made(cost: str = "seconds", now: float = 130.0, workers: int = 1) -> RaceScheduler:
        rules = Rules({"power": "power", "power step=0.5": "power"}, 100.0)
        tell: Any = lambda *_: None  # noqa: E731
        found = RaceScheduler(suite, rules, cost, [], workers, 100.0, lambda: now, tell)
        found._loaded.add(type(suite.solvers[0].solver).__module__)
        return found

    return made


def test_time_is_kept_for_the_end_and_for_timing_if_time_counts(race: Any) -> None:
    assert (race().elapsed, race().left) == (30.0, 48.5)
    assert race("flops").left == 64.5


def test_a_run_has_time_to_load_once_and_to_begin_if_nothing_is_held(
    race: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = race()
    cell = one.take()
    held = cell.problem, cell.seed
    assert one._slack(cell, held) == 60.0
    for overheads, slack, first in (
        ([4.0], 12.0, 15.0), ([4.0, 0.5], 2.0, 15.0), ([8.0, 0.5], 2.0, 16.0),
        ([9.0, 1.0, 3.0, 2.0], 6.0, 18.0),
    ):  # fmt: skip
        one._overheads = overheads
        assert one._slack(cell, held) == slack  # the first run says little about others
        assert one._slack(cell, None) == one._slack(cell, (cell.problem, 7)) == slack + first
    one._overheads = [1.0]
    monkeypatch.setattr(type(cell.solver), "packages", ("numpy",))
    assert [one._slack(cell, held) for _ in range(2)] == [3.0 + 15.0, 3.0]
    one._loaded.clear()
    assert [one._slack(cell, held) for _ in range(2)] == [3.0 + 15.0, 3.0]


def test_workers_get_what_the_rule_asks_for_until_the_time_is_over(race: Any) -> None:
    one = race(workers=3)
    cells = [one.take() for _ in range(3)]
    assert [cell and cell.solver_label for cell in cells] == ["power", "power step=0.5", None]
    assert [cell.budget for cell in cells[:2]] == 2 * [Budget(seconds=10.0)]
    assert [cell.timeout for cell in cells[:2]] == 2 * [one.left]
    assert race(now=195.0).take() is None
