"""A default run does not depend on coordinates: rotated or permuted, it gives the same point.

Every solver runs on a small instance of each family that it takes, once as it is and once in other
coordinates, from the same start in these; the points must agree up to rounding.
"""

import numpy as np
import pytest
from scipy.linalg import block_diag
from small_instances import (
    CASES,
    CHAOTIC,
    MATRIX,
    MIXED,
    SAMPLES,
    TENSOR,
    TURN,
    WEIGHTS,
    projection,
)

import orthobench as ob
from orthobench.harness import execution
from orthobench.tools.geometry import random_point

PENCIL = np.diag([5.0, 3, 1, 0.5]), np.diag([1.0, 2, 1, 1])
TARGET = MATRIX / 4 + TURN


def stiefel(R):
    A = R.T @ MATRIX @ R
    return ob.stiefel(
        lambda X: float(np.vdot(X * WEIGHTS, A @ X)), lambda X: 2 * (A @ X) * WEIGHTS, n=8, p=3
    )


def orthogonal_group(R):
    T = R.T @ TARGET
    return ob.orthogonal_group(lambda U: -float(np.vdot(T, U)), lambda U: -T, n=8)


def pairs(R):
    return ob.cca(SAMPLES @ R[:8, :8], MIXED @ R[8:, 8:], 2)


def turned(T, R):
    return np.einsum("abc,ai,bj,ck->ijk", T, R, R, R)


FAMILIES = {
    "stiefel": (8, stiefel),
    "orthogonal-group": (8, orthogonal_group),
    "stochastic-pca": (8, lambda R: ob.stochastic_pca(SAMPLES @ R, 2)),
    "sparse-pca": (230, lambda R: ob.sparse_pca(R[:60, :60].T @ SAMPLES[:60], 2)),
    "orthogonal-tensor": (6, lambda R: ob.orthogonal_tensor(turned(TENSOR, R))),
    "tucker": (6, lambda R: ob.symmetric_tucker(tensor=turned(TENSOR, R), rank=2)),
    "tucker-of-samples": (
        5, lambda R: ob.symmetric_tucker(samples=R.T @ SAMPLES[:, :5].T, rank=2, order=3),
    ),
    "cca": (12, pairs),
    "pencil": (
        4, lambda R: ob.generalized_eigenvectors(*(R.T @ M @ R for M in PENCIL), 2),
    ),
    "polar": (8, lambda R: ob.polar(R.T @ MATRIX[:, :5])),
}  # fmt: skip
"""The rows of a point, and the instance whose coordinates are R'x."""


def coordinates(family, kind):
    """Return R of a family: a permutation or a rotation, of cca one for each side."""
    n, rng = FAMILIES[family][0], np.random.default_rng(1)
    n = FAMILIES[family][1](np.eye(n)).oracle.n if family == "sparse-pca" else n
    sizes = [8, 4] if family == "cca" else [n]
    blocks = [
        np.eye(m)[rng.permutation(m)] if kind == "permuted" else random_point(m, m, rng)
        for m in sizes
    ]
    return block_diag(*blocks)


def reached(solver, family, R, monkeypatch):
    """Return a point in the old coordinates: projections onto spans, or a point that is square."""
    monkeypatch.setattr(execution, "random_point", lambda *given: R.T @ random_point(*given))
    instance = FAMILIES[family][1](R)
    converges = solver.startswith(("sklearn", "fastica"))
    outcome = ob.solve(solver, instance, ob.Budget(steps=100 if converges else 25), seed=0)
    point = R @ outcome.solution
    if point.shape[0] == point.shape[1] or family == "polar":
        return point
    halves = np.split(point, [8]) if family == "cca" else [point]
    return np.concatenate([projection(half).ravel() for half in halves])


EXCEPTIONS = {
    ("pymanopt-steepest-descent", "stiefel"): "stalls at differences of values",
    ("random-submanifold", "stiefel"): "draws coordinates",
    ("random-submanifold", "orthogonal-group"): "draws coordinates",
    ("tensorly-power-iteration", "orthogonal-tensor"): "draws its own starts",
    ("randomized-joint-diagonalization", "orthogonal-tensor"): "draws directions",
    ("subspace-power", "orthogonal-tensor"): "draws its own starts",
    ("khatri-rao-sketch", "tucker-of-samples"): "draws a sketch",
    ("sklearn-cca", "cca"): "begins at the first column of y, and ends early",
    ("cp-adam", "tucker-of-samples"): "Adam scales each coordinate",
}
"""Solver and family, and why it may depend on coordinates."""

MARKED = [
    pytest.param(
        *case,
        marks=[pytest.mark.xfail(reason=EXCEPTIONS[case])] if case in EXCEPTIONS else [],
        id=" ".join(case),
    )
    for case in CASES
    if case[1] in FAMILIES
]


def check(solver, family, kind, monkeypatch):
    R = coordinates(family, kind)
    try:
        plain = reached(solver, family, np.eye(len(R)), monkeypatch)
    except ob.UsageError as refusal:
        pytest.skip(str(refusal))
    assert np.abs(reached(solver, family, R, monkeypatch) - plain).max() <= CHAOTIC


@pytest.mark.parametrize(("solver", "family"), MARKED)
def test_the_order_of_coordinates_does_not_matter(solver, family, monkeypatch):
    check(solver, family, "permuted", monkeypatch)


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), MARKED)
def test_rotated_coordinates_do_not_matter(solver, family, monkeypatch):
    if family == "sparse-pca":
        pytest.skip("loadings that are sparse in some coordinates are not in others")
    check(solver, family, "rotated", monkeypatch)
