"""The hooks of the page about other tools: a tracker gets what the store has."""

import sys
from pathlib import Path

import pytest
from fences import texts

import orthobench as ob
from orthobench.tools.collections import grouped

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "other-tools.md"
RUN = {
    "problems": ["digits k=2"], "solvers": ["oja step=1", "incremental-pca"], "seeds": 2,
    "budget": ob.Budget(samples=60), "executor": "inline", "quiet": True,
}  # fmt: skip


def hook(name):
    """Return the function of the page that has this name."""
    names = {}
    (code,) = (text for text in texts(PAGE, "text") if text.startswith(f"# {name}.py"))
    exec(code, names)  # noqa: S102 - the page's own code
    return names[name]


def test_hook_of_a_run_gets_each_stored_checkpoint(tmp_path):
    seen = []

    def keep(run, point):
        seen.append((run.label, point))

    results = ob.run(**RUN, store=tmp_path / "s.sqlite", on_point=keep)
    stored = {run.label: tuple(run.trace) for run in results.records}
    assert len(stored) == 4
    for label, own in grouped(seen, lambda pair: pair[0]).items():
        assert [p.metrics for _, p in own] == [p.metrics for p in stored.pop(label)]
    assert not stored
    ob.run(**RUN, store=tmp_path / "s.sqlite", on_point=lambda *_: pytest.fail("it is there"))


def test_hook_of_solve_gets_the_judged_curve():
    seen = []
    outcome = ob.solve(
        "oja", "digits k=2", ob.Budget(samples=60), on_point=lambda run, point: seen.append(point)
    )
    assert [point.metrics for point in seen] == [point.metrics for point in outcome.trace]
    assert len(seen) > 2


def test_hook_of_wandb_logs_every_checkpoint_offline(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.chdir(tmp_path)
    to_wandb = hook("to_wandb")
    results = ob.run(**RUN, store=tmp_path / "s.sqlite", on_point=to_wandb)
    started = to_wandb.__globals__["started"]
    for run in results.records:
        started[run.label].log({"ended": True})  # the row before is complete only then
        assert started[run.label].summary["suboptimality"] == run.trace[-1].metrics["suboptimality"]
        started[run.label].finish()
    assert len([*tmp_path.glob("wandb/offline-run-*/*.wandb")]) == 4


def test_hook_of_mlflow_logs_every_checkpoint_in_a_file(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    to_mlflow = hook("to_mlflow")
    results = ob.run(**RUN, store=tmp_path / "s.sqlite", on_point=to_mlflow)
    client, known = mlflow.MlflowClient(), to_mlflow.__globals__["known"]
    for run in results.records:
        history = client.get_metric_history(known[run.label], "suboptimality")
        values = {(one.step, one.value) for one in history}
        assert values == {(p.work.steps, p.metrics["suboptimality"]) for p in run.trace}
    assert sys.modules["mlflow"].active_run() is None
