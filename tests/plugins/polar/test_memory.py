"""Memory around a run, and metrics of matrices whose polar factors are not stored."""

import tracemalloc

import numpy as np
import pytest
from orthobench_polar import judge
from orthobench_polar.judge import Judge
from orthobench_polar.solvers.direct import PolarEigh

import orthobench as ob
from orthobench.harness.execution import ready_oracle
from orthobench.harness.identity import Streams


def tall(rows, columns=20):
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, columns)) / np.sqrt(1 + np.arange(columns))


@pytest.mark.parametrize("exponent", [0.0, 0.5, -1.0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_judge_by_blocks_measures_as_one_by_the_svd(exponent, order, monkeypatch):
    A = np.asarray(tall(9000), order=order)
    U, values, Vt = np.linalg.svd(A, full_matrices=False)
    best = (U * values**exponent) @ Vt
    off = best + 0.1 * np.random.default_rng(1).standard_normal(A.shape)
    whole = Judge(A, exponent)
    monkeypatch.setattr(judge, "LARGE", 2**17)
    by_blocks = Judge(A, exponent)
    for point in (best, off, 3 * A, A * np.geomspace(1, 1e3, 20)):
        expected = pytest.approx(whole(ob.Solution(point)), rel=1e-12, abs=1e-13)
        assert by_blocks(ob.Solution(point)) == expected


def test_a_large_matrix_is_held_once_beside_a_run():
    A = tall(200_000)
    tracemalloc.start()
    instance = ob.polar(A)
    oracle, _ = ready_oracle(instance.oracle, PolarEigh(), Streams.of("memory", "polar", 0))
    instance.measure(ob.Solution(A))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert oracle.A.nbytes < peak < 1.3 * oracle.A.nbytes
