"""Skewed factor models, and Algorithms 2 and 3 written down literally."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.families.tucker_oracles import MomentStream
from orthobench.geometry import orthonormalize, random_point
from orthobench.sources import ArraySource

GAMMA_0 = 1e-5


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


def batches(rows, batch):
    """The batches X_t (n, b) of the paper."""
    return [rows[i : i + batch].T for i in range(0, len(rows), batch)]


def tucker_gradient(X, Q, d):
    """Algorithm 2, line 3, its factor corrected to 2d/b²."""
    b = X.shape[1]
    return 2 * d / b**2 * X @ (X.T @ Q @ Q.T @ X) ** (d - 1) @ X.T @ Q


def hoevd_gradient(X, Q, d):
    """Algorithm 3, line 5."""
    b = X.shape[1]
    return 2 / b**2 * X @ (X.T @ X) ** (d - 1) @ X.T @ Q


def ascent(gradient, Q, parts, d, c):
    """Algorithm 2, lines 2 to 8, or Algorithm 3, lines 4 to 9, gamma_{t-1} on the right."""
    gamma = np.full(Q.shape[1], GAMMA_0)
    for X in parts:
        G = gradient(X, Q, d)
        gamma = np.sqrt(gamma**2 + (G**2).sum(axis=0))
        Q = orthonormalize(Q + c * G / gamma)
    return Q


@pytest.fixture(scope="session")
def streaming():
    return SimpleNamespace(
        factor_model=factor_model, stream=stream, run=run, batches=batches, ascent=ascent,
        tucker_gradient=tucker_gradient, hoevd_gradient=hoevd_gradient,
    )  # fmt: skip
