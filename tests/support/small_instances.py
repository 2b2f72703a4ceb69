"""Small instances of each family in any unit, the solvers that take them, and spans to compare."""

import numpy as np

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
MIXED = SAMPLES[:, :4] + 0.5 * RNG.standard_normal((230, 4))


def stiefel(c):
    return ob.stiefel(
        lambda X: c * float(np.vdot(X * WEIGHTS, MATRIX @ X)),
        lambda X: 2 * c * (MATRIX @ X) * WEIGHTS, n=8, p=3,
    )  # fmt: skip


def orthogonal_group(c):
    target = MATRIX / 4 + TURN
    return ob.orthogonal_group(lambda X: -c * float(np.vdot(target, X)), lambda X: -c * target, n=8)


def tucker_of_samples(c):
    return ob.symmetric_tucker(samples=c * SAMPLES[:, :5].T, rank=2, order=3)


FAMILIES = {
    "stiefel": stiefel,
    "orthogonal-group": orthogonal_group,
    "stochastic-pca": lambda c: ob.stochastic_pca(c * SAMPLES, 2),
    "sparse-pca": lambda c: ob.sparse_pca(c * SAMPLES[:60], 2),
    "orthogonal-tensor": lambda c: ob.orthogonal_tensor(c * TENSOR),
    "tucker": lambda c: ob.symmetric_tucker(tensor=c * TENSOR, rank=2),
    "tucker-of-samples": tucker_of_samples,
    "cca": lambda c: ob.cca(c * SAMPLES, c * MIXED, 2),
    "cca, one side": lambda c: ob.cca(SAMPLES, c * MIXED, 2),
    "pencil": lambda c: ob.generalized_eigenvectors(
        c * np.diag([5.0, 3, 1, 0.5]), np.diag([1.0, 2, 1, 1]), 2
    ),
    "polar": lambda c: ob.polar(c * MATRIX[:, :5]),
}

CHAOTIC = 1e-6
"""The most that rounding may grow to in a short run."""

CASES = [
    (solver, family)
    for family, make in FAMILIES.items()
    for oracle in [make(1.0).oracle]
    for solver in ob.catalogue().solvers
    if isinstance(oracle, ob.catalogue().solver(solver).needs)
]


def projection(columns):
    """Return the projection onto the span of some columns, of which some may be zero."""
    left, values, _ = np.linalg.svd(unit_columns(columns), full_matrices=False)
    left = left[:, values > 1e-9]
    return left @ left.T
