"""A call with nothing to do looks at files alone, unless any of what decided has changed."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from orthobench.cli import again
from orthobench.tools import files_read

DRIVER = """
import sys
from orthobench.tools import files_read
files_read.YOUNG = -3600  # as if the files of the test were old
from orthobench.cli.main import main
try:
    main(sys.argv[1:])
finally:
    from orthobench.registry.plugins import catalogue
    print("plugins" if catalogue.cache_info().currsize else "files", file=sys.stderr)
"""

PLUGIN = """
from orthobench.contract import hookimpl
from toy.methods import {solver}, Numbers

@hookimpl
def orthobench_solvers():
    return [{solver}]

@hookimpl
def orthobench_problems():
    return [Numbers]
"""

METHODS = """
import subprocess
from dataclasses import dataclass
import numpy as np
from orthobench.contract import Instance, Oracle, Problem, Solution, Solver, State, parameter

class Size(Oracle):
    def __init__(self):
        self.n, self.k = 3, 1

@dataclass(frozen=True)
class Numbers(Problem[Size]):
    name = "numbers"
    family = "toys"
    offers = Size
    primary = tuned_by = "first"
    k: int = parameter(1, help="columns")

    def build(self, rng):
        return Instance(Size(), lambda solution: {"first": 2 + float(solution.point[0, 0])})

    def checksum(self):  # Python does not see which file it reads
        return subprocess.run(["cat", "data.txt"], capture_output=True, check=True).stdout.decode()

@dataclass(frozen=True)
class Still(Solver[Size, State]):
    name = "still"

    def init(self, oracle, rng):
        return State()

    def step(self, oracle, state):
        state.work.steps += 1

    def solution(self, state):
        return Solution(np.eye(3)[:, :1])
"""

SUITE = """
seeds = 2
[budget]
steps = 2
[[problem]]
name = "numbers"
[[solver]]
name = "still"
"""


@pytest.fixture
def home(tmp_path):
    """A folder with a plugin, a suite and data."""
    (tmp_path / "site" / "toy").mkdir(parents=True)
    (tmp_path / "site" / "toy" / "__init__.py").write_text(PLUGIN.format(solver="Still"))
    (tmp_path / "site" / "toy" / "methods.py").write_text(METHODS)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "data.txt").write_text("data")
    (tmp_path / "work" / "toys.toml").write_text(SUITE)
    install(tmp_path, "toy")
    return tmp_path


def install(home, name):
    info = home / "site" / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[orthobench]\n{name} = toy\n")


@pytest.fixture
def call(home):
    """Call the command line in a process of its own; return what it printed, and what decided."""

    def called(*words, **variables):
        done = subprocess.run(
            [sys.executable, "-P", "-c", DRIVER, "run", "toys.toml", "-q", "--no-figures",
             "--executor", "inline", *words],
            capture_output=True, text=True, cwd=home / "work", check=False,
            env=os.environ | {
                "PYTHONPATH": os.pathsep.join([str(home / "site"), *sys.path]),
                "XDG_CACHE_HOME": str(home / "cache"), "ORTHOBENCH_PLUGINS": "toy", **variables,
            },
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return SimpleNamespace(out=done.stdout, decided=done.stderr.splitlines()[-1])

    return called


def test_a_second_call_loads_no_plugin_and_prints_the_same(call, home):
    first = call()
    second = call()
    assert (first.decided, second.decided) == ("plugins", "files")
    assert "numbers" in first.out
    assert second.out == first.out
    methods = home / "site" / "toy" / "methods.py"
    methods.write_text(METHODS.replace("np.eye(3)[:, :1]", "np.eye(3)[:, 1:2]"))
    third = call()
    assert third.decided == "plugins"
    assert third.out != first.out


def edit_the_suite(home):
    (home / "work" / "toys.toml").write_text(SUITE.replace("steps = 2", "steps = 3"))


def edit_what_is_imported_only_to_be_digested(home):
    (home / "site" / "toy" / "methods.py").write_text(METHODS + "\nfrom toy import more\n")
    (home / "site" / "toy" / "more.py").write_text("")


def change_the_data(home):
    (home / "work" / "data.txt").write_text("more")


def install_a_plugin(home):
    install(home, "other")


def upgrade_the_plugin(home):
    metadata = home / "site" / "toy-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))


def remove_a_result(home):
    script = (
        "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as c:\n"
        " [c.execute(f'DELETE FROM {t} WHERE cell = (SELECT min(cell) FROM result)')"
        " for t in ('trace', 'exhibit', 'result')]"
    )
    store = home / "work" / "orthobench-results" / "toys" / "results.sqlite"
    subprocess.run([sys.executable, "-c", script, str(store)], check=True)


def remove_the_store(home):
    (home / "work" / "orthobench-results" / "toys" / "results.sqlite").unlink()


def damage_what_is_remembered(home):
    for file in (home / "cache" / "orthobench" / "calls").iterdir():
        file.write_text(file.read_text()[:-20])


CHANGES = (
    edit_the_suite, edit_what_is_imported_only_to_be_digested, change_the_data, install_a_plugin,
    upgrade_the_plugin, remove_a_result, remove_the_store, damage_what_is_remembered,
)  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_found_out_and_remembered(call, home, change):
    call()
    assert call().decided == "files"
    change(home)
    assert call().decided == "plugins"
    assert call().decided == "files"


@pytest.mark.wide
def test_other_calls_are_other_calls(call):
    call()
    assert call("--json").decided == "files"
    assert call("--only", "*").decided == "plugins"
    assert call("--store", "other.sqlite").decided == "plugins"
    assert call("--retry").decided == "plugins"
    assert call("--dry-run").decided == "plugins"
    assert call(ORTHOBENCH_PLUGINS="toy,").decided == "plugins"


@pytest.fixture
def remembered(tmp_path, monkeypatch):
    """A call of which something is remembered."""
    monkeypatch.setattr("orthobench.tools.threads.blas_libraries", lambda: ("a BLAS",))
    known = {"store": str(tmp_path / "store"), "read": {}, "data": [], "facts": ["a BLAS"]}
    (tmp_path / "store").touch()
    again._write(tmp_path / "calls" / "one.json", known)
    return tmp_path / "calls" / "one.json"


def test_another_blas_is_found_out(remembered, monkeypatch):
    assert again.Call._known(remembered)
    monkeypatch.setattr("orthobench.tools.threads.blas_libraries", lambda: ("another",))
    assert not again.Call._known(remembered)


def test_the_oldest_calls_are_forgotten(remembered, monkeypatch):
    folder = remembered.parent
    for number in range(again.MOST):
        os.utime(remembered, (0, 0))
        again._write(folder / f"{number}.json", {})
    assert len(list(folder.iterdir())) == again.MOST
    assert not remembered.exists()


def test_a_process_that_loaded_plugins_before_remembers_nothing():
    options = {"retry": False, "explain": False, "dry_run": False}
    assert "orthobench.registry.plugins" in sys.modules
    assert again.Call.of(options).results() is None
    assert not files_read._listener or not files_read._listener.listens
