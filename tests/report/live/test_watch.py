"""A run that is watched: what is told of it, when its page is written, and what ends it."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from types import SimpleNamespace

import pytest

from orthobench.errors import StoreError, UsageError
from orthobench.harness.cell import execute
from orthobench.registry.suite_file import from_table
from orthobench.report.live import watch as module
from orthobench.report.live.watch import AT_LEAST, Watched, chosen_to_come, watch
from orthobench.results.store import Store
from orthobench.tools import files

TABLE = {
    "seeds": 4,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace"}],
    "solver": [{"name": "power"}, {"name": "power", "fault": "raise"}],
}


@pytest.fixture
def suite(toys):
    return from_table(TABLE, "toys", toys.registry)


@pytest.fixture
def run(tmp_path, suite):
    """A run under way: its store, open; ``finish(n)`` finishes n more cells."""
    planned = suite.cells()
    path = tmp_path / "kept" / "results.sqlite"
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, "orthobench run", {})
        waiting = iter(planned)

        def finish(count):
            for p in [next(waiting) for _ in range(count)]:
                store.add(session, [(p, execute(p))])

        yield SimpleNamespace(
            path=path, store=store, finish=finish, end=lambda: store.end(session), planned=planned
        )


@pytest.fixture
def watched(run, tmp_path, monkeypatch):
    """Return the watched run, on a clock that the test sets; pages only say how many runs."""
    clock = SimpleNamespace(now=0.0)

    def write_page(results, folder):
        found = len(results.records) - len(results.missing)
        path = folder / "index.html"
        path.write_text(f"{found} runs")
        return path

    monkeypatch.setattr(module, "write_page", write_page)
    made = Watched(run.path, tmp_path, None, clock=lambda: clock.now)

    def look(seconds=0.0):
        clock.now += seconds
        made.look()
        return json.loads(made.served.answers["/status"].body)

    return SimpleNamespace(
        look=look, page=lambda: made.served.answers["/page"].body.decode(), made=made
    )


def test_progress_failures_and_time_left_are_told_as_they_come(run, watched):
    assert watched.look() == {
        "suite": "toys", "state": "running", "finished": 0, "planned": 8, "failed": 0, "left": "",
        "failures": [], "page": 1,
    }  # fmt: skip
    run.finish(4)
    assert watched.look(1)["finished"] == 4
    run.finish(1)
    told = watched.look(9)
    assert (told["failed"], told["left"]) == (2, "6.00 s")
    assert "fault=raise on leading-subspace, seed 1: error: power" in told["failures"][0]
    run.finish(1)
    assert "seed 2" in watched.look(1)["failures"][0]


def test_the_page_is_written_as_the_run_grows_and_at_once_when_it_ends(run, watched):
    assert watched.look()["page"] == 1
    assert watched.page() == "0 runs"
    run.finish(2)
    assert watched.look(1)["page"] == 1
    assert watched.look(AT_LEAST)["page"] == 2
    assert watched.page() == "2 runs"
    assert watched.look(AT_LEAST)["page"] == 2
    run.finish(6)
    run.end()
    told = watched.look(1)
    assert (told["state"], told["page"], told["left"]) == ("ended", 3, "")
    assert watched.page() == "8 runs"


def test_a_run_that_was_cut_off_is_said_and_one_that_goes_on_too(run, watched, suite):
    run.finish(3)
    assert watched.look()["state"] == "running"
    run.store.close()
    assert watched.look(1)["state"] == "cut off"
    assert watched.page() == "3 runs"
    with Store(run.path, write=True) as again:
        again.begin(suite, run.planned, "", {})
        assert watched.look(1)["state"] == "running"


def test_what_was_not_written_yet_is_written_at_the_end(run, watched):
    watched.look()
    run.finish(2)
    watched.look(1)
    watched.made.finish()
    assert watched.page() == "2 runs"


def test_trials_that_are_still_to_be_chosen_are_runs_to_come(toys, tmp_path):
    tuned = {**TABLE, "tuning": {"seeds": 1}, "solver": [
        {"name": "power", "step": {"tune": [0.5, 1]}}, {"name": "power", "fault": "converge"},
    ]}  # fmt: skip
    suite = from_table(tuned, "toys", toys.registry)
    text = "seeds = 4\ntuning = { seeds = 1 }"
    planned = suite.cells()
    with Store(tmp_path / "s.sqlite", write=True) as store:
        store.begin(suite, planned, "", {})
        assert chosen_to_come(text, store.records("toys")) == 3
        assert chosen_to_come("", store.records("toys")) == 0
        assert chosen_to_come("seeds = [1, 2]\ntuning = 3", store.records("toys")) == 0
        chosen = next(p for p in planned if p.tuned)
        store.plan("toys", suite.rest(chosen))
        assert chosen_to_come(text, store.records("toys")) == 0


def test_a_store_that_vanishes_ends_the_watching(run, watched):
    watched.look()
    run.store.close()
    run.path.unlink()
    with pytest.raises(StoreError, match="there is no store"):
        watched.look(1)


def test_a_store_that_is_damaged_ends_it_and_one_that_was_for_a_moment_does_not(run, watched):
    run.finish(1)
    watched.look()
    run.store.close()
    sound = run.path.read_bytes()
    run.path.write_bytes(sound[: len(sound) // 2])
    assert watched.look(1)["finished"] == 1
    run.path.write_bytes(sound)
    assert watched.look(1)["state"] == "cut off"
    run.path.write_bytes(sound[: len(sound) // 2])
    with suppress(StoreError):
        for _ in range(3):
            watched.look(1)
        pytest.fail("a damaged store is watched for ever")


def test_a_second_watcher_and_a_second_writer_are_refused(run, watched, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PAUSE", 0)

    def second(address):
        with pytest.raises(UsageError, match=r"another process watches .*--out"):
            watch(run.path, tmp_path, None, 0, pytest.fail)
        with pytest.raises(StoreError, match=r"another process writes the store .*--store"):
            Store(run.path, write=True)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch(run.path, tmp_path, None, 0, second)
    assert (tmp_path / "index.html").is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index.html", "kept"]


@pytest.mark.slow
def test_a_real_run_is_watched_until_ctrl_c(tmp_path):
    store = tmp_path / "results.sqlite"
    words = ["run", "-p", "spiked-covariance", "-s", "oja", "-s", "batch-pca", "--seeds", "40",
             "--samples", "20000", "--store", store, "--no-figures", "-q"]  # fmt: skip
    started = subprocess.Popen([sys.executable, "-m", "orthobench", *map(str, words)])
    try:
        until(lambda: store.exists() and store.stat().st_size)
        watching = subprocess.Popen(
            [sys.executable, "-m", "orthobench", "report", str(store), "--watch"],
            stdout=subprocess.PIPE, text=True,
            # shells let what runs in the background ignore it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", watching.stdout.readline())[0]
            seen = [status(address)["finished"]]
            until(lambda: seen.append(status(address)["finished"]) or seen[-1] == 80)
            assert started.wait(300) == 0
            until(lambda: status(address)["state"] == "ended")
            told = status(address)
            assert (told["finished"], told["planned"], told["failed"]) == (80, 80, 0)
            with urllib.request.urlopen(f"{address}page", timeout=120) as reply:  # noqa: S310
                page = reply.read()
        finally:
            watching.send_signal(signal.SIGINT)
            rest, _ = watching.communicate(timeout=300)
    finally:
        started.kill()
        started.wait()
    assert seen == sorted(seen)
    assert watching.returncode == 0
    left = tmp_path / "report" / "index.html"
    assert rest.strip() == str(left)
    assert left.read_bytes() == page
    assert not list(tmp_path.rglob("*-lock"))


def status(address):
    with urllib.request.urlopen(f"{address}status", timeout=120) as reply:  # noqa: S310
        return json.load(reply)


def until(holds):
    end = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)
