"""shoevd against Algorithm 3 written down literally, and against HOEVD itself."""

from itertools import product

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_tucker import streaming as module
from orthobench_tucker.reference import ascent, hoevd_gradient
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.streaming import hoevd_weights

from orthobench.tools.geometry import random_point

ORDERS = [2, 3, 4, 5]


def test_the_weights_are_the_gradient_of_the_unfolding(streaming, monkeypatch):
    """|mat(M)'Q|² has the gradient 2 mat(M) mat(M)'Q; through the full tensor."""
    monkeypatch.setattr(module, "TILE", 8)
    for d, b in product(ORDERS, [1, 6, 30]):
        rng = np.random.default_rng([d, b])
        X, Q = rng.exponential(size=(4, b)) - 1, random_point(4, 2, rng)
        unfolded = X
        for _ in range(d - 2):
            unfolded = np.einsum("ib,jb->ijb", unfolded, X).reshape(-1, b)
        M = X @ unfolded.T / b
        R = hoevd_weights(np.ascontiguousarray(X.T), Q.T @ X, d)
        expected = 2 * M @ M.T @ Q
        for found in (2 / b**2 * X @ R.T, hoevd_gradient(X.T, Q, d)):
            assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max(), (d, b)


def test_it_is_algorithm_3(streaming):
    for d, c in product(ORDERS, [0.1, 1.0, 1000.0]):
        rows, _ = streaming.factor_model(12, 3, 6 * 20, noise=1.0)
        solver, oracle = SHOEVD(step_size=c, batch=20), streaming.stream(rows, d, 3)
        state = streaming.run(solver, oracle, 6)
        Q = ascent(hoevd_gradient, oracle.start, rows, d, 20, c)
        streaming.same_columns(solver.solution(state).point, Q, f"{d}, {c}")


def test_on_full_batches_it_converges_to_hoevd(streaming):
    rows, _ = streaming.factor_model(10, 2, 50)
    oracle = streaming.stream(np.tile(rows, (300, 1)), 3, 2)
    state = streaming.run(SHOEVD(batch=50, step_size=3.0), oracle, 300)
    X = rows.T
    values, vectors = np.linalg.eigh(X @ (X.T @ X) ** 2 @ X.T)
    assert values[-2] > 2 * values[-3]
    assert subspace_error(state.rows.T, vectors[:, -2:]) < 1e-6


@pytest.mark.parametrize("d", [3, 4])
def test_it_recovers_the_basis_of_a_skewed_factor_model(streaming, d):
    rows, basis = streaming.factor_model(60, 4, 50 * 200)
    state = streaming.run(SHOEVD(), streaming.stream(rows, d, 4), 200)
    assert subspace_error(state.rows.T, basis) < 0.1
