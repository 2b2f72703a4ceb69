"""PCA of Dask and dask-ml, of samples in chunks: what it finds, and its flops."""

import subprocess
import sys

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.solvers.dask_methods import DaskTSQR

import orthobench as ob
from orthobench.tools.flops import qr, svd

PACKAGES = ("dask",)

N, D, K = 60, 8, 3


def samples(n=N, d=D):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.linspace(2, 1, d) + rng.standard_normal(d)


def in_chunks(n, d, *chunks):
    """Return the flops of the QR of each chunk, and of all their factors together."""
    rows = sum(min(b, d) for b in chunks)
    return sum(qr(max(b, d), min(b, d)) for b in chunks) + qr(max(rows, d), min(rows, d))


@pytest.mark.parametrize(
    ("chunk", "n", "count"),
    [
        (25, N, in_chunks(N, D, 25, 25, 25) + svd(D, D)),
        (N - 1, N, in_chunks(N, D, N - 1, N - 1) + svd(D, D)),
        (N, N, in_chunks(N, D, N) + svd(D, D)),
        (D, D, in_chunks(D, D, D) + svd(D, D)),
        (6, 5, in_chunks(D, 5, 6, 6) + svd(5, 5) + 2 * 2 * D * 5**2),
    ],
)
def test_tall_skinny_qr_of_samples_or_of_their_transpose(chunk, n, count):
    X = samples(n)
    outcome = ob.solve(DaskTSQR(chunk=chunk), ob.stochastic_pca(X, k=K))
    assert subspace_error(outcome.solution, np.linalg.svd(X)[2][:K].T) < 1e-10
    assert outcome.work.flops == count


LOADED_ON_THE_CLOCK = """
import gc
import numpy as np, orthobench as ob
ob.solve("dask-tsqr", ob.stochastic_pca(np.random.default_rng(0).standard_normal((60, 8)), 2))
import dask.array
dask.array.zeros((9, 2), chunks=3)[:4]
print(gc.isenabled())
"""


@pytest.mark.wide
def test_slices_of_dask_leave_the_garbage_collector_on_after_a_run():
    code = [sys.executable, "-c", LOADED_ON_THE_CLOCK]
    assert subprocess.check_output(code, text=True) == "True\n"
