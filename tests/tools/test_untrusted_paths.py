"""Texts of a stranger's store that may name files, and the folders below which they are read."""

import pytest

from orthobench.errors import DataError
from orthobench.tools.files import names_file, refuse_files


def test_texts_that_may_name_files(tmp_path, monkeypatch):
    for parameter, value, file in (
        ("path", "X.npy", True), ("weights", "/etc/passwd", True), ("weights", "../x", True),
        ("weights", "~/x", True), ("weights", "C:\\x", True), ("weights", "here", True),
        ("on", "torch:cuda/float32", False), ("order", "cyclic", False), ("order", "\0", False),
    ):  # fmt: skip
        monkeypatch.chdir(tmp_path)
        (tmp_path / "here").touch()
        assert names_file(parameter, value) is file, (parameter, value)


def test_files_are_allowed_below_folders_alone(tmp_path):
    inside, outside = tmp_path / "data" / "X.npy", tmp_path / "X.npy"
    inside.parent.mkdir()
    refuse_files({"path": str(inside), "k": 3}, [tmp_path / "data"])
    for path in (outside, f"{inside.parent}/../X.npy", f"{inside.parent}2/X.npy"):
        with pytest.raises(DataError, match="it reads the file"):
            refuse_files({"path": str(path)}, [tmp_path / "data"])
    inside.symlink_to(outside)
    with pytest.raises(DataError, match="it reads the file"):
        refuse_files({"path": str(inside)}, [tmp_path / "data"])
