"""Stacks of matrices: one point of a product of Stiefel manifolds."""

import numpy as np
import pytest
from orthobench_kit.stacks import (
    defects,
    each,
    lengths,
    matrix_rows,
    most,
    q_factor,
    sizes,
    stacked,
    transposed,
    unstacked,
)
from orthobench_stiefel import ProductOracle, defect, feasible, instance, projected, violation

from orthobench.contract.problem import Solution
from orthobench.tools.geometry import drift, orthonormalize, polar, random_point

M, N, P = 4, 6, 3


def stack(seed=0):
    return np.random.default_rng(seed).standard_normal((M, N, P))


class Distance(ProductOracle):
    """Half of the squared distance to some matrices."""

    def __init__(self, B):
        self.B, self.stack, self.n, self.k = B, (len(B),), B.shape[0] * B.shape[1], B.shape[2]

    def value(self, X):
        return float(np.sum((X - self.B) ** 2)) / 2

    def gradient(self, X):
        return X - self.B


@pytest.mark.parametrize(
    ("of_stack", "of_one"),
    [
        (lengths, np.linalg.norm), (transposed, np.transpose), (q_factor, orthonormalize),
        (defects, drift), (lambda X: matrix_rows(X, np.array([4, 1])), lambda X: X[[4, 1]]),
        (lambda X: each(lengths(X)) * X, lambda X: np.linalg.norm(X) * X),
        (lambda X: projected(X, X**2), lambda X: projected(X, X**2)),
    ],
)  # fmt: skip
def test_each_matrix_is_treated_as_if_it_were_alone(of_stack, of_one):
    X = stack()
    np.testing.assert_allclose(of_stack(X), [of_one(x) for x in X], rtol=1e-13, atol=1e-15)
    assert np.array_equal(of_stack(X[0]), of_one(X[0]))


def test_a_stack_is_its_matrices_one_below_another():
    X = stack()
    assert sizes(X) == (M, N, P)
    assert sizes(X[0]) == (1, N, P)
    assert np.array_equal(stacked(X), np.vstack(list(X)))
    assert np.array_equal(unstacked(stacked(X), (M,)), X)
    assert most(lengths(X)) == max(np.linalg.norm(x) for x in X)


def test_the_nearest_feasible_point_is_that_of_each_matrix():
    X = stack()
    given = Solution(stacked(X))
    assert np.allclose(feasible(given, (M,)).point, [polar(x) for x in X], rtol=0, atol=1e-14)
    assert defect(given, (M,)) == pytest.approx(max(drift(x) for x in X), rel=1e-14)
    assert violation(given, (M,)) < 1e-13


def test_the_start_has_a_feasible_matrix_for_each_of_the_stack():
    oracle = Distance(stack())
    drawn = random_point(oracle.n, oracle.k, np.random.default_rng(0))
    oracle.start = drawn
    assert oracle.start.shape == (M, N, P)
    assert max(map(drift, oracle.start)) < 1e-13
    blocks = drawn.reshape(M, N, P)
    assert np.allclose(oracle.start, [polar(x) for x in blocks], rtol=0, atol=1e-13)


def test_metrics_are_those_of_the_product():
    B = stack(1)
    nearest = np.stack([polar(b) for b in B])
    least = float(np.sum((nearest - B) ** 2)) / 2
    made = instance(Distance(B), least)
    best = made.measure(Solution(stacked(nearest)))
    assert abs(best["objective_gap"]) < 1e-12
    assert best["relative_gradient_norm"] < 1e-14
    X = np.stack([random_point(N, P, np.random.default_rng(seed)) for seed in range(M)])
    metrics = made.measure(Solution(stacked(X)))
    singles = [float(np.sum((x - b) ** 2)) / 2 for x, b in zip(X, B, strict=True)]
    assert metrics["objective"] == pytest.approx(sum(singles), rel=1e-13)
    norms = [np.linalg.norm(projected(x, x - b)) for x, b in zip(X, B, strict=True)]
    relative = metrics["relative_gradient_norm"] * made.measure.unit
    assert relative == pytest.approx(np.linalg.norm(norms), rel=1e-13)
    assert made.finish(Solution(stacked(X))).point.shape == (M, N, P)
