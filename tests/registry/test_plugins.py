import re
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from orthobench.contract import Oracle, hookimpl
from orthobench.contract.solver import Solver
from orthobench.errors import UsageError
from orthobench.registry.plugin_checks import PluginError
from orthobench.registry.plugins import Plugin, Registry, catalogue
from orthobench.report.terminal.listing import details


class Distribution(NamedTuple):
    """A distribution as importlib.metadata gives it."""

    name: str
    version: str
    requires: tuple[str, ...] = ()


class Point:
    """An entry point as importlib.metadata gives them."""

    def __init__(self, name, load, distribution="third-party", requires=()):
        self.name, self.load, self.value = name, load, f"{name}_package"
        self.dist = Distribution(distribution, "2.0", tuple(requires))


def brings(*solvers):
    class Brings:
        @hookimpl
        def orthobench_solvers(self):
            return solvers

    return Brings()


@pytest.fixture
def install(monkeypatch):
    def installed(*points):
        monkeypatch.setattr("orthobench.registry.plugins.entry_points", lambda **_: points)
        return Registry.installed()

    return installed


def test_a_broken_plugin_leaves_the_rest_working(toys, install):
    def broken():
        raise ImportError("no module named nonsense")

    registry = install(Point("bad", broken), Point("good", toys.Plugin))
    assert list(registry.solvers) == ["power"]
    said = "ImportError: no module named nonsense (plugin 'bad' of third-party 2.0, bad_package)"
    assert registry.broken == {"bad": said}


RAISING = """\
from orthobench.contract import Oracle, hookimpl

@hookimpl
def orthobench_solvers():
    return [1 / 0]
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nonsense", "ModuleNotFoundError: No module named 'nonsense' ({}, line 1)"),
        ("\n\ndef f(:", "SyntaxError: invalid syntax ({}, line 3)"),
        ("raise SystemExit(3)", "SystemExit: 3 ({}, line 1)"),
        (
            RAISING,
            "orthobench_solvers raises ZeroDivisionError: division by zero ({}, line 5)",
        ),
    ],
    ids=["import", "syntax", "exit", "hook"],
)
def test_a_broken_plugin_is_named_with_the_line(tmp_path, monkeypatch, install, source, said):
    (tmp_path / "fragile").mkdir()
    file = tmp_path / "fragile" / "__init__.py"
    file.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    registry = install(EntryPoint("bad", "fragile", "orthobench"))
    assert registry.broken["bad"].removeprefix("plugin 'bad': ") == said.format(file)
    assert not registry.plugins
    sys.modules.pop("fragile", None)


def test_a_duplicate_name_names_both_parties_and_own_methods_stay(toys, install):
    registry = install(
        Point("aaa", toys.Plugin, "impostor"), Point("own", toys.Plugin, "orthobench")
    )
    assert registry.solvers["power"].plugin.distribution == "orthobench"
    said = registry.broken["solver power"]
    assert all(name in said for name in ("'power'", "impostor", "'own'"))
    assert [plugin.name for plugin in registry.plugins] == ["own", "aaa"]


def unmarked():
    return []


def hooks(**functions):
    return SimpleNamespace(**functions)


def test_a_wrong_hook_is_named():
    for plugin, said in (
        (hooks(orthobench_solvers=hookimpl(lambda registry: [])), "argument: 'registry'"),
        (hooks(orthobench_solvers=unmarked), "orthobench_solvers is not marked as a hook"),
        (hooks(orthobench_problem=unmarked), "orthobench_problem is not marked as a hook"),
        (hooks(), "implements no hook"),
        (hooks(orthobench_solver=hookimpl(lambda: [1])), "did you mean 'orthobench_solvers'"),
        (hooks(orthobench_suites=hookimpl(lambda: None)), "not None; is a return missing?"),
        (hooks(orthobench_suites=hookimpl(lambda: "a.toml")), "must return a list, not 'a.toml'"),
        (hooks(orthobench_solvers=hookimpl(lambda: int)), "must return a list, not <class 'int'>"),
        (hooks(orthobench_suites=hookimpl(lambda: [Path("no.toml")])), "no.toml is no TOML file"),
    ):
        with pytest.raises(PluginError, match=re.escape(said)):
            Registry().add(plugin, Plugin("odd"))


def wrong(base, **attributes):
    return dataclass(frozen=True)(type("Wrong", (base,), {"name": "wrong", **attributes}))


def test_a_solver_that_could_not_run_is_named_when_it_is_loaded(toys):
    for attributes, said in (
        ({"step": lambda self, state: None}, "Wrong.step is called as step(oracle, state)"),
        ({"init": lambda self: None}, "Wrong.init is called as init(oracle, rng)"),
        ({"solution": None}, "Wrong.solution is called as solution(state)"),
        ({"name": ""}, "Wrong.name must be a word, not ''"),
        ({"name": "two words"}, "Wrong.name must be one word"),
        ({"needs": "samples"}, "Wrong.needs must be a type of Oracle, not 'samples'"),
        ({"step": Solver.step}, "Wrong has neither the method step nor advance"),
    ):
        with pytest.raises(PluginError, match=re.escape(said)):
            Registry().add(brings(wrong(toys.Solver, **attributes)), Plugin("odd"))


def test_a_solver_must_be_frozen_and_complete(toys):
    @dataclass
    class Thawed(toys.Solver.__bases__[0]):
        name = "thawed"
        needs = toys.Oracle

        def init(self, oracle, rng): ...
        def solution(self, state): ...

    with pytest.raises(PluginError, match="frozen dataclass"):
        Registry().add(brings(Thawed), Plugin("odd"))

    @dataclass(frozen=True)
    class Half(toys.Solver.__bases__[0]):
        name = "half"

    with pytest.raises(PluginError, match="lacks the methods init, solution"):
        Registry().add(brings(Half), Plugin("odd"))


def test_a_refused_plugin_leaves_nothing_behind(toys):
    registry = Registry()
    with pytest.raises(PluginError):
        registry.add(brings(toys.Solver, 42), Plugin("odd"))
    assert not registry.solvers
    assert not registry.plugins


@pytest.mark.parametrize("item", [42, int])
def test_class_or_value_that_is_no_solver_is_refused(item):
    with pytest.raises(PluginError, match="Solver"):
        Registry().add(brings(item), Plugin("odd"))


def test_unknown_names_suggest_the_nearest(toys):
    with pytest.raises(UsageError, match="did you mean 'power'"):
        toys.registry.solver("pwoer")
    with pytest.raises(UsageError, match=r"parameter of solver power: 'stepp'.*'step'"):
        toys.registry.solver("power", {"stepp": 1.0})


def test_an_unknown_name_lists_no_more_than_a_message_has():
    with pytest.raises(UsageError, match=r"\.\.\. \(orthobench list solvers has all\)") as caught:
        catalogue().solver("0")
    assert len(str(caught.value)) <= 400


def test_a_name_may_be_that_of_solvers_for_different_oracles(toys):
    class Other(Oracle):
        """An oracle that the first solver cannot take."""

    other = type("Power2", (toys.Solver,), {"name": "power", "needs": Other})
    registry = Registry()
    registry.add(brings(toys.Solver), Plugin("first"))
    registry.add(brings(other), Plugin("second"))
    assert list(registry.solvers) == ["power"]
    assert type(registry.solver("power", offers=Other)) is other
    assert registry.solver_class("power", toys.Solver.needs).plugin.name == "first"
    assert registry.solver_class("power").plugin.name == "first"
    registry.add(brings(type("Power3", (other,), {})), Plugin("third"))
    assert "plugin 'third' and plugin 'second' both bring" in registry.broken["solver power"]


def test_neither_plugin_has_a_name_that_two_bring(toys, tmp_path):
    suite = tmp_path / "mine.toml"
    suite.touch()
    brought = {
        "solver 'power'": ("orthobench_solvers", toys.Solver),
        "problem 'leading-subspace'": ("orthobench_problems", toys.Problem),
        "suite 'mine'": ("orthobench_suites", suite),
    }
    for what, (hook, item) in brought.items():
        registry = Registry()
        plugin = hooks(**{hook: hookimpl(lambda: [item])})  # noqa: B023
        registry.add(plugin, Plugin("one"))
        other = dataclass(frozen=True)(type("Other", (toys.Solver,), {"name": "other"}))
        plugin.orthobench_solvers = hookimpl(
            lambda: [*([item] if hook == "orthobench_solvers" else []), other]  # noqa: B023
        )
        registry.add(plugin, Plugin("two"))
        registry.add(hooks(**{hook: hookimpl(lambda: [item])}), Plugin("three"))  # noqa: B023
        kind, name = what.replace("'", "").split()
        assert "'two' and plugin 'one' both bring " + what in registry.broken[f"{kind} {name}"]
        assert [plugin.name for plugin in registry.plugins] == ["one", "two", "three"]
        assert registry.solver("other").name == "other"
        with pytest.raises(UsageError, match=f"both bring {what}; one of them must change it"):
            getattr(registry, kind)(name)
        with pytest.raises(UsageError, match=f"both bring {what}"):
            details(registry, name)


@pytest.mark.parametrize(
    ("requires", "said"),
    [
        ("orthobench>=99", "'p' of d 2.0 needs orthobench>=99, and"),
        ("numpy<1", "needs numpy<1, and"),
        ("orthobench>=0.1", ""), ("no-such-package>=3", ""), ("numpy<1; extra == 'old'", ""),
    ],
)  # fmt: skip
def test_a_plugin_that_needs_other_versions_is_broken(toys, install, requires, said):
    registry = install(Point("p", toys.Plugin, "d", [requires]))
    assert said in registry.broken.get("p", "")
    assert ("power" in registry.solvers) == (not said)
