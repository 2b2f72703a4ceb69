"""Costs of reports of 5,000 and 100,000 cells, stage by stage, in a fresh process of one thread.

Targets of 5,000: reading and choosing in 5 s and 500 MB, the whole report in 20 s and 1 GB. For
100,000: decisions and tables in 20 s and 1 GB, the page in 60 s more and 15 MB. Seconds are the
process's own, which other processes hardly change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import large
import pytest
import smoke
from smoke import usually

TABLES = ("read", "choose", "decide", "table")
SMALL = {"read and choose": (TABLES[:2], 5, 500), "whole report": ((*TABLES, "page"), 20, 1000)}
LARGE = {"read to tables": (TABLES, 20, 1000), "page": (("page",), 60, 2000)}
PAGE_BYTES = 15e6
SHAPES = usually(
    {
        "100 problems, 10 solvers, 5 seeds": (large.suite(100, 10, 5), SMALL),
        "10 problems, 10 solvers of 5 trials, 10 seeds": (
            large.suite(10, 10, 10, (0.25, 0.5, 1, 2, 4)),
            SMALL,
        ),
        "100 problems, 20 solvers, 50 seeds": (large.suite(100, 20, 50), LARGE),
    },
    smoke={"2 problems, 2 solvers, 5 seeds": (large.suite(2, 2, 5), SMALL | LARGE)},
)

STAGES = """
import io, json, resource, sys, time
from pathlib import Path
from types import SimpleNamespace

store, folder = Path(sys.argv[1]), Path(sys.argv[2])
had = SimpleNamespace()

def read():
    from orthobench.results.results import Results
    had.results = Results.read(store)

def choose():
    had.results.entries

def decide():
    from orthobench.decide.comparisons import compare
    had.comparisons = compare(had.results.entries)

def table():
    from rich.console import Console
    from orthobench.report.terminal.table import show
    show(had.results.entries, had.comparisons, Console(file=io.StringIO(), width=120))

def page():
    from orthobench.report.page import write_page
    write_page(had.results, folder)

facts, unit = {}, 1024**2 if sys.platform == "darwin" else 1024
for stage in (read, choose, decide, table, page):
    begin = time.process_time()
    try:
        stage()
    except (ImportError, NotImplementedError) as error:
        facts[stage.__name__] = repr(error)
        continue
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    facts[stage.__name__] = time.process_time() - begin, peak / unit
print(json.dumps(facts))
"""


@pytest.fixture(scope="module", params=list(SHAPES))
def stages(request, tmp_path_factory):
    """The shape of a store, seconds and peak megabytes of each stage, and bytes of the page."""
    folder = tmp_path_factory.mktemp("large")
    suite, _ = SHAPES[request.param]
    cells = len(suite.problems) * len(suite.solvers) * len(suite.seeds)
    assert large.fill(folder / "results.sqlite", suite) == cells
    words = [sys.executable, "-c", STAGES, str(folder / "results.sqlite"), str(folder / "report")]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    page = folder / "report" / "index.html"
    return request.param, json.loads(done.stdout), page.stat().st_size if page.exists() else 0


def test_a_report(report, stages):
    shape, found, page = stages
    absent = {name: value for name, value in found.items() if isinstance(value, str)}
    measured = {name: value for name, value in found.items() if name not in absent}
    for name, (seconds, peak) in measured.items():
        report(name, shape, "", "", f"{seconds:.2f} s, {peak:.0f} MB", "", "", "")
    for name, (parts, most, largest) in SHAPES[shape][1].items():
        costs = [measured[part] for part in parts if part in measured] or [(0.0, 0.0)]
        seconds, peak = sum(s for s, _ in costs), max(p for _, p in costs)
        found_here, target = f"{seconds:.2f} s, {peak:.0f} MB", f"{most} s, {largest} MB"
        report(name, shape, "", "", found_here, "", target, "")
        assert smoke.ON or seconds < most
        assert smoke.ON or peak < largest
    target = f"{PAGE_BYTES / 1e6:.0f} MB"
    report("bytes of the page", shape, "", "", f"{page / 1e6:.1f} MB", "", target, "")
    assert page < PAGE_BYTES
    if absent:
        pytest.skip(f"without {', '.join(f'{name}: {why}' for name, why in absent.items())}")
