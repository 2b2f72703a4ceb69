"""No worker imports a file of the current folder instead of a module."""

import sys
from pathlib import Path

import pytest

from orthobench.compare.cells import SideProcess
from orthobench.compare.options import Options
from orthobench.compare.sides import Side, sides
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limits, local
from orthobench.harness.stopping import Budget, RunStatus

PLANTED = ("json", "pickle", "struct", "signal", "numpy", "orthobench")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """The current folder, in which modules have the names of those that workers import."""
    for name in PLANTED:
        text = f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\n"
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not (tmp_path / "imported").exists()


def endings(events):
    return [event.outcome.stop.status for event in events if event.outcome]


def test_by_the_local_executor(planted, faults):
    cell = Cell(faults.Cloud(), faults.Sound(), 0, Budget(samples=100))
    assert endings(local.run([cell])) == [RunStatus.BUDGET]


@pytest.mark.wide
def test_by_dask(planted, faults):
    pytest.importorskip("distributed")
    from orthobench_clusters import executor as dask

    cell = Cell(faults.Cloud(), faults.Sound(), 0, Budget(samples=100))
    try:
        assert dask._alone(cell, 1, Limits()).stop.status is RunStatus.BUDGET
    finally:
        dask._idle.pop().close()


@pytest.mark.wide
def test_by_a_comparison(planted, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(planted))
    with sides(sys.executable, sys.executable, here=planted) as (base, _):
        assert base.python == Path(sys.executable)
    with SideProcess(Side("BASE", "environment", "", base.python), Options()) as process:
        assert "[[problem]]" in process.ask("suite", name="quickstart", distributions=())["text"]


def test_solver_of_the_current_folder_is_found(planted, faults, monkeypatch):
    """As of a module beside a script or in the folder of a notebook, which is first on its path."""
    (planted / "my_own_solver.py").write_text(
        "from dataclasses import dataclass\n"
        "from orthobench_faults import Sound\n\n\n"
        "@dataclass(frozen=True)\n"
        "class Own(Sound):\n"
        "    name = 'own'\n"
    )
    monkeypatch.syspath_prepend("")
    import my_own_solver

    cell = Cell(faults.Cloud(), my_own_solver.Own(), 0, Budget(samples=100))
    assert endings(local.run([cell])) == [RunStatus.BUDGET]
