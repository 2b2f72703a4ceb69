"""Small instances of each family in any coordinates and unit, their solvers, spans to compare."""

from dataclasses import replace

import numpy as np
from features import of_features
from orthobench_kit.sources import ArraySource
from orthobench_stiefel.orthogonal_group import ComponentsOracle
from orthobench_stochastic_pca import EntryOracle

import orthobench as ob
from orthobench.contract import unit_columns
from orthobench.tools.geometry import random_point

RNG = np.random.default_rng(0)
TURN = random_point(8, 8, RNG)
MATRIX = (TURN * np.arange(1.0, 9)) @ TURN.T
WEIGHTS = np.array([1.0, 0.7, 0.4])
SAMPLES = RNG.standard_normal((230, 8)) * 0.7 ** np.arange(8) @ TURN.T
FACTORS = random_point(6, 6, RNG)
TENSOR = np.einsum("ia,ja,ka,a->ijk", FACTORS, FACTORS, FACTORS, np.arange(6.0, 0, -1))
WHITE = np.linalg.svd(RNG.laplace(size=(230, 4)), full_matrices=False)[0] * 230**0.5
MIXED = SAMPLES[:, :4] + 0.5 * RNG.standard_normal((230, 4))
PENCIL = np.diag([5.0, 3, 1, 0.5]), np.diag([1.0, 2, 1, 1])


def stiefel(R, c, weights=WEIGHTS, moved=0.0):
    A = R.T @ MATRIX @ R
    return ob.stiefel(
        lambda X: c * float(np.vdot(X * weights, A @ X)) + moved,
        lambda X: 2 * c * (A @ X) * weights, n=8, p=3,
    )  # fmt: skip


def orthogonal_group(R, c, moved=0.0):
    T = R.T @ (MATRIX / 4 + TURN)
    return ob.orthogonal_group(
        lambda X: -c * float(np.vdot(T, X)) + moved, lambda X: -c * T, n=8
    )  # fmt: skip


def contrast(Z, c=1.0):
    """Return the instance of the fourth moments of whitened components, with its samples."""

    def cost(U):
        return -c * float(np.sum((Z @ U) ** 4)) / len(Z)

    def gradient(U):
        return -4 * c / len(Z) * Z.T @ (Z @ U) ** 3

    oracle = ComponentsOracle(cost, Z.shape[1], gradient)
    oracle.Z = Z
    return replace(ob.orthogonal_group(cost, gradient, n=Z.shape[1]), oracle=oracle)


def entries(X, k):
    """Return the instance of samples of which about two thirds of the entries are observed."""
    seen = np.random.default_rng(1).random(X.shape) < 0.7
    return replace(ob.stochastic_pca(X, k), oracle=EntryOracle(ArraySource(X * seen), k))


def turned(T, R):
    return np.einsum("abc,ai,bj,ck->ijk", T, R, R, R)


FAMILIES = {
    "stiefel": ((8,), stiefel),
    "orthogonal-group": ((8,), orthogonal_group),
    "components": ((4,), lambda R, c: contrast(WHITE @ R, c)),
    "pca": ((8,), lambda R, c: ob.pca(c * SAMPLES @ R, 2)),
    "pca, as it is": ((8,), lambda R, c: ob.pca(c * SAMPLES @ R, 2, center=False)),
    "stochastic-pca": ((8,), lambda R, c: ob.stochastic_pca(c * SAMPLES @ R, 2)),
    "entries": ((), lambda R, c: entries(c * SAMPLES, 2)),
    "sparse-pca": ((20,), lambda R, c: of_features(c * R.T @ SAMPLES[:20], 2)),
    "orthogonal-tensor": ((6,), lambda R, c: ob.orthogonal_tensor(c * turned(TENSOR, R))),
    "tucker": ((6,), lambda R, c: ob.symmetric_tucker(tensor=c * turned(TENSOR, R), rank=2)),
    "tucker-of-samples": (
        (5,), lambda R, c: ob.symmetric_tucker(c * SAMPLES[:, :5] @ R, rank=2, order=3),
    ),
    "cca": ((8, 4), lambda R, c: ob.cca(c * SAMPLES @ R[:8, :8], c * MIXED @ R[8:, 8:], 2)),
    "cca, one side": ((), lambda R, c: ob.cca(SAMPLES, c * MIXED, 2)),
    "pencil": (
        (4,), lambda R, c: ob.generalized_eigenvectors(
            R.T @ (c * PENCIL[0]) @ R, R.T @ PENCIL[1] @ R, 2
        ),
    ),
    "polar": ((8,), lambda R, c: ob.polar(c * R.T @ MATRIX[:, :5])),
}  # fmt: skip
"""Coordinates that do not matter, of cca those of each side, and the instance whose coordinates are
R'x and whose unit is c."""


def made(family, R=None, c=1.0):
    """Return the instance of a family, as it is by default."""
    sizes, make = FAMILIES[family]
    return make(np.eye(sum(sizes)) if R is None else R, c)


CHAOTIC = 1e-6
"""The most that rounding may grow to in a short run."""

TAKEN = {
    "components": ComponentsOracle,
    "entries": EntryOracle,
    "pca, as it is": "sklearn-truncated-svd",
}
"""Families whose solvers run elsewhere too, and those that take nothing else."""


def is_case(solver, family, oracle):
    needs, only = ob.catalogue().solver(solver).needs, TAKEN.get(family)
    return isinstance(oracle, needs) and only in (None, needs, solver)


CASES = [
    (solver, family)
    for family in FAMILIES
    for oracle in [made(family).oracle]
    for solver in ob.catalogue().solvers
    if is_case(solver, family, oracle)
]

SAMPLE = 14
"""The default tests take one case out of this number."""

STEPS = {"pymanopt-steepest-descent": 10, "sklearn": 100, "fastica": 100}
"""Steps of solvers, or of those whose names begin so, that are not 25: some have to converge.

Pymanopt's line search takes the length of the last step from a difference of values, and halves
it until it suffices: rounding grows by an order in two or three steps, in a power of two by none.
"""


def budget(solver):
    """Return steps within which rounding stays small."""
    return ob.Budget(steps=next((n for name, n in STEPS.items() if solver.startswith(name)), 25))


def projection(columns):
    """Return the projection onto the span of some columns, of which some may be zero."""
    left, values, _ = np.linalg.svd(unit_columns(columns), full_matrices=False)
    left = left[:, values > 1e-9]
    return left @ left.T


def compared(point, family):
    """Return projections onto spans, or a point that is square or a polar factor."""
    point = np.asarray(point, dtype=np.float64)
    if point.shape[0] == point.shape[1] or family == "polar":
        return point
    halves = np.split(point, [8]) if family.startswith("cca") else [point]
    return np.concatenate([projection(half).ravel() for half in halves])
