"""The commands `verify` and `submit`, on real cells of milliseconds."""

import json
import shutil

import edited_stores as edit
import pytest
from click.testing import CliRunner

from orthobench import api
from orthobench.cli.main import main
from orthobench.harness.executors import inline
from orthobench.results import tiers
from orthobench.results.store import Store
from orthobench.verify import computing

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
    monkeypatch.setattr(computing.local, "run", lambda cells, *_: inline.run(cells))


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + str(result.exception)
    return result.stdout


def falsify(store):
    with Store(store) as opened:
        cell = opened.reported()[0]
    edit.rewritten(store, cell.key, edit.metric("suboptimality", 0.999))
    return cell


def test_a_share_is_computed_again_in_processes_of_its_own(store):
    said = call("verify", store, "--share", 0.3, "-w", 1)
    assert said.splitlines() == [
        "6 cells, of which 6 can be computed here; 2 drawn (share 0.3, seed 0)",
        "2 cells came out again: 2 bit for bit, 0 within tolerance",
        "a draw finds edits of so many cells with probability 1: 33.3 %",
    ]


def test_progress_is_told_while_it_works(store, inline_only):
    result = CliRunner().invoke(main, ["verify", str(store), "--share", "1"])
    assert "6/6 cells" in result.stderr


def test_an_edited_store_fails_with_the_list_and_is_not_written(store, inline_only):
    cell = falsify(store)
    before = store.read_bytes()
    said = call("verify", store.parent, "--share", 1, code=1)
    assert f"  {cell.label}: suboptimality at step 60: stored 0." in said
    facts = json.loads(call("verify", store, "--share", 1, "--json", code=1))
    assert (facts["verified"], facts["cells"], facts["drawn"]) == (False, 6, 6)
    (told,) = facts["mismatches"]
    assert (told["key"], told["metric"], told["step"]) == (cell.key, "suboptimality", 60)
    assert told["stored"] == 0.999 * told["recomputed"]
    assert store.read_bytes() == before


def test_where_nothing_can_be_checked_it_is_not_said_to_be_verified(store):
    edit.described(store, "settings", lambda value: value.update(data="0" * 64))
    said = call("verify", store, code=2)
    assert "6 cells not checked:" in said
    assert json.loads(call("verify", store, "--json", code=2))["verified"] is False


def test_results_of_other_code_are_computed_again_and_only_what_came_out_is_recorded(
    store, inline_only
):
    edit.described(store, "settings", lambda value: value["code"].update(orthobench="0" * 16))
    told = call("verify", store, "--share", 1)
    assert "\n  6 cells although their code is another here: orthobench (6)\n" in told
    with Store(store) as opened:
        keys = [one.key for one in opened.reported()]
    for key in keys[1:]:
        edit.rewritten(store, key, edit.metric("suboptimality", 0.999))
    record = tiers.beside(store)
    facts = json.loads(call("verify", store, "--share", 1, "--json", "--record", record))
    assert facts["other_code"] == {keys[0]: ["orthobench"]}
    assert list(tiers.read(record).recomputed) == keys[:1]
    edit.rewritten(store, keys[0], edit.metric("suboptimality", 0.999))
    said = call("verify", store, "--share", 1, "--record", record, code=2)
    assert "its code is another here (orthobench), and comes out otherwise" in said
    assert "probability" not in said
    assert {one.name for one in tiers.graded(store).values()} == {"reported"}


def test_what_was_found_is_recorded_and_added_to_what_was_known(store, inline_only):
    record = tiers.beside(store)
    tiers.write(tiers.Tiers(withdrawn={"0" * 64: "kept"}), record)
    for seed in range(3):
        call("verify", store, "--share", 0.3, "--seed", seed, "--record", record)
    found = tiers.read(record)
    assert 2 < len(found.recomputed) <= 6
    assert (found.timed, found.withdrawn) == ({}, {"0" * 64: "kept"})
    cell = falsify(store)
    call("verify", store, "--share", 1, "--record", record, "--reference", code=1)
    names = [tier.name for tier in tiers.graded(store).values()]
    assert sorted(names) == ["timed"] * 5 + ["withdrawn"]
    assert "suboptimality" in tiers.graded(store)[cell.key].reason


def test_the_reference_machine_has_to_be_the_one_that_measured(store, inline_only):
    with Store(store, write=True) as opened:
        opened._connection.execute(
            "UPDATE session SET environment = json_set(environment, '$.cpu', 'Z80')"
        )
    before = set(store.parent.iterdir())
    call("verify", store, "--record", "tiers.json", "--reference", code=2)
    assert set(store.parent.iterdir()) == before
    call("verify", store, "--reference", code=2)


def test_a_submission_is_verified_as_its_store_is(store, inline_only, tmp_path):
    said = call("submit", store.parent, "--out", "mine.zip", "--author", "Ada", "--note", "hello")
    assert said.splitlines()[0].startswith("6 cells of suite, ")
    assert "6 cells came out again: 6 bit for bit" in call("verify", "mine.zip", "--share", 1)
    assert json.loads(call("submit", store, "-o", "mine.zip", "--json"))["cells"] == 6
    falsify(store)
    call("submit", store, "--out", "false.zip")
    call("verify", "false.zip", "--share", 1, code=1)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"results.sqlite", "mine.zip", "false.zip"}


def test_an_anonymous_submission_is_verified_within_a_tolerance(store, inline_only):
    call("submit", store, "--out", "mine.zip", "--anonymous")
    said = call("verify", "mine.zip", "--share", 1)
    assert "6 cells came out again: 0 bit for bit, 6 within tolerance" in said
    assert "processor not told there" in said


def test_a_submission_that_is_none_is_refused_in_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.zip").write_bytes(b"PK\3\4 and more")
    result = CliRunner().invoke(main, ["verify", "theirs.zip"])
    assert result.exit_code == 2
    assert result.stderr.startswith("orthobench: theirs.zip is no submission (")
    assert len(result.stderr.splitlines()) == 1


def test_other_commands_complete_and_explain_them():
    from orthobench.cli.verifying import submit, verify

    assert main.commands["verify"] is verify
    assert main.commands["submit"] is submit
    assert "orthobench verify STORE --share 1" in call("verify", "--help")
    assert "orthobench verify mine.zip" in call("submit", "--help")
