"""The file of tiers: read, joined, refused; a result that changed loses its tier."""

import json

import pytest

from orthobench import api
from orthobench.errors import DataError
from orthobench.registry.suite_file import from_table
from orthobench.results import tiers
from orthobench.results.tiers import ALL, RECOMPUTED, REPORTED, TIMED, WITHDRAWN, Tier, Tiers

KEYS = ("a" * 64, "b" * 64, "c" * 64)


def test_a_tier_belongs_to_a_result_and_a_withdrawal_to_its_cell():
    known = Tiers({KEYS[0]: "1", KEYS[1]: "2"}, {KEYS[1]: "2"}, {KEYS[2]: "a bug"})
    assert known.of(KEYS[0], "1") == Tier(RECOMPUTED)
    assert known.of(KEYS[0], "changed") == Tier(REPORTED)
    assert known.of(KEYS[1], "2") == Tier(TIMED)
    assert known.of(KEYS[2], "any") == Tier(WITHDRAWN, "a bug")
    assert known.of("d" * 64, "1") == Tier(REPORTED)


def test_a_whole_store_can_be_withdrawn_and_nothing_is_deleted():
    known = Tiers(recomputed={KEYS[0]: "1"}, withdrawn={ALL: "the author's wish"})
    assert known.of(KEYS[0], "1") == Tier(WITHDRAWN, "the author's wish")
    assert known.recomputed == {KEYS[0]: "1"}


def test_what_is_found_later_is_added(tmp_path):
    path = tmp_path / "store.tiers.json"
    first, second = Tiers({KEYS[0]: "1"}, {}, {ALL: "x"}), Tiers({KEYS[1]: "2"}, {KEYS[1]: "2"})
    tiers.write(first | second, path)
    assert tiers.read(path) == Tiers({KEYS[0]: "1", KEYS[1]: "2"}, {KEYS[1]: "2"}, {ALL: "x"})


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "another"}', "[" * 10**5, "\0", '{"format": "orthobench tiers 2"}']
    + [json.dumps({"format": tiers.FORMAT, "timed": value}) for value in ([], "x", {"a": 1})],
)
def test_another_file_is_refused_in_a_line(tmp_path, text):
    path = tmp_path / "tiers.json"
    path.write_text(text)
    with pytest.raises(DataError, match="is no file of tiers") as refused:
        tiers.read(path)
    assert len(str(refused.value).splitlines()) == 1


def test_the_tiers_of_a_store_are_beside_it_and_need_not_be(toys, tmp_path):
    suite = {"seeds": 2, "budget": {"steps": 5}, "problem": [{"name": "leading-subspace"}],
             "solver": [{"name": "power"}]}  # fmt: skip
    path = tmp_path / "results.sqlite"
    results = api.run(from_table(suite, "toys", toys.registry), path, executor="inline", quiet=True)
    first, second = (record.key for record in results.records)
    assert tiers.graded(path) == {first: Tier(REPORTED), second: Tier(REPORTED)}
    with tiers.Store(path) as store:
        known = store.checksums()
    tiers.write(Tiers({first: known[first], second: "another"}), tiers.beside(path))
    assert tiers.beside(path).name == "results.sqlite.tiers.json"
    assert tiers.graded(path) == {first: Tier(RECOMPUTED), second: Tier(REPORTED)}
