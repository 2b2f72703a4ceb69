"""The command `verify`, on real cells of milliseconds."""

import json
import re
import shutil

import edited_stores as edit
import pytest
from click.testing import CliRunner
from commands import typed

from orthobench import api
from orthobench.cli.main import main
from orthobench.harness.executors import run_inline
from orthobench.results.store import Store
from orthobench.verify import check
from orthobench.verify.check import called

SUITE = {
    "seeds": 2, "budget": {"samples": 60}, "problem": [{"name": "spiked-covariance", "n": 12}],
    "solver": [{"name": "oja", "step": [0.5, 2]}, {"name": "ccipca"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "results.sqlite"
    api.run(SUITE, path, executor="inline", quiet=True)
    return path


@pytest.fixture
def store(original, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copy(original, tmp_path / "results.sqlite")


@pytest.fixture
def inline_only(monkeypatch):
    monkeypatch.setattr(check.local, "run", lambda cells, *_: run_inline(cells))


def call(*words, code=0):
    return typed(*words, code=code).stdout


def falsify(store):
    with Store(store) as opened:
        cell = next(opened.runs())
    edit.rewritten(store, cell.key, edit.metric("suboptimality", 0.999))
    return cell


@pytest.mark.wide
def test_a_share_is_computed_again_in_processes_of_its_own(store):
    said = call("verify", store, "--share", 0.3, "-w", 1)
    drawn, again, _ = (re.findall(r"[\d.]+", line) for line in said.splitlines())
    assert drawn == ["6", "6", "2", "0.3", "0"]
    assert again == ["2", "2", "0"]


def test_progress_is_told_while_it_works(store, inline_only):
    result = CliRunner().invoke(main, ["verify", str(store), "--share", "1"])
    assert "6/6 cells" in result.stderr
    assert "failed" not in result.stderr


def test_an_edited_store_fails_with_the_list_and_is_not_written(store, inline_only):
    cell = falsify(store)
    before = store.read_bytes()
    said = call("verify", store.parent, "--share", 1, code=1)
    assert f"  {called(cell)}: suboptimality at step 60: stored 0." in said
    facts = json.loads(call("verify", store, "--share", 1, "--json", code=1))
    assert (facts["verified"], facts["cells"], facts["drawn"]) == (False, 6, 6)
    (told,) = facts["mismatches"]
    assert (told["key"], told["metric"], told["step"]) == (cell.key, "suboptimality", 60)
    assert told["stored"] == 0.999 * told["recomputed"]
    assert store.read_bytes() == before


def test_a_store_without_checkable_cells_is_not_verified(store):
    edit.described(store, "settings", lambda value: value.update(data="0" * 64))
    said = call("verify", store, code=2)
    assert "cell not checked, such as " in said
    assert json.loads(call("verify", store, "--json", code=2))["verified"] is False
