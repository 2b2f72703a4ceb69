"""Tensors, samples, instances and runs that the tests of this family share."""

from dataclasses import replace
from itertools import permutations
from math import factorial
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource
from orthobench_kit.symmetric_tensors import symmetrized
from orthobench_tucker import GivenTensorOracle, MomentOracle, MomentStream, symmetric_tucker
from orthobench_tucker.sample_moments import moment_tensor

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point


def factor_model(n, r, count, seed=0, noise=0.1):
    """Rows x = B f + noise with centred exponential factors, and the true basis B."""
    rng = np.random.default_rng([seed, n, r])
    basis = random_point(n, r, rng)
    factors = rng.exponential(size=(count, r)) - 1
    return factors @ basis.T + noise / np.sqrt(n) * rng.standard_normal((count, n)), basis


def stream(rows, order, rank, start=None):
    """A stream of rows, all of them prepared."""
    oracle = MomentStream(ArraySource(rows), order, rank)
    if start is None:
        start = random_point(rows.shape[1], rank, np.random.default_rng(1))
    oracle.start = start
    oracle.prepare(len(rows))
    return oracle


def run(solver, oracle, *counts):
    """The state after `counts` steps."""
    state = solver.init(oracle, np.random.default_rng(0))
    for count in counts:
        solver.advance(oracle, state, count)
    return state


def same_columns(Q, expected, case=""):
    """Hold two bases to each other, up to the signs of columns."""
    signs = np.sign(np.sum(Q * expected, axis=0))
    np.testing.assert_allclose(Q, expected * signs, atol=1e-11, err_msg=case)


def symmetric(n, order, seed=0):
    """A symmetric tensor of Gaussian noise, symmetric to the last bit."""
    A = np.random.default_rng([seed, n, order]).standard_normal((n,) * order)
    mean = sum(A.transpose(axes) for axes in permutations(range(order))) / factorial(order)
    return symmetrized(mean)


def low_rank(n, order, rank, seed=0):
    """A random core multiplied by a random basis along all modes, and that basis."""
    Q = random_point(n, rank, np.random.default_rng([seed, 1]))
    T = symmetric(rank, order, seed)
    for _ in range(order):
        T = np.tensordot(T, Q, axes=([0], [1]))
    return symmetrized(T), Q


def matrix(values, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors."""
    V = random_point(len(values), len(values), np.random.default_rng([seed, 4]))
    return symmetrized((V * np.array(values, dtype=float)) @ V.T), V


def factors(n, p, rank=3, noise=0.3, seed=0):
    """Samples (p, n) of x = B f + noise with centred exponential factors, and the span of B."""
    rng = np.random.default_rng([seed, n, p])
    B = rng.standard_normal((n, rank))
    X = (rng.exponential(size=(p, rank)) - 1) @ B.T + noise * rng.standard_normal((p, n))
    return X, np.linalg.qr(B)[0]


def samples(n, p, rank, seed=0, noise=0.5):
    """Such samples alone, the noise in units of |B| / √n."""
    rng = np.random.default_rng([seed, 2])
    B = rng.standard_normal((n, rank))
    f = rng.exponential(size=(p, rank)) - 1
    sigma = noise * np.linalg.norm(B) / np.sqrt(n)
    return f @ B.T + sigma * rng.standard_normal((p, n))


def factor_tensor(n, order, rank, seed=0):
    return moment_tensor(samples(n, 5 * n, rank, seed), order)


def started(made, seed=0):
    """An instance with a common start."""
    rng = np.random.default_rng([seed, 3])
    made.oracle.start = random_point(made.oracle.n, made.oracle.k, rng)
    made.oracle.start.flags.writeable = False
    return made


def of_samples(X, order, rank, seed=0, **more):
    return started(symmetric_tucker(X, order=order, rank=rank, **more), seed)


def of_tensor(T, rank, seed=0, **more):
    return started(symmetric_tucker(tensor=T, rank=rank, **more), seed)


def mirrored(X, order, rank):
    """An instance of samples and their negatives, which the maker refuses for an odd order."""
    made = symmetric_tucker(X, order=order, rank=rank)
    return started(replace(made, oracle=MomentOracle(np.vstack([X, -X]), order, rank)))


def begun(solver, made):
    return solver.init(made.oracle, np.random.default_rng(0))


def ended(solver, made, most=5000):
    """The state after at most a number of steps."""
    state = begun(solver, made)
    solver.advance(made.oracle, state, most)
    return state


def converged(solver, made, most=2000):
    """The state at the end of a run, which must converge."""
    state = ended(solver, made, most)
    assert state.status is Status.CONVERGED, state.reason
    return state


def measure(made, Q):
    return made.measure(Solution(Q))


def skewed(n=30, r=5, seed=0, p=None):
    """Samples of a factor model, skewed factors, inverse signal-to-noise ratio 1/2; rows."""
    rng = np.random.default_rng([seed, n, r])
    p = p or 5 * n
    B = rng.standard_normal((n, r))
    noise = 0.5 * np.linalg.norm(B) / np.sqrt(n) * rng.standard_normal((p, n))
    return (rng.exponential(size=(p, r)) - 1) @ B.T + noise


def moment(order=3, r=5, seed=0, X=None, **sizes):
    X = skewed(seed=seed, r=r, **sizes) if X is None else X
    oracle = MomentOracle(X, order, r)
    oracle.start = random_point(oracle.n, r, np.random.default_rng(seed))
    return oracle


def tensor(T, r, seed=0):
    oracle = GivenTensorOracle(np.ascontiguousarray(T), r)
    oracle.start = random_point(len(T), r, np.random.default_rng(seed))
    return oracle


def random_tensor(n, order, r, seed):
    T = np.random.default_rng([seed, n]).standard_normal((n,) * order)
    return tensor(sum(T.transpose(axes) for axes in permutations(range(order))), r, seed)


def first_state(solver, oracle):
    return solver.init(oracle, np.random.default_rng(0))


def path(solver, oracle, most=1000):
    """The state at the end, and the points on the way."""
    state = first_state(solver, oracle)
    points = [state.point]
    while state.status is Status.RUNNING and state.work.steps < most:
        solver.advance(oracle, state, 1)
        points.append(state.point)
    return state, points


def objective(point):
    return point.value * point.unit**2


@pytest.fixture(scope="session")
def tucker():
    return SimpleNamespace(
        symmetric=symmetric, low_rank=low_rank, matrix=matrix, factors=factors, samples=samples,
        factor_tensor=factor_tensor, of_samples=of_samples, of_tensor=of_tensor,
        mirrored=mirrored, begun=begun, ended=ended, converged=converged, measure=measure,
    )  # fmt: skip


@pytest.fixture(scope="session")
def streaming():
    return SimpleNamespace(
        factor_model=factor_model, stream=stream, run=run, same_columns=same_columns,
    )  # fmt: skip


@pytest.fixture(scope="session")
def second_order():
    return SimpleNamespace(
        factors=skewed, moment=moment, tensor=tensor, random_tensor=random_tensor,
        begun=first_state, ended=path, objective=objective,
    )  # fmt: skip
