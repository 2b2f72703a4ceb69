"""Submissions: what is packed comes back, and archives that a stranger made are refused."""

import io
import json
import sqlite3
import stat
import struct
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import pytest

from orthobench import api
from orthobench.errors import StoreError, UsageError
from orthobench.registry.suite_file import from_table
from orthobench.results import submissions, tiers
from orthobench.results.store import Store
from orthobench.results.submissions import FACTS, FILE

SUITE = {
    "seeds": 2, "budget": {"steps": 5}, "problem": [{"name": "leading-subspace"}],
    "solver": [{"name": "power", "fault": ["none", "raise"]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def store(toys, tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "results.sqlite"
    api.run(from_table(SUITE, "toys", toys.registry), path, executor="inline", quiet=True)
    return path


@pytest.fixture
def entries(store, tmp_path):
    """The two entries of a sound submission."""
    submissions.pack(store, tmp_path / "sound.zip")
    with zipfile.ZipFile(tmp_path / "sound.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content(path):
    with Store(path) as opened:
        return [(one.key, one.checksum, one.stop, list(one.trace)) for one in opened.reported()]


def test_a_store_comes_back_as_it_was_with_what_one_needs_to_repeat_it(store, tmp_path):
    path = tmp_path / "mine.zip"
    before = store.read_bytes()
    packed = submissions.pack(store, path, "Ada", "first results")
    assert store.read_bytes() == before
    assert submissions.is_submission(path)
    assert not submissions.is_submission(store)
    with submissions.unpacked(path) as (found, facts):
        assert content(found) == content(store)
        assert facts == packed
        where = found
    assert not where.parent.exists()
    assert (facts.author, facts.note, facts.cells, facts.suites) == (
        "Ada", "first results", 4, ("toys",)
    )  # fmt: skip
    assert facts.versions["orthobench-toys"] == "1.0"
    assert facts.environment["blas"]


def test_tiers_that_are_beside_it_are_beside_its_store(store, tmp_path):
    path, known = tmp_path / "mine.zip", tiers.Tiers(withdrawn={tiers.ALL: "a bug"})
    submissions.pack(store, path)
    tiers.write(known, tiers.beside(path))
    with submissions.store_of(path) as (found, facts):
        assert facts.cells == 4
        assert {tier.reason for tier in tiers.graded(found).values()} == {"a bug"}
    with submissions.store_of(store.parent) as (found, facts):
        assert (found, facts) == (store, None)


def test_equal_stores_give_equal_files(store, tmp_path):
    for name in ("a.zip", "b.zip"):
        submissions.pack(store, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_an_anonymous_one_has_no_machine_no_folder_and_no_traceback(store, tmp_path):
    named = tmp_path / "named.sqlite"
    named.write_bytes(store.read_bytes())
    with closing(sqlite3.connect(named)) as connection:
        connection.execute("UPDATE session SET command = 'orthobench run /srv/ada/secret/s.toml'")
        connection.commit()
    secrets = (b"/srv/ada", Path(__file__).name.encode(), b"Traceback", b'"cpu"', b'"platform"')
    submissions.pack(named, tmp_path / "told.zip")
    submissions.pack(named, tmp_path / "mine.zip", anonymous=True)
    for name, there in (("told.zip", True), ("mine.zip", False)):
        with submissions.unpacked(tmp_path / name) as (found, facts):
            raw = found.read_bytes()
            assert ("cpu" in facts.environment) is there
            assert any(secret in raw for secret in secrets) is there
            kept = [(key, check) for key, check, *_ in content(found)]
            assert kept == [(key, check) for key, check, *_ in content(store)]


def test_texts_of_the_submitter_are_short_lines(store, tmp_path):
    for text in ("x" * 501, "two\nlines", "\x1b[31mred"):
        with pytest.raises(UsageError, match="one line"):
            submissions.pack(store, tmp_path / "mine.zip", author=text)
    assert not (tmp_path / "mine.zip").exists()


def test_a_store_without_results_is_not_packed(tmp_path):
    with Store(tmp_path / "empty.sqlite", write=True):
        pass
    with pytest.raises(UsageError, match="no finished cell"):
        submissions.pack(tmp_path / "empty.sqlite", tmp_path / "mine.zip")


def archive(parts, method=zipfile.ZIP_DEFLATED):
    """A zip archive of (name or ZipInfo, content)."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as file:
        for name, value in parts:
            file.writestr(name, value)
    return made.getvalue()


def linked(name):
    about = zipfile.ZipInfo(name)
    about.external_attr = (stat.S_IFLNK | 0o777) << 16
    return about


def commented(name):
    about = zipfile.ZipInfo(name)
    about.comment = bytes(1024)
    return about


def facts_with(entries, **changes):
    return json.dumps({**json.loads(entries[FACTS]), **changes}).encode()


def sixty_four(sound):
    """An end of 64-bit sizes before the real one: Python would follow it."""
    head, end = sound[:-22], sound[-22:]
    size, offset = struct.unpack("<II", end[12:20])
    record = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, size, offset)
    return head + record + struct.pack("<4sIQI", b"PK\6\7", 0, len(head), 1) + end


FORGED = {
    "another entry": lambda e: archive([*e.items(), ("more.txt", b"x")]),
    "one entry": lambda e: archive([(FACTS, e[FACTS])]),
    "the same entry twice": lambda e: archive(
        [(FACTS, e[FACTS]), ("submission.jsom", b"")]
    ).replace(b".jsom", b".json"),
    "a way out": lambda e: archive([(FACTS, e[FACTS]), (f"../{FILE}", e[FILE])]),
    "an absolute name": lambda e: archive([(FACTS, e[FACTS]), (f"/tmp/{FILE}", e[FILE])]),  # noqa: S108
    "another compression": lambda e: archive(e.items(), zipfile.ZIP_LZMA),
    "a bomb": lambda e: archive([(FACTS, bytes(2**22)), (FILE, e[FILE])]),
    "another store": lambda e: archive([(FACTS, e[FACTS]), (FILE, e[FILE] + b"x")]),
    "another format": lambda e: archive([(FACTS, facts_with(e, format="2")), (FILE, e[FILE])]),
    "a long note": lambda e: archive([(FACTS, facts_with(e, note="x" * 999)), (FILE, e[FILE])]),
    "control codes": lambda e: archive([(FACTS, facts_with(e, author="\x1b[2J")), (FILE, e[FILE])]),
    "unknown facts": lambda e: archive([(FACTS, facts_with(e, more=1)), (FILE, e[FILE])]),
    "suites that are none": lambda e: archive([(FACTS, facts_with(e, suites=3)), (FILE, e[FILE])]),
    "deep facts": lambda e: archive([(FACTS, b"[" * 10**5), (FILE, e[FILE])]),
    "64-bit sizes": lambda e: sixty_four(archive(e.items())),
    "a comment": lambda e: archive(e.items())[:-2] + b"\5\0hello",
    "a long directory": lambda e: archive([(commented(FACTS), e[FACTS]), (FILE, e[FILE])]),
    "cut": lambda e: archive(e.items())[:-9],
    "not all of it": lambda e: archive(e.items())[5000:],
    "nothing": lambda _: b"",
    "no archive": lambda _: b"PK\3\4" + bytes(99),
}


@pytest.mark.parametrize("name", FORGED)
def test_archives_of_anything_else_are_refused_in_a_line(name, entries, tmp_path):
    path = tmp_path / "theirs.zip"
    path.write_bytes(FORGED[name](entries))
    with pytest.raises(StoreError) as refused:
        submissions.read(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_an_entry_that_says_that_it_is_a_link_is_read_as_a_file(entries, tmp_path):
    path = tmp_path / "theirs.zip"
    path.write_bytes(archive([(FACTS, entries[FACTS]), (linked(FILE), entries[FILE])]))
    with submissions.unpacked(path) as (found, _):
        assert not found.is_symlink()
        assert found.read_bytes() == entries[FILE]


def test_no_more_is_unpacked_than_a_store_may_have(entries, tmp_path, monkeypatch):
    path = tmp_path / "theirs.zip"
    path.write_bytes(archive(entries.items()))
    monkeypatch.setattr(submissions, "LARGEST_STORE", 1000)
    with pytest.raises(StoreError, match="more than 1000 bytes"):
        submissions.read(path)
    monkeypatch.setattr(submissions, "LARGEST", 1000)
    with pytest.raises(StoreError, match="at most 1000"):
        submissions.read(path)


@pytest.mark.parametrize("at", range(0, 100, 7))
def test_flipped_bytes_are_refused_or_change_nothing(entries, tmp_path, at):
    sound = archive(entries.items())
    changed = bytearray(sound)
    changed[at * len(sound) // 100] ^= 0x41
    path = tmp_path / "theirs.zip"
    path.write_bytes(changed)
    with suppress(StoreError):
        assert submissions.read(path)[1] == entries[FILE]
