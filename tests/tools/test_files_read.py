"""What a process read is noted as it was, and everything that may have changed since is seen."""

import importlib
import sys

import pytest

from orthobench.tools import files_read


@pytest.fixture
def old(monkeypatch):
    """Files that tests have just made count as old ones."""
    monkeypatch.setattr(files_read, "YOUNG", -3600)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "some.txt").write_text("some")
    return tmp_path


def read_of(look):
    files_read.listen()
    look()
    return files_read.stop()


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("other"),
        lambda file: file.unlink(),
        lambda file: file.replace(file.with_name("elsewhere")) and file.write_text("some"),
    ],
)
def test_a_file_that_was_read_has_changed(old, folder, change):
    file = folder / "some.txt"
    read = read_of(file.read_text)
    assert str(file) in read
    assert files_read.unchanged(read)
    change(file)
    assert not files_read.unchanged(read)


def test_a_file_is_noted_as_it_was_before_it_was_read(old, folder):
    file = folder / "some.txt"
    files_read.listen()
    file.read_text()
    file.write_text("other")
    file.read_text()
    assert not files_read.unchanged(files_read.stop())


def test_a_file_that_was_missing_has_come_and_a_folder_that_was_listed_has_another(old, folder):
    def look():
        with pytest.raises(OSError, match="missing"):
            (folder / "missing").read_text()

    read = read_of(look)
    assert read[str(folder / "missing")] is None
    listed = read_of(lambda: list(folder.iterdir()))
    assert files_read.unchanged(read | listed)
    (folder / "missing").touch()
    assert not files_read.unchanged(read)
    assert not files_read.unchanged(listed)


def test_machine_code_and_hidden_folders_of_other_processes_change_no_folder(old, folder):
    read = read_of(lambda: list(folder.iterdir()))
    (folder / "__pycache__").mkdir()
    (folder / ".mypy_cache").mkdir()
    assert files_read.unchanged(read)
    (folder / "some.txt").rename(folder / "same.txt")
    assert not files_read.unchanged(read)


def test_machine_code_of_python_stands_for_its_source(old, folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(folder)
    source = folder / "module_that_was_read.py"
    source.write_text("x = 1")
    name = source.stem
    importlib.import_module(name)
    monkeypatch.delitem(sys.modules, name)
    read = read_of(lambda: importlib.import_module(name))
    assert {str(source), str(folder)} <= read.keys()
    assert not any(path.endswith(".pyc") for path in read)
    source.write_text("x = 2")
    assert not files_read.unchanged(read)
    monkeypatch.delitem(sys.modules, name)


def test_what_was_imported_before_is_noted_and_what_is_written_is_not(old, folder):
    read = read_of(lambda: (folder / "written").write_text("new"))
    assert {files_read.__file__, importlib.__file__} <= read.keys()
    assert str(folder / "written") not in read


def test_nothing_is_said_of_files_that_changed_a_moment_ago(folder):
    assert read_of((folder / "some.txt").read_text) == {}
