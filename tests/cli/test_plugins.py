"""`orthobench plugin new` and `check` as users call them."""

import json
from dataclasses import dataclass
from functools import partial

import pytest
from click.testing import CliRunner
from commands import typed

from orthobench.cli.main import main
from orthobench.testing.cases import Case, facts
from orthobench.testing.check import CheckStatus, Result


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partial(typed, "plugin", "new")


def test_it_says_what_to_type_next(call, tmp_path):
    said = call("orthobench-toy", "--folder", "my plugins/toy").stdout
    assert (tmp_path / "my plugins/toy/src/orthobench_toy/solver.py").is_file()
    assert [line.strip() for line in said.splitlines() if line.startswith("    ")] == [
        "cd 'my plugins/toy'",
        "python -m pip install -e '.[test]'",
        "pytest",
        "orthobench plugin check toy",
        "orthobench show toy",
        "orthobench run toy-comparison",
    ]


def test_a_port_without_its_plugin_is_an_error(call, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert "ports no benchmarks" in call("--from-benchopt", str(tmp_path), code=1).stderr


def test_a_gate_is_added_to_the_project_in_the_folder(call, tmp_path):
    assert "orthobench plugin new NAME" in call(code=2).stderr
    assert "no pyproject.toml" in call("--ci", "github", code=2).stderr
    assert not list(tmp_path.iterdir())
    (tmp_path / "pyproject.toml").touch()
    said = call("--ci", "github").stdout
    assert (tmp_path / ".github" / "workflows" / "gate.yml").is_file()
    assert ".github/workflows/gate.yml" in said
    assert "gate.toml" in said


def test_a_second_call_changes_nothing(call, tmp_path):
    call("orthobench-toy")
    file = tmp_path / "orthobench-toy" / "README.md"
    file.write_text("mine")
    assert "orthobench-toy exists already" in call("orthobench-toy", code=2).stderr
    assert file.read_text() == "mine"


CASES = [
    ("solver", "mine", "steps", CheckStatus.PASSED, ""),
    ("solver", "mine", "flops", CheckStatus.FAILED, "it counts none"),
    ("solver", "mine", "bits", CheckStatus.FAILED, "it counts none"),
    ("solver", "mine", "place", CheckStatus.NOT_CHECKABLE, "there is no example"),
    ("problem", "mine", "judge", CheckStatus.PASSED, ""),
]


@dataclass(frozen=True)
class Says:
    """A check that gives a result whatever it is shown."""

    name: str
    status: CheckStatus
    message: str
    requirement: str = "it is so"

    def result(self, *subject):
        return Result(self.name, self.status, self.message)


@pytest.fixture
def check(monkeypatch):
    """Call the command on a plugin with these results, and what it was asked for."""
    asked = []

    def called(*words, results=CASES):
        def found(given, limit):
            asked.append(given.item)
            for kind, name, check, status, message in results:
                says = Says(check, status, message)
                yield facts(Case(kind, name, says, tuple), says.result())

        monkeypatch.setattr("orthobench.testing.in_child.checked", found)
        return CliRunner().invoke(main, ["plugin", "check", *words])

    called.asked = asked
    return called


def test_each_failed_check_is_said_once_with_its_reason(check):
    done = check("mine")
    assert done.stdout.splitlines() == [
        "mine (solver): 1 of 4 checks pass",
        "    flops, bits: FAILED: it counts none",
        "    place: not checkable: there is no example",
        "mine (problem): 1 of 1 checks pass",
        "5 checks: 2 pass, 2 fail, 1 not checkable",
        "next: mend these in their order, and check again",
    ]
    assert done.exit_code == 1
    assert check.asked == ["mine"]


def test_a_plugin_without_a_failed_check_passes(check):
    done = check("mine", results=[CASES[0], CASES[3]])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-2:] == [
        "2 checks: 1 pass, 0 fail, 1 not checkable",
        "next: orthobench run -p PROBLEM -s SOLVER compares it with others",
    ]


def test_a_solver_that_nothing_could_check_does_not_pass(check):
    done = check("mine", results=[CASES[3]])
    assert done.exit_code == 1
    assert "PROBLEM" not in done.stdout.splitlines()[-1]


def test_checks_are_json(check):
    done = check("mine", "--json")
    assert [row["status"] for row in json.loads(done.stdout)] == [
        "passed", "failed", "failed", "not checkable", "passed",
    ]  # fmt: skip
    assert done.exit_code == 1
