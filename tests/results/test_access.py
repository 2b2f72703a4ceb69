"""Stores that this user may not write, or only read, and files in the way of those beside them."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from cases import case

from orthobench import api
from orthobench.errors import OrthobenchError, StoreError
from orthobench.registry.suite_file import from_table
from orthobench.results import schema
from orthobench.results.store import Store

BESIDE = ("-wal", "-shm", "-journal", "-lock")


def killed(path):
    """Leave the files of a killed process: the last row is in the log, without an index."""
    whole = path.with_name("whole.sqlite")
    path.rename(whole)
    with closing(sqlite3.connect(whole)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE session SET command = 'from the log'")
        connection.commit()
        for end in ("", "-wal"):
            shutil.copy(f"{whole}{end}", f"{path}{end}")
    whole.unlink()


def forbid(monkeypatch, *forbidden):
    """Let the system say of some files and folders that they may not be written."""
    allowed = os.access

    def access(path, mode, **options):
        return allowed(path, mode, **options) and not (
            mode & os.W_OK and os.fspath(path) in map(os.fspath, forbidden)
        )

    monkeypatch.setattr(os, "access", access)


def test_a_refused_writer_leaves_no_file_that_keeps_the_owner_out(store, monkeypatch):
    log = store.with_name(f"{store.name}-wal")
    log.touch()
    for forbidden in (store, store.parent, log):
        with monkeypatch.context() as patched:
            forbid(patched, forbidden)
            before = sorted(store.parent.iterdir())
            with pytest.raises(
                StoreError, match=f"cannot write .* permission to write {forbidden}"
            ):
                Store(store, write=True)
            assert sorted(store.parent.iterdir()) == before
    with Store(store, write=True):
        pass


@pytest.mark.parametrize("of", ["file", "folder"])
def test_unwritable_store_with_a_log_is_read_in_full(store, monkeypatch, of):
    killed(store)
    forbid(monkeypatch, store if of == "file" else store.parent)
    before = sorted(store.parent.iterdir())
    with Store(store) as opened:
        assert opened.session("first")["command"] == "from the log"
    assert sorted(store.parent.iterdir()) == before


def test_a_page_that_was_cut_off_is_read_from_the_log(store):
    killed(store)
    with store.open("ab") as file:
        file.write(bytes(4096))
    with Store(store) as opened:
        assert opened.session("first")["command"] == "from the log"
        assert len(opened.records("first")) == 2


def test_pipes_and_folders_beside_a_store_are_refused(store):
    kinds = {"folder": os.mkdir, "pipe": os.mkfifo, "link": lambda at: at.symlink_to(store)}
    for end in BESIDE:
        for kind, make in kinds.items():
            at = store.with_name(f"{store.name}{end}")
            make(at)
            with case(f"{kind} {end}"), pytest.raises(OrthobenchError, match=f"{at}.* remove it"):
                Store(store, write=True)
            at.rmdir() if kind == "folder" else at.unlink()


def test_a_sound_store_that_cannot_be_read_is_not_called_damaged(store):
    class Failing:
        def execute(self, *_):
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error

    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        schema.check(Failing(), store)


@pytest.mark.skipif(os.name == "nt", reason="names are no bytes there")
def test_a_name_that_is_not_utf_8_is_one_like_others(store):
    other = store.rename(store.with_name(os.fsdecode(b"caf\xe9.sqlite")))
    with Store(other) as opened:
        assert len(opened.records("first")) == 2
    with Store(other, write=True) as opened:
        assert opened.suites() == ["first"]


@pytest.mark.parametrize("size", [248, 256])
def test_a_store_with_too_long_a_name_is_refused(toys, tmp_path, size):
    path = tmp_path / ("s" * size)
    with pytest.raises(StoreError, match=f"has {size} bytes: take one of at most 247"):
        api.run(from_table(toys.table, "first", toys.registry), path, executor="inline", quiet=True)
    assert not list(tmp_path.iterdir())
