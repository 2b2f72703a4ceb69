"""Canonical correlations of real size: our clock against plain numpy and scikit-learn.

CPU seconds of one thread on all sides.
"""

from __future__ import annotations

from functools import cache
from time import process_time_ns

import numpy as np
import pytest
from clock import spent
from sklearn.cross_decomposition import CCA
from smoke import usually

import orthobench as ob
from orthobench.harness.execution import CLOCK
from orthobench.tools.environment import limited

SHAPES = usually(
    [(20_000, 200, 100, 5), (5000, 2048, 1048, 5), (400, 3000, 2000, 5)],
    smoke=[(200, 12, 9, 2), (20, 30, 25, 2)],
)
RIDGE = 0.1
RATIO = usually(1.0, smoke=1e9)
SLOWEST = usually(500, smoke=100)
"""Maximum number of columns for which scikit-learn runs."""


@cache
def pairs(N, p, q, k):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((N, 3 * k))
    return tuple(
        z @ rng.standard_normal((3 * k, m)) + 3 * rng.standard_normal((N, m)) for m in (p, q)
    )


def root(S):
    values, vectors = np.linalg.eigh(S)
    return (vectors / np.sqrt(values)) @ vectors.T


def by_roots(X, Y, k):
    """Return what textbooks have: inverse square roots of covariances, and an SVD."""
    X, Y, N = X - X.mean(axis=0), Y - Y.mean(axis=0), len(X)
    left, right = (root(M.T @ M / N + RIDGE * np.eye(M.shape[1])) for M in (X, Y))
    U, found, Vt = np.linalg.svd(left @ (X.T @ Y / N) @ right)
    return left @ U[:, :k], found[:k], right @ Vt[:k].T


def by_qr(X, Y, k):
    """Return what `cca` of statistics packages does, which have no ridge."""
    (Q, R), (P, T) = (np.linalg.qr(M - M.mean(axis=0)) for M in (X, Y))
    U, found, Vt = np.linalg.svd(Q.T @ P, full_matrices=False)
    return np.linalg.solve(R, U[:, :k]), found[:k], np.linalg.solve(T, Vt[:k].T)


PLAIN = {
    "by-roots": by_roots,
    "by-qr": by_qr,
    "sklearn": lambda X, Y, k: CCA(k, scale=False).fit(X, Y),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("plain", PLAIN)
def test_exact_canonical_correlations(benchmark, beside, report, plain, shape):
    N, p, _, k = shape
    if plain != "by-roots" and p > N:
        pytest.skip("it has no ridge")
    if plain == "sklearn" and p > SLOWEST:
        pytest.skip("minutes")
    X, Y = pairs(*shape)
    instance = ob.cca(X, Y, k, ridge=RIDGE if plain == "by-roots" else 0.0)
    token = CLOCK.set(process_time_ns)
    try:
        with limited(1):
            other = spent(lambda: PLAIN[plain](X, Y, k))[0]
            outcome = ob.solve("cca-exact", instance)
    finally:
        CLOCK.reset(token)
    assert outcome.trace[-1].metrics["suboptimality"] < 1e-9
    own = outcome.trace[-1].seconds
    benchmark.group = f"cca-exact {shape}"
    benchmark.pedantic(ob.solve, args=("cca-exact", instance), rounds=1)
    beside({plain: [other]})
    met = "met" if own <= RATIO * other else "MISSED"
    report(
        plain,
        shape,
        k,
        f"{other:.3g}",
        f"{own:.3g}",
        f"{own / other:.2f}",
        f"at most {RATIO:g} {met}",
        "-",
    )
