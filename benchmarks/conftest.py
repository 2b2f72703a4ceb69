"""One BLAS thread, and a table of ratios at the end: best of interleaved repetitions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from orthobench.threads import limited

sys.path.insert(0, str(Path(__file__).parent))

FACTS = pytest.StashKey[list[tuple[str, ...]]]()
HEADER = ("what", "size", "rank", "opponent/s", "orthobench/s", "ratio", "target", "x flop bound")


def pytest_configure(config):
    config.stash[FACTS] = []


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with limited(1):
        yield


@pytest.fixture
def report(request):
    """Add a row to the table at the end."""
    return lambda *row: request.config.stash[FACTS].append(tuple(map(str, row)))


def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash[FACTS]
    if not rows:
        return
    terminalreporter.section("orthobench against its opponents, one thread")
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    for row in (HEADER, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        terminalreporter.write_line("  ".join(cells).rstrip())
