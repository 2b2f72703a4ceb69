"""Comparisons of solvers that compute elsewhere than in NumPy; on a GPU if there is one."""

import sys
import tomllib
from pathlib import Path

import pytest
from gpu_places import marked

from orthobench.compare import run as comparing
from orthobench.compare.cells import SideCells, run_of
from orthobench.compare.options import Options, Question
from orthobench.compare.remote import worker as worker_module
from orthobench.compare.remote.worker import FORKS, Worker
from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Change
from orthobench.tools.places import place_of

from .conftest import UNTOLD

HERE = Side("BASE", "environment", "here", Path(sys.executable))

SUITE = """
seeds = 1
on = "PLACE"
budget = { samples = 400 }
[[problem]]
name = "spiked-covariance"
n = 40
[[solver]]
name = "batch-pca"
[[solver]]
name = "oja"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "on", marked("numpy/float32", "torch:cpu", "torch:cuda", "torch:cuda/float32")
)
def test_the_same_code_raises_no_alarm(tmp_path, on):
    if why := place_of(on).missing():
        pytest.skip(why)
    suite = tmp_path / "placed.toml"
    suite.write_text(SUITE.replace("PLACE", on))
    options = Options(suite, budget=5.0, clock="wall", every=True)
    found = comparing.compare(HERE, HERE, options, lambda _: None)
    assert {row.solver.split()[0] for row in found.rows} == {"batch-pca", "oja"}
    assert len(found.found(Change.SAME, Question.RESULT)) == 2
    assert len(found.found(Change.SAME, Question.WORK)) == 2
    assert not found.found(Change.WORSE, Question.TIME)


@pytest.mark.parametrize(("on", "copies"), [("numpy/float32", FORKS), ("array-api-strict", False)])
def test_only_processes_with_numpy_alone_go_on_in_copies(monkeypatch, on, copies):
    pytest.importorskip("array_api_strict")
    worker = Worker("cpu")
    plan = worker.plan(tomllib.loads(SUITE.replace("PLACE", on)), "placed", ())
    assert plan["absent"] == []
    (key, _), _ = worker.describe()["content"]
    monkeypatch.setattr(worker_module, "threaded", lambda: False)
    assert worker.copies is copies
    assert worker.run(key)["on"] == on


@pytest.mark.parametrize(("on", "clock", "said"), [
    ("torch:cuda", "cpu", "say nothing about a GPU: take --clock wall"),
    ("torch:cuda", "wall", None),
    ("torch:cpu", "cpu", None),
])  # fmt: skip
def test_processor_time_is_not_compared_on_a_gpu(monkeypatch, on, clock, said):
    key = ("p", "s", 0)
    reply = {"status": "budget", "reason": "", "primary": "gap", "on": on}
    reply["trace"] = [[0, 1, 2, 1.0], [3, 4, 5, 0.5]]
    side = Side("BASE", "folder", "here")
    runs = {key: run_of(key, reply)}
    cells = SideCells(side, {"name": "toys"}, {key: ""}, (), UNTOLD, runs=runs)
    monkeypatch.setattr(comparing, "collect", lambda *_: [cells, cells])
    monkeypatch.setattr(comparing.timing, "measure", lambda *_: 0)
    found = comparing.compare(side, side, Options(clock=clock), lambda _: None)
    (answer,) = (row.finding for row in found.rows if row.question is Question.TIME)
    assert (said in answer.explanation) if said else (answer.change is Change.UNDECIDED)
