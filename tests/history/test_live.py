"""Real environments and processes: a plugin whose commits are built, run and timed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from tests.compare.conftest import BACKEND, PROJECT, git

WRITTEN = Path(__file__).parents[1] / "third_party_plugin/src/orthobench_minibatch_oja/solver.py"
SOLVER = (
    WRITTEN.read_text(encoding="utf-8").replace('"minibatch-oja"', '"toy"')
    + """
from orthobench.contract import hookimpl


@hookimpl
def orthobench_solvers():
    return [MinibatchOja]
"""
)

SUITE = """
seeds = 2
budget = { samples = 400 }
[[problem]]
name = "spiked-covariance"
n = 20
k = 2
[[solver]]
name = "toy"
"""


@pytest.mark.wide
def test_a_plugin_over_its_commits(tmp_path, monkeypatch):
    root = tmp_path / "plugin"
    root.mkdir()
    git(root, "init", "-q")
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "backend.py").write_text(BACKEND)
    (root / "gate.toml").write_text(SUITE)
    worse = SOLVER.replace("orthonormalize(state.U + eta", "orthonormalize(state.U + 1e-3 * eta")
    for subject, text in (
        ("begin", SOLVER),
        ("words", SOLVER.replace("Take one mini-batch.", "Take a batch.")),
        ("worse", worse),
        ("broken", worse.replace("    parameter,", "    nothing,")),
        ("more flops", worse.replace("state.work.flops += 4", "state.work.flops += 8")),
    ):
        (root / "toy_solver.py").write_text(text)
        git(root, "add", ".")
        git(root, "commit", "-qm", subject)
    monkeypatch.chdir(root)

    def call(*words):
        done = CliRunner().invoke(main, ["history", *words, "--suite", "gate.toml", "-q"])
        assert done.exit_code == 0, done.output + str(done.exception)
        return done.stdout

    found = json.loads(call("HEAD~4..HEAD", "--json"))
    assert found["runs"] == 6
    assert [bool(one["failed"]) for one in found["commits"]] == [False, False, False, True, False]
    steps = {(s["subject"], s["question"], s["change"]) for s in found["steps"]}
    assert ("worse", "result", "worse") in steps
    assert ("more flops", "work", "worse") in steps
    assert {subject for subject, *_ in steps} == {"worse", "more flops"}
    assert (root / "orthobench-results" / "gate-history" / "index.html").is_file()
    said = call("HEAD~4..HEAD")
    assert "0 of 8 cells run now" in said
    assert "worse" in said


def test_a_folder_without_a_repository_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["history", "HEAD~3..HEAD"])
    assert done.exit_code == 2
    assert "no commits" in done.stderr
    assert not list(tmp_path.iterdir())
