"""A matrix on disk: when its first cell is there, and what memory all processes take.

One run in a process of its own, guarded as users get it, of methods whose libraries do not copy.
Memory is the proportional set size of all processes of the run together, which counts a page of the
mapped file once, read every `EVERY` seconds on Linux.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from smoke import usually

ROWS, WIDTH = usually((833_000, 300), smoke=(300, 20))
SOLVERS = usually(("gram-pca", "randomized-pca", "block-krylov", "scipy-svds"), smoke=("gram-pca",))
FIRST, PEAK = usually((5.0, 1.3), smoke=(1e9, 1e9))
EVERY = 0.05
SMAPS = Path("/proc/self/smaps_rollup")

RUN = """
import json, sys, time
begin = time.time()
import orthobench as ob
from orthobench.harness.executors import Observer

class Told(Observer):
    def begin(self, label, worker):
        self.tell(event="begin")
    def end(self, label, failed, worker):
        self.tell(event="end", failed=failed)
    def tell(self, **what):
        print(json.dumps({"seconds": time.time() - begin, **what}), flush=True)

ob.run(problems=[f"npy-pca path={sys.argv[1]} k=10"], solvers=sys.argv[2:], seeds=1,
       observer=Told())
"""


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    """A file of rows, written block by block; it is in the cache of the system, as a new one is."""
    path = tmp_path_factory.mktemp("disk") / "X.npy"
    X = np.lib.format.open_memmap(path, "w+", np.float64, (ROWS, WIDTH))
    rng, scales = np.random.default_rng(0), np.arange(1.0, WIDTH + 1) ** -0.5
    for begin in range(0, ROWS, 50_000):
        block = X[begin : begin + 50_000]
        block[:] = rng.standard_normal(block.shape) * scales
    X.flush()
    del X
    yield path
    path.unlink()


def processes(root):
    """Yield a process and those that it started, and so on."""
    yield root
    for task in Path(f"/proc/{root}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from processes(int(child))


def proportional_bytes(root):
    """Return the proportional set size of a process and all below it."""
    total = 0
    for process in processes(root):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def watched(command, folder):
    """Return what a command printed, and its peak memory."""
    peak = 0
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            try:
                peak = max(peak, proportional_bytes(process.pid))
            except OSError:
                break
            time.sleep(EVERY)
        printed = process.stdout.read()
    assert process.returncode == 0
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")], peak


@pytest.mark.skipif(not SMAPS.exists(), reason="memory of other processes is read on Linux")
@pytest.mark.parametrize("name", SOLVERS)
def test_the_first_cell_and_the_memory(report, matrix, tmp_path, name):
    size = matrix.stat().st_size
    command = [sys.executable, "-c", RUN, str(matrix), name]
    events, peak = watched(command, tmp_path)
    assert [e["failed"] for e in events if e["event"] == "end"] == [False]
    end = next(e["seconds"] for e in events if e["event"] == "end")
    begun = next(e["seconds"] for e in events if e["event"] == "begin")
    shape, met = (ROWS, WIDTH), {True: "met", False: "MISSED"}
    row = f"{begun:.3g}", f"{end:.3g}", ""
    report(f"first cell of {name}", shape, 10, *row, f"at most {FIRST:g} s {met[end <= FIRST]}", "")
    share = peak / size
    row = f"{size / 1e9:.3g} GB", f"{peak / 1e9:.3g} GB", f"{share:.2f}"
    report(f"memory of {name}", shape, 10, *row, f"at most {PEAK:g} {met[share <= PEAK]}", "")
