"""The core knows no plugin, the command line stays light, and what is handed on is frozen."""

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import orthobench
from orthobench.contract.solver import State

CORE = Path(orthobench.__file__).parent
HEAVY = {"numba", "matplotlib", "sklearn", "scipy", "pandas", "pooch", "rdata"}


@cache
def tree(path):
    return ast.parse(path.read_text())


def imported(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_core_imports_no_plugin():
    modules = {name for path in CORE.rglob("*.py") for name in imported(path)}
    assert "orthobench.contract.solver" in modules
    assert not {name for name in modules if name.startswith("orthobench_")}


def test_the_command_line_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from orthobench.cli.main import main\n"
        "for words in (['--help'], ['run', '--help'], ['list'], ['show', 'msg']):\n"
        "    main(words, standalone_mode=False)\n"
        f"    print('HEAVY', sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if "HEAVY" in line] == 4 * ["HEAVY []"]


def frozen_of(path):
    for node in ast.walk(tree(path)):
        for decorator in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            name, _, arguments = ast.unparse(decorator).partition("(")
            if name == "dataclass":
                yield node.name, "frozen=True" in arguments


def test_dataclasses_are_frozen_but_for_what_grows():
    found = [pair for path in CORE.rglob("*.py") for pair in frozen_of(path)]
    assert {name for name, frozen in found if not frozen} == {
        "BoxState", "Commit", "Curve", "History", "Ratio", "Recording", "Registry",
        "RestartState", "Run", "State", "TimedCell", "Verification", "Work",
    }  # fmt: skip
    assert len(found) >= 100


@pytest.mark.parametrize("plugin", ["orthobench_givens", "orthobench_gpower"])
def test_states_take_no_attribute_that_is_not_declared(plugin):
    package = import_module(plugin)
    modules = [import_module(found.name) for found in walk_packages(package.__path__, f"{plugin}.")]
    states = {
        item
        for module in modules
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, State) and item.__module__ == module.__name__
    }
    assert states
    assert not [state.__name__ for state in states if state.__dictoffset__]
