"""A pass over a file that is larger than what a run may keep in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

D = 256
ROW_BYTES = 4 * D

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs the peak memory from /proc"
)


def sparse_file(path, rows):
    """Write the header of a float32 matrix; the file system keeps its zeros as a hole."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, D)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        stream.truncate(stream.tell() + rows * ROW_BYTES)


def one_pass(path, order, rows):
    """Return the peak memory before and after, in MB."""
    script = Path(__file__).with_name("one_pass.py")
    found = subprocess.run(
        [sys.executable, str(script), str(path), order], capture_output=True, text=True, check=True
    )
    status, samples, before, after = found.stdout.split()
    assert status == "done"
    assert int(samples) == rows - round(0.4 * rows) - round(0.2 * rows)
    return float(before), float(after)


@pytest.mark.wide
def test_a_pass_stays_far_below_the_size_of_the_file(tmp_path):
    rows = 300 * 10**6 // ROW_BYTES
    sparse_file(tmp_path / "large.npy", rows)
    before, after = one_pass(tmp_path / "large.npy", "shuffle", rows)
    assert after - before < 150


@pytest.mark.slow
@pytest.mark.parametrize("order", ["order", "shuffle"])
def test_a_pass_over_4_gb_takes_less_than_500_mb(tmp_path, order):
    rows = 4 * 10**9 // ROW_BYTES
    sparse_file(tmp_path / "large.npy", rows)
    _, after = one_pass(tmp_path / "large.npy", order, rows)
    assert after < 500
