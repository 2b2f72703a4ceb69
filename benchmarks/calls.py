"""Calls of the command line as users make them: when the first line came, when all, what CPU."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PLOTTING = ("-c", "import scipy.stats, matplotlib.pyplot")
"""A program that computes statistics and draws, for comparison."""

TINY = """
seeds = 1
[budget]
samples = 20
[[problem]]
name = "spiked-covariance"
n = 10
k = 1
[[solver]]
name = "batch-pca"
"""
"""The suite of a smoke run: for it nothing is compiled, and scikit-learn is not imported."""


@dataclass(frozen=True)
class Call:
    """The cost of a call.

    Attributes
    ----------
    first : float
        Seconds up to its first line, such as those of the first finished table.
    whole : float
        Seconds up to its end.
    cpu : float
        CPU seconds of it and all of its processes.
    """

    first: float
    whole: float
    cpu: float


def called(words: Sequence[str], folder: Path, kernels: Path | None = None) -> Call:
    """Call Python in a folder; `kernels` is the folder of compiled code."""
    kept = {} if kernels is None else {"NUMBA_CACHE_DIR": str(kernels)}
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    _adopt_orphans()
    before, begin = _cpu(), time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=usual | kept, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - begin
        process.stdout.read()
    assert process.returncode == 0, words
    whole = time.perf_counter() - begin
    _wait_for_orphans()
    return Call(first, whole, _cpu() - before)


def _adopt_orphans() -> None:
    """Make this process the parent of those whose parent ends: only a parent learns their CPU."""
    if sys.platform == "linux":
        become_subreaper = 36
        ctypes.CDLL(None).prctl(become_subreaper, 1)


def _wait_for_orphans() -> None:
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
