"""Symmetric tensors, instances of them, and runs to the end."""

from __future__ import annotations

import pickle
from itertools import permutations
from math import factorial
from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.families.full_tensors import moment_tensor, symmetrized
from orthobench.families.symmetric_tucker import symmetric_tucker
from orthobench.geometry import random_point
from orthobench.solution import Solution
from orthobench.solver import Status


def gaussian(n, order, seed=0):
    """A symmetric tensor of Gaussian noise, symmetric to the last bit."""
    A = np.random.default_rng([seed, n, order]).standard_normal((n,) * order)
    mean = sum(A.transpose(p) for p in permutations(range(order))) / factorial(order)
    return symmetrized(mean)


def low_rank(n, order, rank, seed=0):
    """A random core multiplied by a random basis along all modes, and that basis."""
    Q = random_point(n, rank, np.random.default_rng([seed, 1]))
    T = gaussian(rank, order, seed)
    for _ in range(order):
        T = np.tensordot(T, Q, axes=([0], [1]))
    return symmetrized(T), Q


def matrix(values, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors."""
    V = random_point(len(values), len(values), np.random.default_rng([seed, 4]))
    return symmetrized((V * np.array(values, dtype=float)) @ V.T), V


def factors(n, p, rank, seed=0, noise=0.5):
    """Samples of skewed factors with noise, rows."""
    rng = np.random.default_rng([seed, 2])
    B = rng.standard_normal((n, rank))
    f = rng.exponential(size=(p, rank)) - 1
    sigma = noise * np.linalg.norm(B) / np.sqrt(n)
    return f @ B.T + sigma * rng.standard_normal((p, n))


def factor_tensor(n, order, rank, seed=0):
    return moment_tensor(factors(n, 5 * n, rank, seed), order)


def instance(T, rank, seed=0, **more):
    made = symmetric_tucker(tensor=T, rank=rank, **more)
    made.oracle.start = random_point(len(T), rank, np.random.default_rng([seed, 3]))
    return made


def of_samples(X, order, rank, seed=0):
    made = symmetric_tucker(samples=X.T, order=order, rank=rank)
    made.oracle.start = random_point(X.shape[1], rank, np.random.default_rng([seed, 3]))
    return made


def begun(solver, made, seed=0):
    return solver.init(made.oracle, np.random.default_rng(seed))


def ended(solver, made, most=2000):
    """The state at the end of a run, which must converge."""
    state = begun(solver, made)
    solver.advance(made.oracle, state, most)
    assert state.status is Status.CONVERGED, state.reason
    return state


def measure(made, Q):
    return made.measure(Solution(Q))


def resumed_is_the_same(solver, made, first=2, then=3):
    """Whether a run in pieces, pickled in between, gives the bits of one in one go."""
    whole = begun(solver, made)
    solver.advance(made.oracle, whole, first + then)
    parts = begun(solver, made)
    solver.advance(made.oracle, parts, first)
    parts = pickle.loads(pickle.dumps(parts))  # noqa: S301 - what this test has written
    solver.advance(made.oracle, parts, then)
    same = np.array_equal(solver.solution(whole).point, solver.solution(parts).point)
    return same and whole.work == parts.work


@pytest.fixture(scope="session")
def tucker():
    return SimpleNamespace(
        gaussian=gaussian, low_rank=low_rank, matrix=matrix, factors=factors,
        factor_tensor=factor_tensor, instance=instance, of_samples=of_samples, begun=begun,
        ended=ended, measure=measure, resumed_is_the_same=resumed_is_the_same,
    )  # fmt: skip
