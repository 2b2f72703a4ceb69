"""What code that is out to cheat would do to the files of the other side is noticed."""

import os
import sys
from pathlib import Path

import pytest

from orthobench.compare.comparison import Side
from orthobench.compare.process import SideProcess
from orthobench.compare.seal import ChangedError, Seal


@pytest.fixture
def code(tmp_path):
    """A package with bytecode, machine code and a link."""
    folder = tmp_path / "code"
    (folder / "__pycache__" / "kernels-1").mkdir(parents=True)
    for name in ("a.py", "b.py", "__pycache__/a.pyc", "__pycache__/kernels-1/a.nbc"):
        (folder / name).write_text("before")
    (folder / "link").symlink_to("a.py")
    return folder


def replace(path):
    """Write a file of the same size and age in place of another."""
    was = path.stat()
    path.write_text("after!")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def redirect(path):
    path.unlink()
    path.symlink_to("b.py")


@pytest.mark.parametrize(
    ("name", "attack"),
    [
        ("a.py", replace),
        ("a.py", Path.unlink),
        ("new.py", Path.touch),
        ("new.pth", Path.touch),
        ("__pycache__/a.pyc", replace),
        ("link", redirect),
    ],
)
def test_a_file_that_was_changed_is_named(code, name, attack):
    seal = Seal.of(code)
    assert seal.changed(strict=True) == []
    attack(code / name)
    assert seal.changed() == [str(code / name)]
    with pytest.raises(ChangedError, match=rf"BASE is not what was built any more: .*{name}"):
        seal.check("BASE")


@pytest.mark.parametrize("name", ["__pycache__/b.pyc", "__pycache__/kernels-1/b.nbc"])
def test_what_python_and_numba_add_while_code_runs_counts_only_before_it_runs(code, name):
    seal = Seal.of(code)
    (code / name).write_text("compiled")
    assert seal.changed() == []
    assert seal.changed(strict=True) == [str(code / name)]


def test_a_file_with_equal_contents_is_no_change(code):
    seal = Seal.of(code, code / "a.py")
    (code / "a.py").touch()
    text = (code / "b.py").read_text()
    (code / "b.py").unlink()
    (code / "b.py").write_text(text)
    assert seal.changed() == []


def test_a_side_that_was_changed_begins_no_round_and_starts_no_process(code):
    side = Side("BASE", "revision", "", Path(sys.executable), seals=(Seal.of(code),))
    with SideProcess(side, "cpu", 1, 60.0) as process:
        process.begin()
        process.ask("end")
        replace(code / "a.py")
        with pytest.raises(ChangedError):
            process.begin()
    with pytest.raises(ChangedError):
        SideProcess(side, "cpu", 1, 60.0)
