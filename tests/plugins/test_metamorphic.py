"""Default runs do not depend on coordinates, order of columns, or the origin.

Every solver runs on a small instance of each of its families, and again in other coordinates, with
columns of the start in another order, or with data or cost moved by a constant. The points must
agree up to rounding.
"""

from functools import cache, partial

import numpy as np
import pytest
from features import of_features
from scipy.linalg import block_diag
from small_instances import (
    CASES,
    CHAOTIC,
    MATRIX,
    MIXED,
    SAMPLE,
    SAMPLES,
    TENSOR,
    TURN,
    WEIGHTS,
    WHITE,
    budget,
    contrast,
    projection,
)

import orthobench as ob
from orthobench.harness import execution
from orthobench.tools.geometry import random_point

PENCIL = np.diag([5.0, 3, 1, 0.5]), np.diag([1.0, 2, 1, 1])
TARGET = MATRIX / 4 + TURN


def stiefel(R, weights=WEIGHTS, moved=0.0):
    A = R.T @ MATRIX @ R
    return ob.stiefel(
        lambda X: float(np.vdot(X * weights, A @ X)) + moved,
        lambda X: 2 * (A @ X) * weights, n=8, p=3,
    )  # fmt: skip


def orthogonal_group(R, moved=0.0):
    T = R.T @ TARGET
    return ob.orthogonal_group(lambda U: -float(np.vdot(T, U)) + moved, lambda U: -T, n=8)


def pairs(R):
    return ob.cca(SAMPLES @ R[:8, :8], MIXED @ R[8:, 8:], 2)


def turned(T, R):
    return np.einsum("abc,ai,bj,ck->ijk", T, R, R, R)


FAMILIES = {
    "stiefel": (8, stiefel),
    "orthogonal-group": (8, orthogonal_group),
    "components": (4, lambda R: contrast(WHITE @ R)),
    "pca": (8, lambda R: ob.pca(SAMPLES @ R, 2)),
    "pca, as it is": (8, lambda R: ob.pca(SAMPLES @ R, 2, center=False)),
    "stochastic-pca": (8, lambda R: ob.stochastic_pca(SAMPLES @ R, 2)),
    "sparse-pca": (230, lambda R: of_features(R[:20, :20].T @ SAMPLES[:20], 2)),
    "orthogonal-tensor": (6, lambda R: ob.orthogonal_tensor(turned(TENSOR, R))),
    "tucker": (6, lambda R: ob.symmetric_tucker(tensor=turned(TENSOR, R), rank=2)),
    "tucker-of-samples": (
        5, lambda R: ob.symmetric_tucker(SAMPLES[:, :5] @ R, rank=2, order=3),
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


PLAIN = {family: partial(make, np.eye(n)) for family, (n, make) in FAMILIES.items()}
"""The instances as they are."""

UNORDERED = {
    "stiefel": lambda: stiefel(np.eye(8), np.ones(3)),
    **{
        name: PLAIN[name]
        for name in (
            "components", "pca", "stochastic-pca", "orthogonal-tensor", "cca", "pencil", "tucker",
            "tucker-of-samples",
        )
    },
}  # fmt: skip
"""Instances for which the order of the columns of a point makes no difference."""

MOVED = {
    "stiefel": lambda: stiefel(np.eye(8), moved=0.5),
    "orthogonal-group": lambda: orthogonal_group(np.eye(8), moved=0.5),
    "pca": lambda: ob.pca(SAMPLES + 0.5, 2),
    "cca": lambda: ob.cca(SAMPLES + 0.5, MIXED - 0.5, 2),
}
"""Instances whose cost or data are moved by a constant, which makes no difference."""


def run(solver, instance, monkeypatch, start):
    monkeypatch.setattr(execution, "random_point", lambda *given: start(random_point(*given)))
    return ob.solve(solver, instance, budget(solver), seed=0).solution


@cache
def plain_run(solver, make):
    """Return the point of a run on an instance as it is, with which several tests compare."""
    try:
        return ob.solve(solver, make(), budget(solver), seed=0).solution
    except ob.UsageError as refusal:
        pytest.skip(str(refusal))


def compared(point, family):
    """Return projections onto spans, or a point that is square or a polar factor."""
    if point.shape[0] == point.shape[1] or family == "polar":
        return point
    halves = np.split(point, [8]) if family == "cca" else [point]
    return np.concatenate([projection(half).ravel() for half in halves])


def unordered(point, family):
    """Return what does not depend on the order of columns, nor on their signs."""
    square = point.shape[0] == point.shape[1]
    return point**3 @ point.T if square else compared(point, family)


EXCEPTIONS = {
    ("random-submanifold", "stiefel"): "draws coordinates",
    ("random-submanifold", "orthogonal-group"): "draws coordinates",
    ("random-submanifold", "components"): "draws coordinates",
    ("tensorly-power-iteration", "orthogonal-tensor"): "draws its own starts",
    ("randomized-joint-diagonalization", "orthogonal-tensor"): "draws directions",
    ("subspace-power", "orthogonal-tensor"): "draws its own starts",
    ("khatri-rao-sketch", "tucker-of-samples"): "draws a sketch",
    ("pencil-landing", "pencil"): "steps by sums of columns, which bound the norms of A and B",
    ("sklearn-cca", "cca"): "begins at the first column of y, and ends early",
    ("cp-adam", "tucker-of-samples"): "Adam scales each coordinate",
    ("torch-muon", "polar"): "rounds to bfloat16",
}
"""Solver and family, and why it may depend on coordinates."""

EACH = "steps or eigenvalues of single columns, which a QR decomposition mixes in their order"
ORDERED = {
    ("ada-oja", "stochastic-pca"): EACH,
    ("ada-oja", "tucker-of-samples"): EACH,
    ("history-pca", "stochastic-pca"): EACH,
    ("history-pca", "tucker-of-samples"): EACH,
    ("spgd", "tucker-of-samples"): EACH,
    ("shoevd", "tucker-of-samples"): EACH,
    ("gamma-eigengame", "cca"): "each column plays against those before it",
    ("givens-tensor", "orthogonal-tensor"): "rotates pairs of columns in turn",
    ("tensor-power", "orthogonal-tensor"): "deflates",
    ("geoopt-adam", "stiefel"): "a factorization in the order of columns",
}
"""Solver and family, and why it may depend on the order of columns."""


def cases(families, exceptions, sample=1):
    """Return the cases of some families; the default tests take one of `sample`."""
    chosen = [case for case in CASES if case[1] in families]
    return [
        pytest.param(
            *case,
            marks=[
                *([pytest.mark.xfail(reason=exceptions[case])] if case in exceptions else []),
                *([pytest.mark.wide] if i % sample else []),
            ],
            id=" ".join(case),
        )
        for i, case in enumerate(chosen)
    ]


@pytest.mark.parametrize(("solver", "family"), cases(FAMILIES, EXCEPTIONS, SAMPLE))
def test_coordinates_do_not_matter(solver, family, monkeypatch):
    # what is sparse in some coordinates is not in others; a permutation is a rotation
    kind = "permuted" if family == "sparse-pca" else "rotated"
    R, make = coordinates(family, kind), FAMILIES[family][1]
    plain = plain_run(solver, PLAIN[family])
    turned = R @ run(solver, make(R), monkeypatch, lambda X: R.T @ X)
    assert np.abs(compared(turned, family) - compared(plain, family)).max() <= CHAOTIC


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), cases(UNORDERED, ORDERED))
def test_the_order_of_columns_does_not_matter(solver, family, monkeypatch):
    plain = plain_run(solver, UNORDERED[family])
    moved = run(solver, UNORDERED[family](), monkeypatch, lambda X: np.roll(X, 1, axis=1))
    assert np.abs(unordered(moved, family) - unordered(plain, family)).max() <= CHAOTIC


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), cases(MOVED, {}))
def test_a_constant_beside_cost_or_data_does_not_matter(solver, family, monkeypatch):
    plain = plain_run(solver, PLAIN[family])
    moved = run(solver, MOVED[family](), monkeypatch, lambda X: X)
    assert np.abs(compared(moved, family) - compared(plain, family)).max() <= CHAOTIC
