"""One BLAS thread, opponents in the tables of pytest-benchmark, and a table of ratios at the end.

Ours and its opponents take turns within one test; of both the best repetitions count. So a group of
pytest-benchmark holds all sides, and the numbers in brackets are the ratios between them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytest_benchmark.stats import Stats

from orthobench.tools.environment import limited

sys.path.insert(0, str(Path(__file__).parent))

import smoke

FACTS = pytest.StashKey[list[tuple[str, ...]]]()
HEADER = ("what", "size", "rank", "opponent/s", "orthobench/s", "ratio", "target", "x flop bound")


def pytest_addoption(parser):
    parser.addoption("--smoke", action="store_true", help="run each benchmark once, small")


def pytest_configure(config):
    config.stash[FACTS] = []
    smoke.ON = config.getoption("--smoke")


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with limited(1):
        yield


@pytest.fixture
def report(request):
    """Add a row to the table at the end."""
    return lambda *row: request.config.stash[FACTS].append(tuple(map(str, row)))


@pytest.fixture
def beside(benchmark):
    """Put the seconds of opponents, by name, into the group of ours."""
    return benchmark.extra_info.setdefault("beside", {}).update


@pytest.hookimpl(wrapper=True)
def pytest_benchmark_group_stats():
    groups = yield
    return [(name, [*rows, *_opponents(rows)]) for name, rows in groups]


def _opponents(rows):
    """Return the rows of the opponents of a group; those of one name are one."""
    seconds = {}
    for row in rows:
        for name, spent in row["extra_info"].get("beside", {}).items():
            seconds.setdefault(name, []).extend(spent)
    return [{**rows[0], **_facts(spent), "name": name} for name, spent in seconds.items()]


def _facts(seconds):
    stats = Stats()
    for spent in seconds:
        stats.update(spent)
    return {**stats.as_dict(), "iterations": 1}


def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash[FACTS]
    if not rows:
        return
    terminalreporter.section("orthobench against its opponents, one thread")
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    for row in (HEADER, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        terminalreporter.write_line("  ".join(cells).rstrip())
