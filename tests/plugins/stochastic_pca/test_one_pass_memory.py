"""One pass of capped MSG over an array that is larger than what it may keep in memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

D, ROWS = 1000, 500_000

SCRIPT = """
import re, sys
from pathlib import Path
import numpy as np
import orthobench as ob

X = np.load(sys.argv[1], mmap_mode="r")
outcome = ob.solve("capped-msg", ob.stochastic_pca(X, k=8), step=2.0)
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(outcome.work.samples, outcome.trace[-1].metrics["suboptimality"], int(peak[1]) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs the peak memory from /proc"
)
def test_one_pass_over_4_gb_stays_below_500_mb(tmp_path):
    path, rng = tmp_path / "large.npy", np.random.default_rng(0)
    scales = (0.98 ** np.arange(D) / np.sum(0.98 ** (2 * np.arange(D))) ** 0.5).astype(np.float64)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(ROWS, D))
    for begin in range(0, ROWS, 5000):
        X[begin : begin + 5000] = rng.standard_normal((5000, D)) * scales
    X.flush()
    del X
    assert path.stat().st_size > 3.9e9
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True
    )
    samples, gap, peak = map(float, done.stdout.split())
    path.unlink()
    assert samples == ROWS
    assert gap < 0.01
    assert peak < 500, f"{peak} MB"
