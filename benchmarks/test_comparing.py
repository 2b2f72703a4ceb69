"""How long `orthobench compare` takes to start: from the call to the first cell that is run.

BASE is a commit, HEAD the working tree, as while one works on a branch. HEAD is built each time,
BASE the first time only. Target: 5 s for the second comparison with a BASE, on a quiet machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from smoke import usually

from orthobench.compare.options import Options
from orthobench.compare.run import compare
from orthobench.compare.sides import sides

ROOT = Path(__file__).parents[1]
PROJECT = usually(ROOT, smoke=ROOT / "tests" / "third_party_plugin")
OPTIONS = Options(solvers=("oja",), seeds=1, every=True)
STARTS = usually(4, smoke=1)
IMPORTS = "import scipy.stats, matplotlib.pyplot"


class StartedError(Exception):
    """The first cell is about to be run."""


def spent(call):
    """Wall and CPU seconds of a call, with those of the processes that it started."""
    begin, before = time.perf_counter(), sum(os.times()[:4])
    call()
    return time.perf_counter() - begin, sum(os.times()[:4]) - before


def start():
    """Start a comparison, and end it before its first cell."""

    def progress(text):
        if text.endswith("cells"):
            raise StartedError

    with (
        pytest.raises(StartedError),
        sides("HEAD", ".", here=PROJECT, progress=progress) as pair,
    ):
        compare(*pair, OPTIONS, progress)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="BASE is a commit of this clone")
def test_the_start_of_a_comparison(report):
    command = [sys.executable, "-c", IMPORTS]
    wall, cpu = min(spent(lambda: subprocess.run(command, check=True)) for _ in range(STARTS))
    ours = min(spent(start) for _ in range(STARTS))
    ratio = f"{ours[1] / cpu:.1f} (CPU)"
    report("a comparison starts", "", "", f"{wall:.2f}", f"{ours[0]:.2f}", ratio, "10 s", "")
