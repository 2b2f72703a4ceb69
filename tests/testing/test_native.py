"""Conformance checks of solvers whose arithmetic is in a C library."""

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.ctypeslib import ndpointer

import orthobench as ob
from orthobench.contract import SampleOracle, Solution, Solver, State, flops
from orthobench.testing import CheckStatus, check_flops
from orthobench.testing.check import Check

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler, cc")

SOURCE = """
void add_product(long rows, long n, long k, const double *x, const double *U, double *V)
{
    for (long r = 0; r < rows; r++)
        for (long j = 0; j < k; j++) {
            double sum = 0;
            for (long i = 0; i < n; i++) sum += x[r * n + i] * U[i * k + j];
            for (long i = 0; i < n; i++) V[i * k + j] += x[r * n + i] * sum;
        }
}
"""
ARRAY = ndpointer(np.float64, ndim=2, flags="C_CONTIGUOUS")
WAYS = {"ndpointer": (ARRAY, lambda A: A), "pointer": (ctypes.c_void_p, lambda A: A.ctypes.data)}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "library.c").write_text(SOURCE)
    words = ["-O2", "-shared", "-fPIC", "-o", "library.so", "library.c"]
    subprocess.run(["cc", *words], check=True, cwd=folder)  # noqa: S607
    return ctypes.CDLL(str(folder / "library.so"))


@dataclass(slots=True, kw_only=True)
class Iterate(State):
    U: np.ndarray


@dataclass(frozen=True)
class PlainOja(Solver[SampleOracle, Iterate]):
    """Oja's method on batches of 10 samples, with steps of 0.01."""

    name: ClassVar[str] = "c-oja"
    batch: ClassVar[int] = 10

    def init(self, oracle, rng):
        return Iterate(U=oracle.start.copy())

    def step(self, oracle, state):
        x = oracle.take(10) / 10
        n, k = state.U.shape
        state.U = np.linalg.qr(self.moved(np.ascontiguousarray(x), state.U))[0]
        state.work.steps += 1
        state.work.samples += len(x)
        state.work.flops += 4 * len(x) * n * k + n * k + x.size + flops.qr(n, k)

    def moved(self, x, U):
        return U + x.T @ (x @ U)

    def solution(self, state):
        return Solution(state.U.copy())


@pytest.fixture
def instance():
    return ob.stochastic_pca(np.random.default_rng(0).standard_normal((400, 6)), k=2)


def flops_checked(*subject):
    return Check("flops", "", check_flops).result(*subject)


@pytest.mark.parametrize("way", WAYS)
def test_flops_of_c_are_checked_by_the_same_in_numpy(way, library, instance):
    kind, address = WAYS[way]

    class COja(PlainOja):
        def moved(self, x, U):
            V, add = U.copy(), library.add_product
            add.argtypes = [ctypes.c_long] * 3 + [kind] * 3
            add.restype = None
            add(len(x), *U.shape, *map(address, (x, U, V)))
            return V

    found = flops_checked(COja(), instance)
    assert "pass plain= to check_flops" in found.message
    assert found.status is CheckStatus.NOT_CHECKABLE
    assert flops_checked(COja(), instance, PlainOja()).status is CheckStatus.PASSED
    assert flops_checked(PlainOja(), instance).status is CheckStatus.PASSED
