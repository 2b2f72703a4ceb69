"""Worker processes: messages arrive, a death is explained, and no process is left behind."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

from orthobench.tools import child
from orthobench.tools.processes import LAST_BYTES, Alarm, Process, ProcessError

PROGRAM = """
import ctypes, os, signal, subprocess, sys, time


def main(channel, greeting="hello"):
    while (message := channel.receive()) is not None:
        channel.send(globals()[message](channel, greeting))


def greet(channel, greeting):
    return greeting


def path(channel, greeting):
    return sys.path


def surroundings(channel, greeting):
    dies_by = ctypes.c_int()
    if sys.platform == "linux":
        get_death_signal = 2
        ctypes.CDLL(None).prctl(get_death_signal, ctypes.byref(dies_by))
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return dies_by.value, ignored, os.environ["OMP_NUM_THREADS"]


def send_much(channel, greeting):
    channel.send("x" * 1_000_000)
    return list(range(5))


def print_and_read(channel, greeting):
    print("printed", flush=True)
    subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    return sys.stdin.read()


def complain(channel, greeting):
    os.write(2, b"first " + b"y" * 10_000 + b" last")
    return "done"


def leave(channel, greeting):
    os.write(2, b"on the way out")
    os._exit(3)


def die(channel, greeting):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(channel, greeting):
    time.sleep(1000)


def fork(channel, greeting):
    copy = os.fork()
    if copy == 0:
        time.sleep(1000)
    return copy


def daemon(channel, greeting):
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        copy = os.fork()
        if copy == 0:
            time.sleep(1000)
        os.write(write, str(copy).encode())
        os._exit(0)
    os.wait()
    return int(os.read(read, 99))
"""

PARENT = """
import sys, time
from orthobench.tools.processes import Process
process = Process("package.program", codec="json")
process.send("hang")
print(process._process.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.fixture(params=["pickle", "json"])
def start(request, package):
    """Start the program above, as one of this interpreter or of another one."""
    foreign = {"python": Path(sys.executable), "package": package}

    def started(**arguments):
        where = foreign if request.param == "json" else {}
        return Process("package.program", arguments, codec=request.param, **where)

    return started


def ask(process, message, timeout=300.0):
    process.send(message)
    return process.receive(timeout)


def gone(pid, patience=300.0):
    """Return whether a process ends; a zombie has ended, too."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_arguments_and_messages_of_any_size_arrive_in_order(start):
    with start(greeting="good day") as process:
        assert process.last_words == ""
        assert ask(process, "greet") == "good day"
        dies_by = signal.SIGKILL if sys.platform == "linux" else 0
        assert [*ask(process, "surroundings")] == [dies_by, True, "1"]
        assert ask(process, "send_much") == "x" * 1_000_000
        assert process.receive(60.0) == [0, 1, 2, 3, 4]


def test_a_process_reads_nothing_and_what_it_prints_is_no_message(start):
    with start() as process:
        assert ask(process, "print_and_read") == ""
        assert process.last_words.splitlines() == ["printed", "by a child"]


def test_last_words_are_the_end_since_the_last_message(start):
    with start() as process:
        ask(process, "complain")
        words = process.last_words
        assert len(words) == LAST_BYTES
        assert words.endswith("y last")
        ask(process, "greet")
        assert process.last_words == ""


@pytest.mark.parametrize(
    ("message", "reason", "stderr"),
    [
        ("leave", "its process ended with exit code 3", "on the way out"),
        ("die", "its process was killed by SIGKILL", ""),
    ],
)
def test_a_death_is_explained(start, message, reason, stderr):
    with start() as process:
        with pytest.raises(ProcessError) as error:
            ask(process, message)
        assert (error.value.reason, error.value.stderr) == (reason, stderr)
        assert str(error.value) == (f"{reason}: {stderr}" if stderr else reason)
        assert not process.alive
        with pytest.raises(ProcessError):
            ask(process, "greet")


def test_a_process_that_hangs_is_killed_when_its_time_is_up(start):
    with start() as process:
        with pytest.raises(TimeoutError, match=r"took longer than 0\.5 s"):
            ask(process, "hang", 0.5)
        assert not process.alive


def test_alarm_rings_in_time_unless_it_is_cancelled():
    rung = threading.Event()
    with Alarm(rung.set, math.inf) as alarm:
        alarm.set(1e6)
        assert not alarm.rang
        alarm.set(0.0)  # sooner than it waits for
        assert rung.wait(60)
    assert alarm.rang
    for seconds in (math.inf, 1e6, 1e300):
        with Alarm(rung.clear, seconds) as alarm:
            alarm.set(seconds)
        assert not alarm.rang
    assert rung.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says who started whom")
def test_all_that_a_process_started_ends_with_it(start):
    with start() as process:
        process.send("daemon")
        left = process.receive(60.0)
        assert not gone(left, 0)
    assert gone(left)


def test_an_interpreter_that_there_is_not_is_an_error_at_once(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        Process("json", python=tmp_path / "nowhere")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills the children of the dead")
@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(0.0, id="as-it-starts"),
        pytest.param(2.0, id="while-it-hangs", marks=pytest.mark.wide),
    ],
)
def test_a_process_dies_with_its_parent(package, seconds):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    with parent:
        pid = int(parent.stdout.readline())
        assert not gone(pid, seconds)
        parent.send_signal(signal.SIGKILL)
    assert gone(pid)


def test_process_imports_nothing_beside_its_script(start):
    with start() as process:
        path = ask(process, "path")
    assert str(Path(child.__file__).parent) not in path
    assert path


def test_several_processes_share_one_queue(package):
    replies = SimpleQueue()
    with (
        Process("package.program", {"greeting": "a"}, 3, replies) as first,
        Process("no_such_module", replies=replies) as second,
    ):
        assert replies.get(timeout=300) == (second, None)
        death = second.death()
        assert death.reason == "its process ended with exit code 1"
        assert death.stderr.startswith("Traceback")
        first.send("greet")
        assert replies.get(timeout=300) == (first, "a")
        first.send("surroundings")
        assert replies.get(timeout=300)[1][2] == "3"
        assert first._listener.daemon  # no process waits for one that is not closed
        first.send("leave")
        assert replies.get(timeout=300) == (first, None)


def test_a_process_that_sends_what_is_no_message_is_killed(package):
    def loads(data):
        raise ValueError(f"{data[:1]!r} is nothing")

    with Process("package.program", loads=loads, codec="json") as process:
        for _ in range(2):  # nor is anything read that follows
            with pytest.raises(ProcessError, match=r"""sent what is no message: b'"' is nothing"""):
                ask(process, "greet")
        assert not process.alive
