"""Samples of a skewed factor model, random symmetric tensors, and runs to the end."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.families.symmetric_tucker import symmetric_tucker
from orthobench.geometry import random_point


def factors(n, p, rank=3, noise=0.3, seed=0):
    """Samples (p, n) of x = B f + noise with centred exponential factors, and the span of B."""
    rng = np.random.default_rng([seed, n, p])
    B = rng.standard_normal((n, rank))
    X = (rng.exponential(size=(p, rank)) - 1) @ B.T + noise * rng.standard_normal((p, n))
    return X, np.linalg.qr(B)[0]


def symmetric(n, order, seed=0):
    """A random symmetric tensor."""
    A = np.random.default_rng([seed, n, order]).standard_normal((n,) * order)
    return sum(A.transpose(axes) for axes in permutations(range(order)))


def of_samples(X, order, rank, seed=0, **more):
    """An instance of rows (p, n), its common start set."""
    made = symmetric_tucker(samples=X.T, order=order, rank=rank, **more)
    return _started(made, seed)


def of_tensor(T, rank, seed=0):
    return _started(symmetric_tucker(tensor=T, rank=rank), seed)


def _started(made, seed):
    rng = np.random.default_rng([seed, 7])
    made.oracle.start = random_point(made.oracle.n, made.oracle.k, rng)
    made.oracle.start.flags.writeable = False
    return made


def begun(solver, made):
    return solver.init(made.oracle, np.random.default_rng(0))


def ended(solver, made, most=5000):
    """The state after at most so many steps."""
    state = begun(solver, made)
    solver.advance(made.oracle, state, most)
    return state


HELPERS = SimpleNamespace(
    factors=factors,
    symmetric=symmetric,
    of_samples=of_samples,
    of_tensor=of_tensor,
    begun=begun,
    ended=ended,
)


@pytest.fixture(scope="session")
def tucker():
    return HELPERS
