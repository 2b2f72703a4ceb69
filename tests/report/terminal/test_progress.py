"""Progress: lines in a log, a line in a terminal, nothing when quiet."""

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


def test_slow_cells_give_a_line_every_ten_seconds():
    found = lines(25, 4.0)
    assert [line.split("/")[0] for line in found[1:4]] == ["3", "6", "9"]


def test_lines_count_failures_and_what_the_store_had():
    found = lines(4, 10.0, failed=(1, 2), stored=7)
    assert found[0] == "4 cells to run, 7 from the store"
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
        progress.expect(1)
        progress.end("a", failed=True)
    assert stream.getvalue() == ""


def test_everything_in_the_store_is_one_line():
    assert lines(0, 0, stored=3) == ["0 cells to run, 3 from the store"]


def test_a_terminal_shows_a_line_with_counts_and_label(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.expect(2, 2)
        progress.end("[bold]x", failed=False)
        assert "1/2 cells, 2 from the store, " in progress.__rich__().plain
        assert progress.__rich__().plain.endswith(": [bold]x")
        progress.end("y", failed=True)
    shown = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", stream.getvalue())
    assert shown.splitlines()[-1].startswith("2/2 cells, 1 failed, 2 from the store, ")
    assert "\x1b[?25h" in stream.getvalue(), "the cursor is shown again"


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
