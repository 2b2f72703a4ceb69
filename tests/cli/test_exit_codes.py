"""The end of commands that cannot write or are interrupted: a line and an exit code."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from orthobench.cli.printing import Terminated, ended
from orthobench.errors import UsageError
from orthobench.results.store import Store
from orthobench.tools import files

CALLS = [
    ("--version",), ("plugin", "--help"), pytest.param(("show", "STORE"), marks=pytest.mark.slow),
    pytest.param(("export", "STORE"), marks=pytest.mark.slow),
    pytest.param(("list",), marks=pytest.mark.slow),
]  # fmt: skip


@pytest.fixture
def terminable():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def called(*words, **streams):
    command = [sys.executable, "-m", "orthobench", *map(str, words)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **streams)


@pytest.mark.parametrize("words", CALLS)
def test_a_reader_that_goes_away_ends_a_command_quietly(words, store):
    reading, writing = os.pipe()
    os.close(reading)
    done = called(*(store if word == "STORE" else word for word in words), stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", CALLS)
def test_a_full_disk_for_the_output_is_said_in_a_line(words, store):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = called(*(store if word == "STORE" else word for word in words), stdout=full)
    assert done.returncode == 74
    assert done.stderr == "orthobench: cannot read or write: No space left on device\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (Terminated("terminated; go on"), 143, "terminated; go on\n"),
        (BrokenPipeError(), 141, ""),
        (OSError(errno.EMFILE, "Too many open files", "x\x1b[2J.npy"), 74,
         "orthobench: cannot read or write x [2J.npy: Too many open files\n"),
        (UsageError("one\nline \x1b]0;title\x07 \u202egnp.exe"), 2,
         "orthobench: one line ]0;title gnp.exe\n"),
    ],
)  # fmt: skip
def test_an_error_is_a_line_and_a_code(error, code, said, capsys):
    with pytest.raises(SystemExit) as raised, ended():
        raise error
    assert raised.value.code == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    "words",
    [
        ("report", "STORE"), ("report", "STORE", "--style", "one-column", "--format", "svg"),
        ("export", "STORE", "--out", "out.csv"),
    ],
)  # fmt: skip
def test_a_command_that_is_terminated_leaves_nothing_half_written(
    words, store, terminable, monkeypatch, tmp_path
):
    def killed(*_):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files.os, "replace", killed)
    done = CliRunner().invoke(main, ["results.sqlite" if w == "STORE" else w for w in words])
    assert (done.exit_code, done.stderr) == (143, "interrupted\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [store]


def test_a_run_that_is_terminated_says_how_to_go_on(terminable, monkeypatch, tmp_path):
    def killed(cell):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("orthobench.harness.executors.execute", killed)
    words = ["run", "-p", "digits k=1", "-s", "oja", "--seeds", "1", "--executor", "inline"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 143
    assert done.stderr.endswith("run again to go on\n")


@pytest.mark.skipif(os.name == "nt", reason="no shell that closes streams")
def test_a_command_with_closed_streams_writes_its_store(store, tmp_path):
    merge = f"{sys.executable} -m orthobench merge all.sqlite {store}"
    closed = ["sh", "-c", f"exec {merge} <&- >&- 2>&-"]
    assert subprocess.run(closed, cwd=tmp_path, check=False).returncode == 0
    with Store(tmp_path / "all.sqlite") as opened:
        assert len(list(opened.runs())) == 2
