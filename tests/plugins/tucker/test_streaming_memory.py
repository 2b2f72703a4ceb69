"""The streaming solvers take memory for a few bases and batches, however long the samples."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orthobench.contract.samples import WINDOW_BYTES

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs the peak memory from /proc"
)


def memory(name, n, r, b):
    """Return the memory that a run through the harness takes, and steps by themselves, in bytes."""
    script = Path(__file__).with_name("long_samples.py")
    found = subprocess.run(
        [sys.executable, str(script), name, *map(str, (n, r, b))],
        capture_output=True, text=True, check=True,
        # what is freed goes back at once, so that what is taken next is seen
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"},
    )  # fmt: skip
    return [1e6 * float(figure) for figure in found.stdout.split()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spgd", "shoevd"])
def test_memory_for_100_000_variables_is_a_few_bases_and_batches(name):
    n, r, b = 100_000, 5, 50
    basis, batch = 8 * n * r, 8 * n * b
    harness, own = memory(name, n, r, b)
    assert own < 3 * basis + 2e6
    # of the run: a window of samples, copied to add to it, and the bases of 12 checkpoints
    assert harness < 4 * (basis + batch) + 2 * WINDOW_BYTES
