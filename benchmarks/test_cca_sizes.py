"""Canonical correlations at the sizes that people ask about: seconds, memory, what is captured.

Each side runs in a process of its own: CPU seconds of one thread, and that process at its peak,
data included. ``pytest benchmarks/test_cca_sizes.py -k cells`` runs one size.
"""

from __future__ import annotations

import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time
from typing import NamedTuple

import numpy as np
import pytest
import smoke
from orthobench_cca.judge import Judge
from orthobench_cca.oracle import PairsMatrices, PairsOracle
from orthobench_cca.problems.pairs import SparsePairs
from sklearn.cross_decomposition import CCA
from smoke import usually
from test_cca import by_qr

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.registry.plugins import catalogue
from orthobench.tools.environment import limited
from orthobench.tools.geometry import random_point


class Size(NamedTuple):
    """Rows, columns of both sides, the ridge, and what is peculiar."""

    N: int
    p: int
    q: int
    ridge: float = 0.0
    sparse: bool = False
    condition: float = 1.0


K = 5
TINY = Size(100, 40, 30)
SIZES = usually(
    {
        "columns": Size(5000, 2048, 1048, 0.1),
        "cells": Size(60_000, 5000, 5000, 1e-3, sparse=True),
        "wide": Size(400, 3000, 2000, 0.1),
        "ill-conditioned": Size(5000, 200, 100, condition=1e6),
    },
    smoke={
        "columns": Size(60, 12, 9, 0.1),
        "cells": Size(100, 40, 30, 1e-3, sparse=True),
        "wide": Size(20, 30, 25, 0.1),
        "ill-conditioned": Size(60, 12, 9, condition=1e6),
    },
)
OURS = ("cca-exact", "cca-als", "cca-block-krylov")
SIDES = {
    "columns": (*OURS, "roots", "sklearn"),
    "cells": ("cca-exact", "cca-block-krylov"),
    "wide": (*OURS, "roots"),
    "ill-conditioned": (*OURS, "cca-exact by=qr", "roots", "by-qr", "sklearn"),
}


def data(size: Size):
    rng = np.random.default_rng(0)
    if size.sparse:
        problem = SparsePairs(K, size.N, size.p, size.q, ridge=size.ridge)
        groups = rng.integers(K + 1, size=size.N)
        return tuple(problem.counts(groups, columns, rng) for columns in (size.p, size.q))
    z = rng.standard_normal((size.N, K))
    return tuple(
        (z @ rng.standard_normal((K, m)) + 3 * rng.standard_normal((size.N, m)))
        * np.geomspace(1, 1 / size.condition, m)
        for m in (size.p, size.q)
    )


def roots(X, Y, ridge):
    """Return what textbooks have: inverse square roots of covariances, and an SVD."""
    X, Y, N = X - X.mean(axis=0), Y - Y.mean(axis=0), len(X)
    factors = []
    for M in (X, Y):
        values, vectors = np.linalg.eigh(M.T @ M / N + ridge * np.eye(M.shape[1]))
        factors.append((vectors / np.sqrt(values)) @ vectors.T)
    U, _, Vt = np.linalg.svd(factors[0] @ (X.T @ Y / N) @ factors[1])
    return factors[0] @ U[:, :K], factors[1] @ Vt[:K].T


def scikit_learn(X, Y, ridge):
    model = CCA(K, scale=False).fit(X, Y)
    return model.x_rotations_, model.y_rotations_


def qr(X, Y, ridge):
    assert not ridge
    return by_qr(X, Y, K)[::2]


PLAIN = {"roots": roots, "by-qr": qr, "sklearn": scikit_learn}


def solved(spec: str, X, Y, ridge: float):
    """Return the weights of a solver that runs until it has converged."""
    oracle: PairsMatrices
    if hasattr(X, "tocsr"):
        oracle = PairsMatrices(X, Y, K, ridge)
    else:
        pairs = np.hstack([X - X.mean(axis=0), Y - Y.mean(axis=0)])
        oracle = PairsOracle(pairs, X.shape[1], K, ridge)
    oracle.start = random_point(oracle.n, K, np.random.default_rng(0))
    solver = catalogue().solver(*_parsed(spec))
    state = solver.init(oracle, np.random.default_rng(0))
    while state.status is Status.RUNNING:
        solver.advance(oracle, state, 1)
    point = solver.solution(state).point
    return point[: oracle.p], point[oracle.p :]


def _parsed(spec: str):
    name, *given = spec.split()
    return name, dict(one.split("=") for one in given)


def weights_of(side: str, X, Y, ridge: float):
    return PLAIN[side](X, Y, ridge) if side in PLAIN else solved(side, X, Y, ridge)


def measured(side: str, size: Size):
    """Return CPU seconds, GB at the peak, the correlations captured, and the relative gradient."""
    X, Y = data(size)
    with limited(1), np.errstate(all="ignore"):
        weights_of(side, *data(TINY._replace(sparse=size.sparse)), size.ridge)  # imports
        begin = process_time()
        found = weights_of(side, X, Y, size.ridge)
        seconds = process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    weights = np.nan_to_num(np.vstack(found))
    metrics = Judge(PairsMatrices(X, Y, K, size.ridge), None)(Solution(weights))
    return seconds, peak, metrics["captured"], metrics["relative_gradient"]


def apart(side: str, size: Size):
    """Return what is measured in a process of its own, or in this one in smoke runs."""
    if smoke.ON:
        return measured(side, size)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, side, size).result()


@pytest.mark.parametrize(
    ("name", "side"), [(name, side) for name, sides in SIDES.items() for side in sides]
)
def test_sizes_that_people_ask_about(report, name, side):
    size = SIZES[name]
    seconds, peak, captured, gradient = apart(side, size)
    report(
        side,
        f"{name} {size.N} x ({size.p}, {size.q})",
        K,
        f"{seconds:.3g} s",
        f"{peak:.2f} GB",
        f"{captured:.6f}",
        f"gradient {gradient:.1e}",
        "-",
    )
    assert np.isfinite(captured)
