"""What a report of 5,000 cells costs, stage by stage, in a fresh process of one thread.

Targets: reading and choosing in 5 s and 500 MB, the whole report in 20 s and 1 GB. Seconds are the
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

CELLS = usually(5000, smoke=20)
SHAPES = usually(
    {
        "100 problems, 10 solvers, 5 seeds": large.suite(100, 10, 5),
        "10 problems, 10 solvers of 5 trials, 10 seeds": large.suite(
            10, 10, 10, (0.25, 0.5, 1, 2, 4)
        ),
    },
    smoke={"2 problems, 2 solvers, 5 seeds": large.suite(2, 2, 5)},
)
READING = ("read", "choose")
TARGETS = {"read and choose": (5, 500), "whole report": (20, 1000)}

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

def rank():
    from orthobench.report.ranking import rank
    had.ranked = rank(had.results.entries)

def find():
    from orthobench.report.families import conclusions
    had.families = conclusions(had.ranked)

def table():
    from rich.console import Console
    from orthobench.report.terminal.table import show
    show(had.results.entries, Console(file=io.StringIO(), width=120), had.ranked)

def page():
    from orthobench.report.page import write_page
    write_page(had.results, folder, ranked=had.ranked, families=had.families)

facts, unit = {}, 1024**2 if sys.platform == "darwin" else 1024
for stage in (read, choose, rank, find, table, page):
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
    """The shape of a store, and seconds and peak megabytes of each stage."""
    folder = tmp_path_factory.mktemp("large")
    assert large.fill(folder / "results.sqlite", SHAPES[request.param]) == CELLS
    words = [sys.executable, "-c", STAGES, str(folder / "results.sqlite"), str(folder / "report")]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    return request.param, json.loads(done.stdout)


def test_a_report_of_5000_cells(report, stages):
    shape, found = stages
    absent = {name: value for name, value in found.items() if isinstance(value, str)}
    measured = {name: value for name, value in found.items() if name not in absent}
    for name, (seconds, peak) in measured.items():
        report(name, shape, "", "", f"{seconds:.2f} s, {peak:.0f} MB", "", "", "")
    totals = {
        "read and choose": [measured[name] for name in READING],
        "whole report": list(measured.values()),
    }
    for name, parts in totals.items():
        seconds, peak = sum(s for s, _ in parts), max(p for _, p in parts)
        most, largest = TARGETS[name]
        found_here, target = f"{seconds:.2f} s, {peak:.0f} MB", f"{most} s, {largest} MB"
        report(name, shape, "", "", found_here, "", target, "")
        assert smoke.ON or seconds < most
        assert smoke.ON or peak < largest
    if absent:
        pytest.skip(f"without {', '.join(f'{name}: {why}' for name, why in absent.items())}")
