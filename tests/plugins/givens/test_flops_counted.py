"""The flops of the Givens methods against the operations of the methods written plainly."""

from dataclasses import dataclass
from itertools import permutations
from math import pi
from typing import Any, ClassVar

import numpy as np
import pytest
from orthobench_givens._kernels.sparse_columns import Tally, plane_flops
from orthobench_givens.solvers.coordinate_descent import Givens
from orthobench_givens.solvers.tensor import GivensTensor
from orthobench_orthogonal_tensor import TensorOracle
from orthobench_stiefel.orthogonal_group import OrthogonalGroupOracle
from orthobench_stiefel.problems.ica import ICA
from orthobench_stiefel.problems.orthogonal_brockett import Brockett
from orthobench_stiefel.problems.orthogonal_procrustes import Procrustes

import orthobench as ob
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import Solver, State
from orthobench.testing import counted, counting

N = 12


class PlainState(State):
    """Takes any attributes."""


class Plain(Solver[Any, PlainState]):
    name: ClassVar[str] = "plain"

    def step(self, oracle, state):
        self.rotate(oracle, state)
        state.work.steps += 1

    def solution(self, state):
        return Solution(state.U.copy())


def turned(x, y, c, s):
    return c * x + s * y, c * y - s * x


@dataclass(frozen=True)
class PlainGivensTensor(Plain):
    """Algorithm 3 of Shalit and Chechik (2014), of equal entries of T~ one."""

    needs: ClassVar[type[Oracle]] = TensorOracle

    def init(self, oracle, rng):
        state = PlainState()
        T, state.U = oracle.T, oracle.start.copy()
        for _ in range(3):  # each brings another index to the end
            T = np.tensordot(state.U, T, axes=(0, 2))
        state.T, state.pairs = T, list(zip(*np.triu_indices(N, 1), strict=True))
        return state

    def rotate(self, oracle, state):
        T, (i, j) = state.T, state.pairs[state.work.steps % len(state.pairs)]
        few = T[i, i, i], T[i, i, j], T[i, j, j], T[j, j, j]
        c, s = highest(*few)
        others = np.array([a for a in range(N) if a not in (i, j)])
        a, b = (others[k] for k in np.triu_indices(N - 2))
        once = turned(T[i, a, b], T[j, a, b], c, s)
        twice = both_turned(T[i, i, others], T[i, j, others], T[j, j, others], c, s)
        every = thrice_turned(few, c, s)
        for k, entries in zip((i, j), once, strict=True):
            self.put(T, entries, k, a, b)
        for (k, m), entries in zip(((i, i), (i, j), (j, j)), twice, strict=True):
            self.put(T, entries, k, m, others)
        for k, entry in zip(((i, i, i), (i, i, j), (i, j, j), (j, j, j)), every, strict=True):
            self.put(T, entry, *k)
        state.U[:, i], state.U[:, j] = turned(state.U[:, i], state.U[:, j], c, s)

    @staticmethod
    def put(T, entries, a, b, c):
        for indices in ((a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)):
            T[indices] = entries


def both_turned(ii, ij, jj, c, s):
    """Return (iia, ija, jja) turned in both of the first two indices."""
    cc, cs, ss = c * c, c * s, s * s
    return (
        cc * ii + 2 * cs * ij + ss * jj,
        (cc - ss) * ij + cs * (jj - ii),
        (ss * ii - 2 * cs * ij + cc * jj),
    )


def thrice_turned(entries, c, s):
    """Return (iii, iij, ijj, jjj) turned in all three indices."""
    ccc, ccs, css, sss = c**3, c * c * s, c * s * s, s**3
    few, most = ccc - 2 * css, 2 * ccs - sss
    powers = [
        [ccc, 3 * ccs, 3 * css, sss], [-ccs, few, most, css],
        [css, -most, few, ccs], [-sss, 3 * css, -3 * ccs, ccc],
    ]  # fmt: skip
    return np.array(powers) @ np.array(entries)


def highest(iii, iij, ijj, jjj):
    """Return cosine and sine of the best angle, by a cubic in the tangent."""
    p0, p1, p2, p3 = iii + jjj, 3 * (iij - ijj), 3 * (iij + ijj), jjj - iii
    x = real_roots((2 * p1 - 3 * p3) / p2, (3 * p0 - 2 * p2) / p2, -p1 / p2)
    c = 1 / np.sqrt(1 + x * x)
    values = (p0 + x * (p1 + x * (p2 + x * p3))) * c**3
    best = int(np.argmax(np.abs(values)))
    c = np.copysign(c[best], values[best])
    return c, x[best] * c


def real_roots(a, b, d):
    """Return the real roots of x³ + ax² + bx + d, polished by a Newton step."""
    p, q = b - a * a / 3, a * (2 * a * a / 27 - b / 3) + d
    inside = q * q / 4 + p**3 / 27
    if inside < 0:
        angle = np.arccos(-q / 2 / np.sqrt(-(p**3) / 27)) / 3
        x = 2 * np.sqrt(-p / 3) * np.cos(angle + np.array([0.0, 2 * pi / 3, 4 * pi / 3])) - a / 3
    else:
        root = np.sqrt(inside)
        x = np.cbrt(np.array([-q / 2 + root])) + np.cbrt(-q / 2 - root) - a / 3
    return x - (((x + a) * x + b) * x + d) / ((3 * x + 2 * a) * x + b)


@dataclass(frozen=True)
class PlainGivens(Plain):
    """Algorithm 1 of Shalit and Chechik (2014) for the trace of M'U."""

    needs: ClassVar[type[Oracle]] = OrthogonalGroupOracle

    def init(self, oracle, rng):
        state = PlainState()
        state.U, state.rng = oracle.start.copy(), rng
        state.C = oracle.M.T @ state.U
        return state

    def rotate(self, oracle, state):
        U, C, pairs = state.U, state.C, [(i, j) for j in range(N) for i in range(j)]
        i, j = pairs[int(state.rng.random() * len(pairs))]
        angle = np.arctan2(C[i, j] - C[j, i], C[i, i] + C[j, j])
        if abs(angle) > 1e-10:
            c, s = np.cos(angle), np.sin(angle)
            U[:, i], U[:, j] = turned(U[:, i], U[:, j], c, s)
            C[:, i], C[:, j] = turned(C[:, i], C[:, j], c, s)


def test_givens_tensor(flops_agree):
    rng = np.random.default_rng(0)
    T = rng.standard_normal((N, N, N))
    T = sum(T.transpose(p) for p in permutations(range(3)))
    flops_agree(GivensTensor(), PlainGivensTensor(), ob.orthogonal_tensor(T))


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
def test_what_oracles_say_of_carrying_and_rotating(problem):
    oracle, U = problem.build(np.random.default_rng(0)).oracle, np.eye(N)
    with counting() as tally:
        carried = oracle.carry(counted(U))
        assert tally.flops == oracle.carry_flops
        tally.flops = 0
        oracle.rotate(carried, 1, 4, 0.3)
        assert tally.flops == oracle.rotation_flops


def test_what_ica_says_of_a_restriction():
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
