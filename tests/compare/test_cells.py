"""The cells that sides have, planned and run by the worker's own code in this process."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from orthobench.compare import cells as module
from orthobench.compare import protocol
from orthobench.compare.cells import (
    SideCells,
    SideError,
    collect,
    requested,
    run_again,
    unchanged,
)
from orthobench.compare.options import Options
from orthobench.compare.remote import worker
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus

BASE, HEAD = Side("v1", "revision", "1"), Side("v2", "revision", "2")

SUITE = """
seeds = 2
budget = { steps = 4 }
[tuning]
seeds = 1
[[problem]]
name = "leading-subspace"
[[solver]]
name = "power"
step = { tune = [0.5, 1] }
"""
ONE, TWO = (("leading-subspace", f"power step={step}", 0) for step in (0.5, 1))


class InProcess:
    """A worker process that is none."""

    def __init__(self, side, options, request=None):
        self.side, self.alive = side, True
        self.worker, self.replies = worker.Worker(options.clock), []
        STARTED.append(side.name)
        if request:
            self.request("plan", distributions=side.distributions, **request)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def request(self, do, **arguments):
        names = SimpleNamespace(**{**vars(protocol), "catalogue": lambda: KNOWN[self.side.name]})
        before, worker.names = worker.names, lambda: names
        self.replies.append(worker._answer(self.worker, do, arguments))
        worker.names = before

    def reply(self):
        reply = self.replies.pop(0)
        if "error" in reply:
            raise SideError(reply["error"])
        return json.loads(json.dumps(reply))

    def ask(self, do, **arguments):
        self.request(do, **arguments)
        return self.reply()

    def begin_run(self, key):
        self.request("run", key=key)

    def outcome(self):
        return self.reply()


STARTED, KNOWN = [], {}


@pytest.fixture(autouse=True)
def in_process(monkeypatch, toys):
    STARTED.clear()
    KNOWN.update(v1=toys.registry.extended(), v2=toys.registry.extended())
    monkeypatch.setattr(module, "SideProcess", InProcess)
    monkeypatch.setattr(worker, "plugins", list)  # their files take longer than the cells


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SUITE)
    return path


def collected(suite, sides=(BASE, HEAD), **options):
    said = []
    found = collect(sides, Options(suite, every=True, **options), said.append)
    return found, said


def test_all_trials_run_on_all_seeds_of_both_sides(suite):
    both, said = collected(suite)
    keys = [(*key[:2], seed) for seed in (0, 1) for key in (ONE, TWO)]
    assert [[*cells.content] for cells in both] == [keys, keys]
    assert [[*cells.runs] for cells in both] == [keys, keys]
    assert said == [
        f"power step={step} on leading-subspace, {i + 1} of 4 cells"
        for i, step in enumerate((0.5, 1, 0.5, 1))
    ]
    assert both[0].absent == ()
    run = both[0].runs[ONE]
    assert (run.stop.status, run.budget, run.problem.primary) == (
        RunStatus.BUDGET, {"steps": 4}, "gap"
    )  # fmt: skip
    assert [mark.work.flops for mark in run.trace] == [0, 100, 200, 300, 400]
    gaps = [mark.metrics["gap"] for mark in run.trace]
    assert gaps == sorted(gaps, reverse=True)


def test_work_is_found_to_two_percent(suite):
    suite.write_text(SUITE.replace("steps = 4", "steps = 120"))
    _, cells = collect([BASE, HEAD], Options(suite), lambda _: None)
    runs = run_again(cells, Options(suite), lambda _: None, [ONE])
    steps = [mark.work.steps for mark in runs[ONE].trace]
    assert steps[98:104] == [98, 99, 100, 102, 104, 106]
    assert [*runs] == [ONE]
    assert cells.runs == {}


def test_equal_cells_run_only_if_asked_for(suite):
    options = Options(suite)
    both = collect([BASE, HEAD], options, lambda _: None)
    assert [len(cells.runs) for cells in both] == [0, 0]
    assert unchanged(both, options) == {*both[0].content}
    assert unchanged(both, Options(suite, every=True)) == set()
    both[1].content[ONE] = "another"
    assert unchanged(both, options) == {*both[0].content} - {ONE}
    both[1].kinds["code.py"] = ("1", "it runs at import")
    assert unchanged(both, options) == set()


def require_libraries(*imported, libraries=("lib",)):
    cells = SideCells(BASE, {}, {}, (), {"libraries": libraries, "modules": {"lib": ["mylib"]}})
    reply = {"status": "budget", "reason": "", "trace": [], "primary": "gap", "loaded": imported}
    cells.add(ONE, reply)
    cells.require_libraries()


def test_library_that_no_cell_imports_is_refused():
    require_libraries("mylib.code")
    require_libraries(libraries=())
    with pytest.raises(UsageError, match=r"no cell imports lib of .*v1"):
        require_libraries()


def test_unknown_cell_is_absent_with_the_reason(suite, toys):
    suite.write_text(SUITE + "[[solver]]\nname = 'power'\nlabel = 'mine'\nfault = 'nothing'\n")
    del KNOWN["v1"].problems["leading-subspace"]
    both, _ = collected(suite)
    assert both[0].runs == {}
    assert [reason[:2] for reason in both[0].absent] == [
        ("leading-subspace", "power"), ("leading-subspace", "mine"),
    ]  # fmt: skip
    assert "unknown problem" in both[0].why_absent(ONE)
    assert [reason[:2] for reason in both[1].absent] == [("leading-subspace", "mine")]
    assert "value of fault" in both[1].why_absent(("leading-subspace", "mine", 0))
    assert both[1].why_absent(ONE) == "it is not in its suite"
    assert both[1].why_absent(("another", "mine", 0)) == "it is not in its suite"
    assert len(both[1].runs) == 4


def test_problem_that_a_solver_refuses_is_no_cell(suite, toys, monkeypatch):
    monkeypatch.setattr(toys.Solver, "refuses", lambda self, problem: f"{self.step_size} is wrong")
    (cells, _), _ = collected(suite)
    assert cells.content == {}
    assert {*cells.absent} == {(*ONE[:2], "0.5 is wrong"), (*TWO[:2], "1.0 is wrong")}


def test_specifications_replace_those_of_the_suite(suite):
    words = {"solvers": ("power", "power step=2"), "problems": ("leading-subspace n=5",)}
    both, _ = collected(suite, seeds=1, **words)
    assert [*both[0].runs] == [
        ("leading-subspace n=5", "power", 0), ("leading-subspace n=5", "power step=2", 0),
    ]  # fmt: skip
    assert {tuple(run.budget.items()) for run in both[0].runs.values()} == {(("steps", 4),)}


def test_problem_without_a_budget_of_the_suite_has_a_default(suite):
    ours, none = {"steps": 4}, {"samples": 10_000, "steps": 10_000}
    for text, budget in ((SUITE, ours), (SUITE.replace("budget = { steps = 4 }", ""), none)):
        suite.write_text(text)
        tables = requested([BASE], Options(suite, problems=("leading-subspace",)))["tables"]
        assert tables["budget"] == budget
    assert "budget" not in requested([BASE], Options(suite))["tables"]


def test_suite_with_a_value_for_each_size_is_compared_in_full(suite):
    sized = "budget = { steps = { full = 4, smoke = 1 } }"
    suite.write_text(SUITE.replace("budget = { steps = 4 }", sized))
    both, _ = collected(suite)
    assert {tuple(run.budget.items()) for run in both[0].runs.values()} == {(("steps", 4),)}


def test_a_suite_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_text("seeds = ")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name in ("bad", "binary", "missing"):
        with pytest.raises(UsageError, match=rf"cannot read the suite \S*{name}"):
            collected(tmp_path / f"{name}.toml")


def test_suite_is_that_of_head_or_else_of_base(suite):
    with pytest.raises(UsageError, match=r"^v2: .*unknown suite 'regression'"):
        collected(None)
    for side, started in (("v1", ["v2", "v1"]), ("v2", ["v2", "v1", "v2"])):
        KNOWN[side].suites = {"regression": SimpleNamespace(item=suite)}
        STARTED.clear()
        assert len(collected(None)[0][0].runs) == 4
        assert STARTED[: len(started)] == started


@pytest.fixture
def installed(monkeypatch):
    """A function that checks a distribution with these modules, which lie there."""

    def check(places, points=(), broken=None):
        found = SimpleNamespace(select=lambda group: [SimpleNamespace(name=one) for one in points])
        of = {"toys": SimpleNamespace(entry_points=found)}
        monkeypatch.setattr(worker.metadata, "distribution", of.__getitem__)
        monkeypatch.setattr(worker, "modules", lambda one: [*places])
        monkeypatch.setattr(worker, "place", places.get)
        return worker.check(["toys"], broken or {})

    return check


HERE = f"{Path(sys.prefix).resolve()}/lib/toys/__init__.py"


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({}, "toys has no module that could be imported"),
        ({"toys": "/elsewhere/toys"}, "toys would be imported from /elsewhere/toys, not"),
        ({"toys": HERE, "more": "/x"}, "more would be imp"),
        ({"toys": HERE}, "plugin 'toys' does not load: it raised; rep"),
    ],
)
def test_side_that_does_not_run_its_code_is_refused(installed, places, said):
    with pytest.raises(worker.RefusedError, match=said):
        installed(places, ["toys"], {"toys": "it raised"})
