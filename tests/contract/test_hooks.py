"""Plugins that declare themselves by their folders."""

import sys
from importlib.metadata import EntryPoint
from textwrap import dedent

import pytest

from orthobench.registry.plugins import Registry
from orthobench.testing import CheckStatus, cases

INIT = """
    from orthobench.contract import discovered

    orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
"""

BASES = """
    import numpy as np
    from dataclasses import dataclass
    from orthobench.contract import Instance, Oracle, Problem, Solution, Solver, State, Status

    class Point(Oracle):
        n = k = 1

    class Nameless(Solver[Point, State]):
        def init(self, oracle, rng):
            return State()
        def step(self, oracle, state):
            state.work.steps += 1
        def solution(self, state):
            return Solution(np.eye(1))
"""

FIRST = """
    from dataclasses import dataclass
    from found_plugin.bases import Nameless

    @dataclass(frozen=True)
    class Zebra(Nameless):
        name = "zebra"

    @dataclass(frozen=True)
    class Adder(Nameless):
        name = "adder"

    @dataclass(frozen=True)
    class _Hidden(Zebra):
        name = "hidden"

    Alias = Adder
"""

SECOND = """
    from dataclasses import dataclass
    from found_plugin.solvers.first import Adder, Zebra

    @dataclass(frozen=True)
    class Bee(Zebra):
        name = "bee"
"""

PROBLEM = """
    from dataclasses import dataclass
    from found_plugin.bases import Instance, Point, Problem

    class Base(Problem[Point]):
        family, offers, primary, tuned_by = "points", Point, "gap", "gap"

    @dataclass(frozen=True)
    class Origin(Base):
        name = "origin"
        def build(self, rng):
            return Instance(Point(), lambda solution: {"gap": 0.0})
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write files of the package ``found_plugin``; return the registry with it."""
    monkeypatch.syspath_prepend(tmp_path)

    def written(files):
        for name, text in {"__init__.py": INIT, "bases.py": BASES, **files}.items():
            path = tmp_path / "found_plugin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        point = EntryPoint("found", "found_plugin", "orthobench")
        monkeypatch.setattr("orthobench.registry.plugins.entry_points", lambda **_: (point,))
        return Registry.installed()

    yield written
    for name in [name for name in sys.modules if name.partition(".")[0] == "found_plugin"]:
        del sys.modules[name]


def test_folders_bring_named_classes_in_order_and_suites(package):
    registry = package({
        "solvers/first.py": FIRST, "solvers/second.py": SECOND, "solvers/_private.py": "1 / 0",
        "solvers/inner/third.py": SECOND.replace("Bee", "Cat").replace("bee", "cat"),
        "problems/__init__.py": "", "problems/points.py": PROBLEM,
        "suites/small.toml": "", "suites/note.txt": "",
    })  # fmt: skip
    assert not registry.broken
    assert list(registry.solvers) == ["zebra", "adder", "bee"]  # a folder needs an __init__.py
    assert list(registry.problems) == ["origin"]
    assert list(registry.suites) == ["small"]


def test_importing_the_package_imports_no_solver(package, monkeypatch):
    monkeypatch.setattr(Registry, "load", lambda self, point, plugin: point.load())
    package({"solvers/first.py": "raise SystemExit", "problems.py": "raise SystemExit"})
    assert "found_plugin" in sys.modules
    assert not [name for name in sys.modules if name.startswith("found_plugin.")]


def test_a_module_that_cannot_be_imported_breaks_only_itself(package, tmp_path):
    registry = package({
        "solvers/bad.py": "\nimport nonsense", "solvers/first.py": FIRST, "problems.py": "f(:"
    })  # fmt: skip
    assert list(registry.solvers) == ["zebra", "adder"]
    folder = tmp_path / "found_plugin"
    assert registry.broken == {
        "found_plugin.solvers.bad": "ModuleNotFoundError: No module named 'nonsense' "
        f"({folder / 'solvers' / 'bad.py'}, line 2)",
        "found_plugin.problems": f"SyntaxError: invalid syntax ({folder / 'problems.py'}, line 1)",
    }
    broken = {
        case.name: case.result()
        for case in cases.cases(cases.Asked("found"), registry)
        if case.kind == "module"
    }
    assert broken.keys() == registry.broken.keys()
    assert {result.status for result in broken.values()} == {CheckStatus.FAILED}
    assert "No module named 'nonsense'" in broken["found_plugin.solvers.bad"].message


def test_a_named_class_without_a_method_is_refused_and_not_left_out(package):
    registry = package({"solvers.py": PROBLEM.replace("(Base)", "(Solver[Point, State])").replace(
        "Problem", "Solver, State, Problem", 1).replace("build", "init")})  # fmt: skip
    assert not registry.solvers
    assert "Origin lacks the methods solution" in registry.broken["found"]
