"""The cells that sides have, planned and run by the worker's own code in this process."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from orthobench.compare import cells as module
from orthobench.compare import protocol
from orthobench.compare.cells import SideCells, collect, run_cells, unchanged
from orthobench.compare.comparison import Options
from orthobench.compare.process import SideError, run_of
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
            self.request("plan", **request)

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

    def run(self, key):
        return run_of(key, self.reply())


STARTED, KNOWN = [], {}


@pytest.fixture(autouse=True)
def in_process(monkeypatch, toys):
    STARTED.clear()
    KNOWN.update(v1=toys.registry.extended(), v2=toys.registry.extended())
    monkeypatch.setattr(module, "SideProcess", InProcess)


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
    assert both[0].request["name"] == "mine"
    assert both[0].absent == both[0].notes == ()


def test_a_run_is_that_of_the_cell(suite):
    (cells, _), _ = collected(suite)
    run = cells.runs[ONE]
    assert (run.stop.status, run.budget, run.problem.primary) == (
        RunStatus.BUDGET, {"steps": 4}, "gap"
    )  # fmt: skip
    assert [mark.work.steps for mark in run.trace] == [0, 1, 2, 3, 4]
    assert [mark.work.flops for mark in run.trace] == [0, 100, 200, 300, 400]
    gaps = [mark.metrics["gap"] for mark in run.trace]
    assert gaps == sorted(gaps, reverse=True)
    assert run.solver.parameters == {"on": "numpy"}


def test_work_is_found_to_two_percent(suite):
    suite.write_text(SUITE.replace("steps = 4", "steps = 120"))
    request = collect([BASE, HEAD], Options(suite), lambda _: None)[0].request
    (cells,) = run_cells([HEAD], request, Options(suite), lambda _: None, [ONE])
    steps = [mark.work.steps for mark in cells.runs[ONE].trace]
    assert steps[:101] == [*range(101)]
    assert steps[101:] == [102, 104, 106, 108, 110, 112, 114, 116, 118, 120]


def test_what_is_the_same_on_both_sides_is_not_run_unless_all_is(suite):
    options = Options(suite)
    both = collect([BASE, HEAD], options, lambda _: None)
    assert [len(cells.runs) for cells in both] == [0, 0]
    assert unchanged(both, options) == {*both[0].content}
    assert unchanged(both, Options(suite, every=True)) == set()
    assert unchanged(both[:1], options) == set()
    both[1].content[ONE] = "another"
    assert unchanged(both, options) == {*both[0].content} - {ONE}


def test_chosen_cells_run_on_one_side(suite):
    request = collected(suite)[0][0].request
    (cells,) = run_cells([HEAD], request, Options(suite), lambda _: None, [TWO])
    assert [*cells.runs] == [TWO]
    assert len(cells.content) == 4


def test_what_a_side_does_not_know_or_refuses_is_absent_with_the_reason(suite, toys):
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


def test_a_problem_that_a_solver_refuses_is_no_cell(suite, toys, monkeypatch):
    monkeypatch.setattr(toys.Solver, "refuses", lambda self, problem: f"{self.step_size} is wrong")
    (cells, _), _ = collected(suite)
    assert cells.content == {}
    assert {*cells.absent} == {(*ONE[:2], "0.5 is wrong"), (*TWO[:2], "1.0 is wrong")}


def test_broken_plugins_of_a_side_are_noted(suite):
    KNOWN["v2"].broken = {"bad": "it raised"}
    both, _ = collected(suite)
    assert [cells.notes for cells in both] == [(), ("v2: plugin 'bad' is broken: it raised",)]


def test_a_process_that_died_is_replaced(suite, monkeypatch):
    def dying(self, key):
        self.alive = self.side.name == "v2"
        return run_of(key, self.reply())

    monkeypatch.setattr(InProcess, "run", dying)
    both, _ = collected(suite)
    assert [len(cells.runs) for cells in both] == [4, 4]
    assert STARTED == ["v1", "v2", "v1", "v1", "v1"]


def test_a_side_that_cannot_plan_is_named(suite, monkeypatch):
    def raising(self, **request):
        raise worker.RefusedError("its orthobench is too old")

    monkeypatch.setattr(worker.Worker, "plan", raising)
    with pytest.raises(SideError, match=r"^v1 cannot be compared: its orthobench is too old$"):
        collected(suite)


def test_solvers_problems_and_seeds_of_the_command_line_replace_those_of_the_suite(suite):
    words = {"solvers": ("power", "power step=2"), "problems": ("leading-subspace n=5",)}
    both, _ = collected(suite, seeds=1, **words)
    assert [*both[0].runs] == [
        ("leading-subspace n=5", "power", 0), ("leading-subspace n=5", "power step=2", 0),
    ]  # fmt: skip
    assert {tuple(run.budget.items()) for run in both[0].runs.values()} == {(("steps", 4),)}


def test_problems_of_the_command_line_have_a_budget_in_samples_where_the_suite_has_none(suite):
    suite.write_text(SUITE.replace("budget = { steps = 4 }", ""))
    _, tables = module._suite([BASE], Options(suite, problems=("leading-subspace",)))
    assert tables["budget"] == {"samples": 10_000}
    assert "budget" not in module._suite([BASE], Options(suite))[1]
    suite.write_text(SUITE)
    assert module._suite([BASE], Options(suite, problems=("x",)))[1]["budget"] == {"steps": 4}


def test_a_suite_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_text("seeds = ")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name in ("bad", "binary", "missing"):
        with pytest.raises(UsageError, match=rf"cannot read the suite \S*{name}"):
            collected(tmp_path / f"{name}.toml")


def test_a_suite_is_known_by_name_to_head_or_else_to_base(suite):
    known = SimpleNamespace(item=suite)
    with pytest.raises(
        UsageError, match=r"v2: .*unknown suite 'regression'.*; v1: .*unknown suite"
    ):
        collected(None)
    KNOWN["v1"].suites = {"regression": known}
    STARTED.clear()
    assert len(collected(None)[0][0].runs) == 4
    assert STARTED[:2] == ["v2", "v1"]
    KNOWN["v2"].suites = KNOWN["v1"].suites
    STARTED.clear()
    collected("regression")
    assert STARTED == ["v2", "v1", "v2"]


@pytest.fixture
def planned(suite, toys, monkeypatch):
    names = SimpleNamespace(**{**vars(protocol), "catalogue": lambda: toys.registry})
    monkeypatch.setattr(worker, "names", lambda: names)
    one = worker.Worker("cpu")
    tables = module._suite([BASE], Options(suite))[1]
    one.plan(tables, "mine", 1.5)
    return one


def test_a_run_is_timed_so_many_times_on_the_clock_of_its_process(planned, monkeypatch):
    calls = []

    def timed(instance, solver, steps, streams):
        calls.append((solver.step_size, steps, protocol.CLOCK.get()))
        return len(calls)

    monkeypatch.setattr(worker.names(), "timed", timed)
    before = protocol.CLOCK.get()
    assert planned.time(list(TWO), 7, 3) == {"seconds": [1.0, 2.0, 3.0]}
    assert calls == 3 * [(1.0, 7, worker.CLOCKS["cpu"])]
    assert protocol.CLOCK.get() is before
    monkeypatch.setattr(worker.names(), "timed", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        planned.time(list(TWO), 7, 3)
    assert protocol.CLOCK.get() is before


def test_the_planned_ratio_is_for_solvers_that_can_be_stepped(planned, toys, monkeypatch):
    asked = []
    real = worker.names().run
    monkeypatch.setattr(
        worker.names(), "run", lambda *a, ratio: (asked.append(ratio), real(*a, ratio=ratio))[1]
    )
    planned.run(list(ONE))
    monkeypatch.setattr(toys.Solver, "reruns", True)
    planned.run(list(ONE))
    assert asked == [1.5, protocol.RATIO]


def test_what_is_no_method_or_raises_is_told(planned):
    assert worker._answer(planned, "suite", {"name": "none"})["error"].startswith("UsageError: ")
    assert worker._answer(planned, "check", {"distribution": "pytest"}) == {
        "error": "pytest is no plugin of orthobench"
    }


def test_requests_are_answered_until_the_channel_is_closed():
    requests = [{"do": "suite", "name": "none"}, {"do": "end"}, None]
    sent = []
    channel = SimpleNamespace(receive=lambda: requests.pop(0), send=sent.append)
    one = SimpleNamespace(copies=False, suite=lambda name: {"text": name})
    before, worker.Worker = worker.Worker, lambda clock: one
    try:
        worker.main(channel, "cpu")
    finally:
        worker.Worker = before
    assert sent == [{"text": "none"}, {}]


def test_versions_are_no_part_of_what_a_cell_depends_on(monkeypatch):
    content = {"code": "1", "versions": {"toys": "1.0"}}
    digest = worker._digest(content)
    assert worker._digest({**content, "versions": {"toys": "2.0"}}) == digest
    assert worker._digest({**content, "code": "2"}) != digest
    monkeypatch.setattr(worker, "_packages", lambda: [("other",)])
    assert worker._digest(content) != digest


def test_packages_are_python_and_what_is_no_plugin_in_order():
    worker._packages.cache_clear()
    (python, *others) = worker._packages()
    assert python == (sys.version,)
    assert others == sorted(others)
    names = {name.lower() for name, _ in others}
    assert "numpy" in names
    assert "orthobench" not in names


def test_the_place_of_a_module_is_its_file_and_that_of_a_package_its_folder():
    assert worker._place("json") == str(Path(json.__file__).parent.resolve())
    assert worker._place("bisect").endswith("bisect.py")
    assert worker._place("no_such_module") is None


def test_an_orthobench_of_another_protocol_is_refused(monkeypatch):
    worker.names.cache_clear()
    for version in (1, 3):
        monkeypatch.setattr(protocol, "VERSION", version)
        with pytest.raises(worker.RefusedError, match="has not version 2 of the comparison"):
            worker.names()
    monkeypatch.setattr(protocol, "VERSION", 2)
    assert worker.names() is protocol


@pytest.mark.parametrize(
    ("name", "refused"),
    [("orthobench.compare.protocol", True), ("orthobench.compare", True), ("numpy", False),
     ("protocol", False)],
)  # fmt: skip
def test_an_orthobench_without_a_protocol_is_refused_and_one_that_is_broken_says_why(
    monkeypatch, name, refused
):
    def missing(module):
        raise ModuleNotFoundError(name=name)

    worker.names.cache_clear()
    monkeypatch.setattr(worker, "import_module", missing)
    with pytest.raises(worker.RefusedError if refused else ModuleNotFoundError):
        worker.names()


@pytest.fixture
def installed(monkeypatch, toys):
    """A function that checks a distribution with these entry points, and modules that lie there."""

    def check(points, places, broken=None, distribution="toys"):
        entries = [
            SimpleNamespace(group=group, name=name, module=module) for group, name, module in points
        ]
        of = {"toys": SimpleNamespace(entry_points=entries)}
        monkeypatch.setattr(worker.metadata, "distribution", of.__getitem__)
        monkeypatch.setattr(worker, "_place", places.get)
        known = SimpleNamespace(broken=broken or {})
        monkeypatch.setattr(worker, "names", lambda: SimpleNamespace(catalogue=lambda: known))
        return worker.Worker("cpu").check(distribution)

    return check


HERE = f"{Path(sys.prefix).resolve()}/lib/toys/__init__.py"
POINT = ("orthobench", "toys", "toys.plugin")


def test_a_side_runs_its_own_code_and_some_orthobench(installed):
    places = {"toys": HERE, "orthobench": "/anywhere"}
    assert installed([POINT], places) == {"orthobench": "/anywhere"}
    assert installed([POINT], places, {"other": "it raised"}) == {"orthobench": "/anywhere"}
    assert installed([], places, distribution="") == {"orthobench": "/anywhere"}


@pytest.mark.parametrize(
    ("points", "places", "said"),
    [
        ([], {}, "toys is no plugin of orthobench"),
        (
            [("orthobench.makers", "m", "toys"), ("console_scripts", "s", "toys")],
            {},
            "is no plugin",
        ),
        ([POINT], {"toys": "/elsewhere/toys"}, "toys would be imported from /elsewhere/toys, not"),
        ([POINT], {}, "toys would be imported from None"),
        (
            [POINT, ("orthobench", "more", "more")],
            {"toys": HERE, "more": "/x"},
            "more would be imp",
        ),
        ([POINT], {"toys": HERE}, "its Python cannot import orthobench"),
        (
            [POINT],
            {"toys": HERE, "orthobench": "/x"},
            "plugin 'toys' does not load: it raised; rep",
        ),
    ],
)
def test_a_side_that_would_not_run_its_code_is_refused(installed, points, places, said):
    with pytest.raises(worker.RefusedError, match=said):
        installed(points, places, {"toys": "it raised"})


def test_a_copy_goes_on_and_the_process_waits_for_its_end(monkeypatch):
    waited = []

    def wait(process, options):
        waited.append((process, options))
        return process, 3 << 8

    monkeypatch.setattr(worker.os, "fork", lambda: 7, raising=False)
    monkeypatch.setattr(worker.os, "waitpid", wait)
    assert worker._continue_in_copy(True) == {"ended": 3}
    assert waited == [(7, 0)]
    monkeypatch.setattr(worker, "_ballast", [])
    for copies in (True, False):
        monkeypatch.setattr(worker.os, "fork", lambda: 0, raising=False)
        assert worker._continue_in_copy(copies) == {}
    assert len(waited) == 1
    assert all(0 < len(memory) < 4_000_000 for memory in worker._ballast)


def test_cells_of_a_side_begin_without_runs():
    assert SideCells(BASE, {}).why_absent(ONE) == "it is not in its suite"
