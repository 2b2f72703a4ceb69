"""The flops of the Givens methods against the operations of the methods written plainly."""

from dataclasses import dataclass

import numpy as np
import pytest
from orthobench_givens._kernels.sparse_columns import Tally, plane_flops
from orthobench_givens.solvers.coordinate_descent import Givens
from orthobench_stiefel.problems.ica import ICA
from orthobench_stiefel.problems.orthogonal_brockett import Brockett
from orthobench_stiefel.problems.orthogonal_procrustes import Procrustes
from plain_solvers import Plain, PlainState

from orthobench.testing import counted, counting

N = 12


def turned(x, y, c, s):
    return c * x + s * y, c * y - s * x


@dataclass(frozen=True)
class PlainGivens(Plain):
    """Algorithm 1 of Shalit and Chechik (2014) for the trace of M'U."""

    def init(self, oracle, rng):
        state = PlainState()
        state.U, state.rng = oracle.start.copy(), rng
        state.C = oracle.M.T @ state.U
        return state

    def move(self, oracle, state):
        U, C, pairs = state.U, state.C, [(i, j) for j in range(N) for i in range(j)]
        i, j = pairs[int(state.rng.random() * len(pairs))]
        angle = np.arctan2(C[i, j] - C[j, i], C[i, i] + C[j, j])
        if abs(angle) > 1e-10:
            c, s = np.cos(angle), np.sin(angle)
            U[:, i], U[:, j] = turned(U[:, i], U[:, j], c, s)
            C[:, i], C[:, j] = turned(C[:, i], C[:, j], c, s)


def test_givens(flops_agree):
    instance = Procrustes(n=N, rows=30).build(np.random.default_rng(0))
    for name in ("cost", "partials"):  # not asked for, and not to be counted
        delattr(instance.oracle, name)
    flops_agree(Givens(), PlainGivens(), instance)


def test_a_plane_of_sparse_pca():
    """The terms of a step; how many there are is up to the search for the angle."""
    d, gamma, c, s = 50, 0.5, 0.6, 0.8
    with counting() as tally:
        x, y = counted(np.ones(d)), counted(np.ones(d))
        _ = x * x + y * y > gamma**2
        assert tally.flops == plane_flops(d, Tally(planes=1))
        tally.flops = 0
        over = [np.maximum(np.abs(part) - gamma, 0.0) for part in turned(x, y, c, s)]
        _ = sum(part @ part for part in over)
        assert tally.flops == pytest.approx(plane_flops(d, Tally(values=1)), rel=0.01)
        tally.flops = 0
        turned(x, y, c, s)
        assert tally.flops == plane_flops(d, Tally(rotated=1))


@pytest.mark.parametrize("problem", [Procrustes(n=N), Brockett(n=N), ICA(n=N)], ids=str)
def test_flops_of_carrying_and_rotating_are_those_done(problem):
    oracle, U = problem.build(np.random.default_rng(0)).oracle, np.eye(N)
    with counting() as tally:
        carried = oracle.carry(counted(U))
        assert tally.flops == oracle.carry_flops
        tally.flops = 0
        oracle.rotate(carried, 1, 4, 0.3)
        assert tally.flops == oracle.rotation_flops


def test_flops_of_a_restriction_of_ica_are_those_done():
    """The terms of a sample; those of the two coefficients do not grow with them."""
    found = []
    for samples in (100, 200):
        oracle = ICA(n=3, samples=samples).build(np.random.default_rng(0)).oracle
        with counting() as tally:
            oracle.restricted(oracle.carry(counted(np.eye(3))), 0, 2)
            found.append((oracle.restriction_flops, tally.flops - oracle.carry_flops))
    (said, was), (more_said, more) = found
    assert more_said - said == more - was
    assert said == pytest.approx(was, abs=5)
