"""Progress: lines in a log, a bar in a terminal, nothing when quiet."""

import io
import re

import pytest

from orthobench.report.terminal.progress import Progress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines(total, seconds, failed=(), stored=0):
    stream, clock = io.StringIO(), Clock()
    with Progress(stream=stream, clock=clock) as progress:
        progress.expect(total, stored)
        for i in range(total):
            clock.now += seconds
            progress.end(f"cell {i}", failed=i in failed)
    return stream.getvalue().splitlines()


def test_quick_cells_give_a_line_at_the_end():
    assert lines(1000, 0.001) == [
        "1000 cells to run", "1000/1000 cells, 1.00 s elapsed: cell 999",
    ]  # fmt: skip


def test_the_time_left_leaves_out_a_first_cell_that_compiles():
    stream, clock = io.StringIO(), Clock()
    with Progress(stream=stream, clock=clock) as progress:
        progress.expect(20)
        for seconds in [50.0] + [1.0] * 19:
            clock.now += seconds
            progress.end("cell", failed=False)
    found = stream.getvalue().splitlines()
    assert found[1] == "1/20 cells, 50.0 s elapsed: cell"
    assert found[2] == "11/20 cells, 60.0 s elapsed, 9.00 s left: cell"


def test_the_number_of_cells_may_change():
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        progress.expect(1)
        progress.end("cell", failed=False)
        progress.expect(1)
        progress.end("cell", failed=False)
    assert [line.split(" ")[0] for line in stream.getvalue().splitlines()] == ["1", "1/1", "2/2"]


def test_slow_cells_give_a_line_every_ten_seconds():
    found = lines(25, 4.0)
    assert [line.split("/")[0] for line in found[1:4]] == ["3", "6", "9"]


def test_lines_count_failures_and_what_the_store_had():
    found = lines(4, 10.0, failed=(1, 2), stored=7)
    assert found[0] == "4 cells to run (7 more from the store)"
    assert "failed" not in found[1]
    assert found[2].startswith("2/4 cells, 1 failed,")
    assert found[4].startswith("4/4 cells, 2 failed,")


def test_an_interrupted_run_says_how_far_it_came():
    stream = io.StringIO()
    progress = Progress(stream=stream)
    progress.expect(9)
    progress.end("a", failed=False)
    assert not progress.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert stream.getvalue().endswith("stopped after 1 of 9 cells\n")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_is_silent(stream):
    with Progress(quiet=True, stream=stream) as progress:
        progress.expect(2)
        progress.end("a", failed=True)
    assert stream.getvalue() == ""


def test_nothing_to_do_says_nothing():
    assert lines(0, 0) == []


def test_everything_in_the_store_is_one_line():
    assert lines(0, 0, stored=3) == ["0 cells to run (3 more from the store)"]


def test_a_terminal_shows_a_bar_with_counts_and_label(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.expect(3, 2)
        progress.end("[bold]x", failed=False)
        progress.end("y", failed=True)
        progress._bar.refresh()
        shown = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", stream.getvalue())
    assert "2/3 cells, 1 failed, 2 from the store" in shown
    assert "y" in shown
    assert "\x1b[?25h" in stream.getvalue(), "the cursor is shown again"


def test_the_slowest_cell_is_named_where_it_was_slow():
    for seconds, said in ((9.9, []), (10.0, ["slowest cell: b c, 10.0 s"])):
        stream, clock = io.StringIO(), Clock()
        with Progress(stream=stream, clock=clock) as progress:
            progress.expect(2)
            for label, took in (("a", 1.0), ("b\nc", seconds)):
                progress.begin(label)
                clock.now += took
                progress.end(label, failed=False)
        assert [line for line in stream.getvalue().splitlines() if "slowest" in line] == said


def test_a_terminal_shows_each_worker_and_what_was_slow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream, clock, shown = Terminal(), Clock(), []
    with Progress(show=shown.append, stream=stream, clock=clock) as progress:
        progress.expect(3)
        progress.begin("one", "1")
        clock.now = 1.0
        progress.begin("two", "2")
        bar = progress._bar.tasks[0]
        assert bar.description == "[1] one  [2] two"
        clock.now = 11.0
        progress.end("one", failed=False, worker="1")
        assert (bar.description, bar.completed, bar.total) == ("two", 1, 3)
        progress.table("results")
        progress.expect(9)
        assert bar.total == 10
        progress.end("two", failed=True, worker="2")
        assert (bar.description, bar.fields["failed"]) == ("two", ", 1 failed")
    assert shown == ["results"]
    assert bar.description == "slowest cell: one, 11.0 s"


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_cell_that_takes_long_is_named_at_once(kind):
    stream = kind()
    with Progress(stream=stream) as progress:
        progress.expect(20)
        progress.begin("a on b, seed 0")
        progress.late("a on b, seed 0", "30 s so far; see --timeout")
        assert "a on b, seed 0 takes long: 30 s so far; see --timeout" in stream.getvalue()
    with Progress(quiet=True, stream=kind()) as progress:
        progress.late("a", "b")
        assert progress._stream.getvalue() == ""
