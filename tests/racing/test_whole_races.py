"""Whole races of made-up runs: cells, store, texts and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest

import orthobench as ob
from orthobench.contract.solver import Work
from orthobench.errors import DataError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Event, Executor
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.racing import race as module
from orthobench.racing import scheduler
from orthobench.racing.entrants import Entrants, entrants
from orthobench.racing.standing import Rules
from orthobench.registry.suite_file import from_table
from orthobench.results.store import Store
from orthobench.stats.calls import Stop

Script: TypeAlias = Callable[[Cell], Outcome]

COSTS = {"power": 1.0, "power step=0.5": 2.0, "slower": 1.5}
"""Seconds to the best value, which is the same on all seeds, so that two are enough."""


def outcome(
    cell: Cell, status: RunStatus = RunStatus.DONE, curve: dict[float, float] | None = None
) -> Outcome:
    values = curve or {0.0: 1.0, COSTS[cell.solver_label]: 1e-3}
    marks = [
        Checkpoint(seconds, 0.0, Work(i, 0, 1000 * i), {"gap": gap, "constraint_violation": 0.0})
        for i, (seconds, gap) in enumerate(values.items())
    ]
    return Outcome(Termination(status, "why"), tuple(marks))


@dataclass
class Track:
    """An executor of races, one run at a time, which notes all cells and texts."""

    entrants: Entrants
    path: Path
    script: Script = outcome
    now: float = 100.0
    each: float = 1.0
    at_once: int = 1

    def __post_init__(self) -> None:
        self.begun: list[Cell] = []
        self.told: list[tuple[str, bool]] = []

    def facts(self) -> dict[str, Any]:
        return Executor(workers=self.at_once).facts()

    def run(self, cells: Any) -> Iterator[Event]:
        held = None
        while (cell := cells.take(held)) is not None and self.now < cells.deadline:
            held = cell.problem, cell.seed
            self.begun.append(cell)
            self.now += self.each
            yield Event(cell, "1")
            yield Event(cell, "1", self.script(cell))

    def race(self, total: float = 100.0, cost: str = "seconds", **rules: Any) -> module.Race:
        return module.run(
            self.entrants,
            Rules(self.entrants.order, total, cost=cost, **rules), self.path, began=100.0,
            tell=lambda *words: self.told.append(words), executor=self,
        )  # fmt: skip


MADE: list[str] = []
"""The calls that were timed."""


def time_calls(
    problem: Any, calls: Sequence[tuple[int, Any, Stop]], seconds: float
) -> Iterator[tuple[float, float]]:
    """Make no call, but say what each takes."""
    for seed, solver, _ in calls:
        MADE.append("power step=0.5" if solver.step_size == 0.5 else solver.name)
        yield COSTS[MADE[-1]] + seed, 9.0


def track_in(folder: Path, toys: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Track:
    known = toys.registry.extended()
    own = {"name": "slower", "__module__": toys.Solver.__module__}
    known.register(dataclass(frozen=True)(type("Slower", (toys.Solver,), own)))
    table = {
        "seeds": 10, "problem": "leading-subspace", "budget": {"steps": 3},
        "solver": ["power", "power step=0.5", "slower"],
    }  # fmt: skip
    asked = from_table(table, "toys", known)
    found = Track(entrants(asked, asked.problems[0]), folder / "race.sqlite")
    monkeypatch.setattr(scheduler, "time_calls", time_calls)
    monkeypatch.setattr(scheduler, "monotonic", lambda: found.now)
    MADE.clear()
    return found


@pytest.fixture
def track(toys: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Track:
    return track_in(tmp_path, toys, monkeypatch)


@dataclass
class Finished:
    """A race that is over, and what was asked and told."""

    track: Track
    race: module.Race


@pytest.fixture(scope="module")
def finished(toys: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    with pytest.MonkeyPatch.context() as monkeypatch:
        track = track_in(tmp_path_factory.mktemp("race"), toys, monkeypatch)
        return Finished(track, track.race())


def test_the_cheapest_calls_are_timed_on_each_seed_if_asked(track: Track) -> None:
    results = track.race(timed_on_all=2).results
    found = results.session()["environment"]["race"]["timed_on_all"]
    assert found == [
        [name, seed, COSTS[name] + seed]
        for seed in track.entrants.suite.seeds
        for name in ("power", "slower")
    ]


def test_a_race_names_the_cheapest_and_what_the_next_solver_costs(finished: Finished) -> None:
    found = finished.race
    assert (found.winner, found.parameters, found.decided) == ("power", {}, True)
    assert found.factor == 1.5
    assert {row["configuration"]: row["cost"] for row in found.table} == COSTS
    assert [row["configuration"] for row in found.table] == ["power", "slower", "power step=0.5"]
    assert not found.interrupted
    assert (found.problem, found.cost) == ("leading-subspace", "seconds")
    assert found.seconds == finished.track.now - 100.0
    assert found.results.path == finished.track.path
    assert not found.results.missing


def test_a_call_that_is_named_because_others_took_longer_is_timed(
    track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_long(problem: Any, calls: Sequence[Any], *_: Any) -> Iterator[tuple[float, float]]:
        return iter([(5.0, 9.0)] * len(calls))

    monkeypatch.setattr(scheduler, "cores", lambda: 0.5)  # the cheapest call alone may be named
    monkeypatch.setattr(scheduler, "time_calls", take_long)
    found = track.race()
    assert found.decided
    timed = [row for row in found.table if row["first_cost"] == 9.0]
    assert len(timed) > 1
    assert found.table[0] in timed


def test_every_run_is_stored_once_under_the_plan(finished: Finished) -> None:
    track = finished.track
    ran = [(cell.solver_label, cell.seed) for cell in track.begun]
    assert [(r.solver.label, r.seed) for r in finished.race.results.records] == sorted(
        ran, key=lambda at: (at[1], [*track.entrants.order].index(at[0]))
    )
    with Store(track.path) as store:
        session = store.session(track.entrants.suite.name)
    assert session["ended"] is not None
    assert session["environment"]["run"]["workers"] == 1


def test_finished_race_repeats_its_answer_without_runs(track: Track) -> None:
    first = track.race()
    begun, made = len(track.begun), len(MADE)
    assert made == 3
    with Store(track.path) as store:
        sessions = len(store.sessions())
    again = track.race()
    assert (len(track.begun), len(MADE)) == (begun, made)
    assert again.facts() == {**first.facts(), "seconds": again.seconds}
    with Store(track.path) as store:
        assert len(store.sessions()) == sessions


def test_more_time_is_asked_for_only_if_it_helps(track: Track) -> None:
    def script(cell: Cell) -> Outcome:
        misses = (cell.seed + (cell.solver_label == "slower")) % 2
        return outcome(cell, curve={0.0: 1.0, COSTS[cell.solver_label]: 0.3 if misses else 1e-3})

    track.script = script
    cut = track.race(10.0, seeds=5)
    assert not cut.decided
    assert "give it more time" in cut.sentence
    track.now = 100.0
    over = track.race(1000.0, seeds=5)
    assert not over.decided
    assert "more time" not in over.sentence
    begun = len(track.begun)
    assert begun == len({(cell.solver_label, cell.seed) for cell in track.begun})
    track.now = 100.0
    assert track.race(10_000.0, seeds=5).sentence == over.sentence
    assert len(track.begun) == begun


def test_order_and_seconds_of_runs_follow_from_results(track: Track) -> None:
    def script(cell: Cell) -> Outcome:
        cost = COSTS[cell.solver_label] * (4 if cell.solver_label == "slower" else 1)
        track.now += min(cost, cell.budget.seconds)
        if cell.budget.seconds < cost:
            half = {0.0: 1.0, cell.budget.seconds: 0.3}
            return outcome(cell, RunStatus.BUDGET, half)
        return outcome(cell, curve={0.0: 1.0, cost: 1e-3 + 1e-4 * cell.seed})

    track.each, track.script = 0.25, script
    track.race(60.0)
    asked = [f"{cell.solver_label}, {cell.seed}: {cell.budget.seconds:g}" for cell in track.begun]
    assert asked == [
        "power, 0: 6", "slower, 0: 4.1", "power step=0.5, 0: 4.1", "slower, 0: 6",
        *(f"{name}, {seed}: {cap:g}" for seed in range(1, 5)
          for name, cap in (("power", 2.5), ("power step=0.5", 5))),
    ]  # fmt: skip


def test_interrupted_race_gives_its_partial_answer(track: Track) -> None:
    def script(cell: Cell) -> Outcome:
        if len(track.begun) == 3:
            raise KeyboardInterrupt
        return outcome(cell)

    track.script = script
    found = track.race()
    assert (found.interrupted, found.winner, found.decided) == (True, "power", False)
    assert len(found.results.records) == 2
    with Store(track.path) as store:
        assert store.session(track.entrants.suite.name)["ended"] is None


def test_a_problem_that_cannot_be_built_ends_a_race(track: Track) -> None:
    def script(cell: Cell) -> Outcome:
        return Outcome(Termination(RunStatus.ERROR, "problem leading-subspace: no data"))

    track.script = script
    with pytest.raises(DataError, match="problem leading-subspace: no data"):
        track.race()
    assert len(track.begun) == 1


@pytest.mark.parametrize("reason", ["problem other: no data", "ZeroDivisionError: toy"])
def test_any_other_error_is_of_its_solver(track: Track, reason: str) -> None:
    def script(cell: Cell) -> Outcome:
        failing = cell.solver_label == "slower"
        return Outcome(Termination(RunStatus.ERROR, reason)) if failing else outcome(cell)

    track.script = script
    found = track.race()
    assert {drop.name: drop.why for drop in found.dropped} == {"slower": f"failed: {reason}"}
    assert found.dropped[0].when > 0
    lasting = [text[10:] for text, standing in track.told if not standing]
    assert lasting[0] == f"slower: failed: {reason}"
    assert found.factor == 2  # the other point of the winner


@pytest.mark.parametrize(
    ("status", "kept"), [(RunStatus.TIMEOUT, 0), (RunStatus.DONE, 1), (RunStatus.CRASHED, 1)]
)
def test_a_run_that_the_end_cut_off_is_not_kept(track: Track, status: RunStatus, kept: int) -> None:
    track.each, track.script = 200.0, lambda cell: outcome(cell, status)
    found = track.race()
    assert len(track.begun) == 1
    assert len(found.results.records) == kept


def test_a_longer_run_of_a_cell_takes_the_place_of_the_shorter(track: Track) -> None:
    def script(cell: Cell) -> Outcome:
        if cell.solver_label != "slower" or cell.seed or cell.budget.seconds == 10.0:
            return outcome(cell)
        return outcome(cell, RunStatus.BUDGET, {0.0: 1.0, 2.0: 0.5, 4.0: 0.3})

    track.script = script
    found = track.race()
    caps = [c.budget.seconds for c in track.begun if (c.solver_label, c.seed) == ("slower", 0)]
    assert caps == [4.1, 10.0]
    (last,) = (r for r in found.results.records if (r.solver.label, r.seed) == ("slower", 0))
    assert last.budget == {"seconds": 10.0}
    assert found.factor == 1.5


def test_a_store_has_a_folder_of_its_own_where_none_is_named(
    track: Track, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rules: Any = Rules(track.entrants.order, 100.0)
    found = module.run(track.entrants, rules, began=100.0, executor=track)
    place = Path("orthobench-results", track.entrants.suite.name, "results.sqlite")
    assert found.results.path == place
    assert ob.Results.read(place).records
