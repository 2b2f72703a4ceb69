from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from orthobench.errors import UsageError
from orthobench.hookspecs import hookimpl
from orthobench.registry import Plugin, PluginError, Registry


class Point:
    """An entry point as importlib.metadata gives them."""

    def __init__(self, name, load, distribution="third-party"):
        self.name, self.load = name, load
        self.dist = SimpleNamespace(name=distribution, version="2.0")


def brings(*solvers):
    class Brings:
        @hookimpl
        def orthobench_solvers(self):
            return solvers

    return Brings()


@pytest.fixture
def install(monkeypatch):
    def installed(*points):
        monkeypatch.setattr("orthobench.registry.entry_points", lambda **_: points)
        return Registry.installed()

    return installed


def test_a_broken_plugin_leaves_the_rest_working(toys, install):
    def broken():
        raise ImportError("no module named nonsense")

    registry = install(Point("bad", broken), Point("good", toys.Plugin))
    assert list(registry.solvers) == ["power"]
    assert registry.broken == {"bad": "ImportError: no module named nonsense"}


def test_a_duplicate_name_names_both_parties_and_own_methods_stay(toys, install):
    registry = install(
        Point("aaa", toys.Plugin, "impostor"), Point("own", toys.Plugin, "orthobench")
    )
    assert registry.solvers["power"].plugin.distribution == "orthobench"
    assert "'power'" in registry.broken["aaa"]
    assert "impostor" in registry.broken["aaa"]
    assert "'own'" in registry.broken["aaa"]


def test_a_misspelt_hook_is_named_with_the_right_ones(install):
    class Misspelt:
        @hookimpl
        def orthobench_solver(self):
            return []

    registry = install(Point("typo", Misspelt))
    assert "orthobench_solver" in registry.broken["typo"]
    assert "orthobench_solvers" in registry.broken["typo"]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (42, "not a subclass of Solver"),
        (type("Plain", (), {}), "not a subclass of Solver"),
    ],
)
def test_what_is_no_solver_is_refused(item, said):
    with pytest.raises(PluginError, match=said):
        Registry().add(brings(item), Plugin("odd"))


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


def test_unknown_names_suggest_the_nearest(toys):
    with pytest.raises(UsageError, match="did you mean 'power'"):
        toys.registry.solver("pwoer")
    with pytest.raises(UsageError, match=r"parameter of solver power: 'stepp'.*'step'"):
        toys.registry.solver("power", {"stepp": 1.0})
