"""Races that run: what they return and print, refuse, store, and how they go on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from features import of_features

import orthobench as ob
from orthobench.atlas import advice, answers
from orthobench.atlas.advice import likely
from orthobench.cli.main import main
from orthobench.contract import SampleOracle
from orthobench.contract.parameters import values_of
from orthobench.errors import DataError, UsageError
from orthobench.harness.cell import instance_of
from orthobench.harness.identity import canonical
from orthobench.racing import race
from orthobench.racing.entrants import entrants, entrants_on
from orthobench.racing.grid import Point, measure
from orthobench.racing.standing import Rules
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load
from orthobench.results.store import Store

SOLVERS = ("batch-pca", "oja", "block-krylov")

TOLD: list[tuple[str, bool]] = []
"""The texts of the race of `raced`."""


@pytest.fixture(scope="module", autouse=True)
def map_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        for module in (advice, answers):
            patched.setattr(module, "opened", cache(answers.opened))
        yield


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> ob.racing.race.Race:
    store = tmp_path_factory.mktemp("race") / "race.sqlite"
    return ob.race("digits k=2", within=120, solvers=SOLVERS, store=store, tell=_tell)


def _tell(text: str, standing: bool) -> None:
    TOLD.append((text, standing))


def test_a_race_names_a_solver_that_can_be_typed(raced: ob.racing.race.Race) -> None:
    assert raced.winner in SOLVERS
    assert ob.solve(raced.winner, "digits", seed=1, **raced.parameters).trace
    assert raced.winner in raced.sentence
    assert raced.factor > 0 or np.isnan(raced.factor)
    assert raced.seconds < 132


def test_the_table_has_a_row_for_each_configuration(raced: ob.racing.race.Race) -> None:
    assert {row["configuration"] for row in raced.table} == {*SOLVERS}
    first = raced.table[0]
    assert first["verdict"] in ("exact", "as good")
    assert first["solver"] == raced.winner
    assert 5 <= first["reached"] <= first["seeds"]
    assert all(row["first_cost"] >= 0 for row in raced.table if row["verdict"] == "as good")
    out = {drop.name for drop in raced.dropped}
    assert all(row["why"] for row in raced.table if row["configuration"] in out)


def test_the_code_computes_the_answer(raced: ob.racing.race.Race) -> None:
    names: dict[str, object] = {}
    exec(raced.code, names)  # noqa: S102
    assert names["outcome"].solution.shape == (64, 2)  # type: ignore[attr-defined]


def test_a_race_that_is_over_is_not_run_again(raced: ob.racing.race.Race) -> None:
    again = ob.race("digits k=2", within=120, solvers=SOLVERS, store=raced.results.path)
    assert again.facts() == {**raced.facts(), "seconds": again.seconds}
    assert [r.key for r in again.results.records] == [r.key for r in raced.results.records]


@pytest.mark.wide
def test_values_of_a_function_of_ones_own_are_compared(tmp_path: Path) -> None:
    weights = np.arange(1.0, 21.0)[:, None]
    instance = ob.stiefel(
        lambda V: float(np.sum(weights * V * V)), lambda V: 2 * weights * V, n=20, p=2
    )
    found = ob.race(
        instance, within=90, solvers=["wen-yin", "riemannian-gradient"], store=tmp_path / "r.sqlite"
    )
    assert found.winner in ("wen-yin", "riemannian-gradient")
    names = {"ob": ob, "problem": instance}
    exec(found.code.replace("import orthobench as ob", ""), names)  # noqa: S102
    assert names["outcome"].solution.shape == (20, 2)  # type: ignore[attr-defined]


@pytest.mark.wide
def test_a_call_on_an_endless_stream_has_a_number_of_steps(tmp_path: Path) -> None:
    solvers = ["grassmannian-sgd step=2", "batch-pca", "oja"]
    found = ob.race("missing-entries", 90, solvers=solvers, store=tmp_path / "race.sqlite")
    assert {"steps"} == {name for name, _ in found.stop.limits}
    names: dict[str, Any] = {}
    exec(found.code, names)  # noqa: S102
    assert names["outcome"].work.steps == dict(found.stop.limits)["steps"]


def test_the_first_parameters_of_the_map_race_with_the_defaults() -> None:
    X = np.random.default_rng(0).standard_normal((300, 40))
    found = entrants_on(ob.pca(X, k=3))
    problem = found.suite.problems[0].problem
    first = dict(reversed(likely(problem, instance_of(problem, 0))))
    racing = {(s.solver.name, canonical(values_of(s.solver))) for s in found.suite.solvers}
    own = {name for name, _ in racing}
    assert racing >= {(name, canonical(values)) for name, values in first.items() if name in own}
    named = entrants_on(ob.pca(X, k=3), solvers=["scipy-svds"])
    assert list(named.order) == ["scipy-svds"]


def test_configurations_are_the_default_and_the_points_of_the_grid() -> None:
    found = entrants_on("digits")
    labels = [s.label for s in found.suite.solvers]
    assert len(labels) == len(set(labels))
    at = {(s.solver.name, canonical(values_of(s.solver))): s.label for s in found.suite.solvers}
    problem = found.suite.problems[0].problem
    known = likely(problem, instance_of(problem, 0))
    order = [at[key] for name, p in known if (key := (name, canonical(p))) in at]
    assert len(order) > 5
    assert [label for label in labels if label in order] == order
    assert labels[0] == order[0]
    assert any(label.startswith("oja step=") for label in labels)
    assert len({s.solver for s in found.suite.solvers}) == len(labels)


def test_packages_that_are_missing_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = ob.catalogue().solver_class("sklearn-pca", SampleOracle).item
    monkeypatch.setattr(cls, "packages", ("no-such-package",))
    found = entrants_on("digits")
    assert found.missing["sklearn-pca"] == "unavailable: install orthobench[peers]"
    assert all(s.solver.name != "sklearn-pca" for s in found.suite.solvers)


def test_bad_input_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, said in (
        (["-p", "digit"], "digits"),
        (["-p", "digits k=4 x"], "key=value"),
        (["-p", "digits", "-s", "ojaa"], "oja"),
        (["-p", "digits", "-s", "wen-yin"], "no solver can take digits"),
        (["-p", "digits", "--within", "soon"], "write it as 30s, 2m or 1h"),
        (["-p", "digits", "--within", "0"], "write it as 30s, 2m or 1h"),
        (["-p", "digits", "--tolerance", "2"], "range"),
        (["-p", "digits", "--cost", "money"], "seconds"),
        (["-p", "digits", "--memory", "much"], "write it as"),
        (["-p", "npy-pca path=nowhere.npy"], "nowhere.npy"),
        ([], "problem"),
    ):
        done = CliRunner().invoke(main, ["race", *arguments])
        assert done.exit_code == 2, arguments
        assert said in done.output, arguments
        assert not list(tmp_path.iterdir()), arguments


@pytest.mark.parametrize("problem", ["npy-pca", "npy-stochastic-pca"])
def test_files_that_are_unfit_are_refused_with_the_row(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).standard_normal((60, 5))
    X[17, 3] = np.nan
    np.save(tmp_path / "nan.npy", X)
    np.save(tmp_path / "text.npy", np.array([["a", "b"], ["c", "d"]]))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for name, said in (("nan", "17"), ("text", "must be real numbers")):
        recipe = f"{problem} path=../{name}.npy k=2"
        for command in (["race", "--within", "5s"], ["advise"]):
            done = CliRunner().invoke(main, [*command, "-p", recipe])
            assert done.exit_code == 2, command
            assert said in done.output, command
            assert len(done.output.splitlines()) == 1, command
            assert not list(Path().iterdir()), command


def test_a_problem_that_raises_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(self: object, rng: np.random.Generator) -> None:
        raise ZeroDivisionError("no data")

    monkeypatch.setattr(type(ob.catalogue().problem("digits", {})), "build", build)
    with pytest.raises(DataError, match="problem digits: ZeroDivisionError: no data"):
        entrants_on("digits")


def test_a_race_without_time_says_what_the_map_advises(tmp_path: Path) -> None:
    # of a family with a small map
    found = ob.race("odeco d=4", 0.01, solvers=["tensor-power"], store=tmp_path / "race.sqlite")
    assert found.winner is None
    assert "is too short for a race" in found.sentence
    assert found.sentence.endswith(ob.advise("odeco d=4").sentence)


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    options: list[dict[str, Any]] = [
        *({"within": within} for within in (0, -1, np.inf, np.nan)),
        *({"tolerance": tolerance} for tolerance in (0, -0.5, 1, 1.5)),
        {"cost": "money"},
    ]
    for each in options:
        with pytest.raises(UsageError, match=r"seconds|tolerance|cost"):
            ob.race("digits", store=tmp_path / "r.sqlite", **each)
        assert not list(tmp_path.iterdir()), each


def test_races_share_the_time_until_one_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    shares, now = list[tuple[float, float]](), 10.0

    def run(one: Any, rules: Rules, began: float) -> SimpleNamespace:
        nonlocal now
        now += 15.0
        shares.append((rules.total, began))
        return SimpleNamespace(interrupted=len(shares) == 3)

    entrant = SimpleNamespace(order={}, ending={}, endless={})
    monkeypatch.setattr(race, "entrants_on", lambda *asked: entrant)
    monkeypatch.setattr(race, "monotonic", lambda: now)
    monkeypatch.setattr(race, "run", run)
    assert len(race.races(["p"] * 4, 120.0, 0.02, "seconds")) == 3
    assert shares == [(30.0, 10.0), (35.0, 25.0), (45.0, 40.0)]


def test_the_standing_is_told_from_the_beginning(raced: ob.racing.race.Race) -> None:
    first, *later = [text for text, standing in TOLD if standing]
    assert "the first run begins; 0 of 3 raced" in first
    assert all(text.endswith("left") for text in later)
    lasting = [text for text, standing in TOLD if not standing]
    *out, timed = lasting
    assert all(re.match(r" +[\d.]+ s  [\w-]+: ", text) for text in out)
    assert timed.endswith("timed one after another")
    assert len(out) >= len(raced.dropped)


@pytest.mark.wide
def test_a_race_that_was_killed_goes_on_with_what_it_has(tmp_path: Path) -> None:
    store = tmp_path / "race.sqlite"
    solvers = [word for name in SOLVERS for word in ("-s", name)]
    command = [
        sys.executable, "-m", "orthobench", "race", "-p", "digits", "--within", "60s", *solvers,
        "--json", "--store", str(store),
    ]  # fmt: skip
    racing = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    while not _finished(store) and racing.poll() is None:
        time.sleep(0.05)
    os.killpg(racing.pid, signal.SIGKILL)
    racing.wait()
    before = _finished(store)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["winner"] in SOLVERS
    assert before <= _finished(store)


def _finished(store: Path) -> set[str]:
    try:
        with Store(store) as opened:
            return {run.key for run in opened.runs()}
    except ob.StoreError:
        return set()


@pytest.mark.wide
def test_a_map_is_measured_once_and_again_where_code_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "map-small.toml"
    suite.write_text(
        "seeds = 5\n[budget]\nseconds = 1.0\n[[problem]]\nname = 'digits'\nk = [1, 2]\n"
        "[[solver]]\nname = 'batch-pca'\n[[solver]]\nname = 'block-krylov'\n"
    )
    small = load(suite, catalogue())
    entries = [entrants(small, problem) for problem in small.problems]
    some = [Point(one, tmp_path / f"{one.suite.name}.sqlite", 20.0) for one in entries]
    said: list[str] = []
    assert measure(some[:1], 60.0, said.append) == 0
    assert some[0].is_done
    assert not some[1].is_done
    assert measure(some, 0.0, said.append) == 1
    assert len(said) == 1
    assert "0 races left" in said[0]
    monkeypatch.setattr("orthobench.harness.cell.digests", lambda *_: {"changed": "1"})
    assert not some[0].is_done


def test_given_data_race_at_the_level_that_was_asked_for():
    A = np.random.default_rng(0).standard_normal((12, 40))
    (level,) = entrants_on(of_features(A, m=2, cardinality=3)).suite.problems[0].levels
    assert (level.metric, level.value) == ("undelivered", 0.0)
