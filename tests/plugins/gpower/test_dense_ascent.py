"""The ascent of a block by array expressions, as on a device: here NumPy computes them."""

import numpy as np
import pytest
from orthobench_gpower._kernels.dense_ascent import begin, first_point, next_point

from orthobench.tools.geometry import random_point

A = np.random.default_rng(0).standard_normal((9, 5))
X = random_point(5, 2, np.random.default_rng(1)).T
MU = np.array([1.0, 0.25])


@pytest.mark.parametrize("bound", [0.0, 0.8])
@pytest.mark.parametrize("hard", [False, True])
def test_objective_and_gradient_are_those_of_the_definition(hard, bound):
    """sum mu² [(a'x)² - g²]_+ or sum mu² [|a'x| - g]²_+, and half of its gradient."""

    def value(X):
        scores = A @ X.T
        over = np.abs(scores) > bound
        terms = scores**2 - bound**2 if hard else (np.abs(scores) - bound) ** 2
        return np.sum(np.where(over, terms, 0.0) * MU)

    found = begin(A, bound, hard, MU, X)
    assert found.value == pytest.approx(value(X))
    np.testing.assert_array_equal(found.active, np.abs(A @ X.T) > bound)
    V = np.random.default_rng(2).standard_normal(X.shape)
    slope = (value(X + 1e-6 * V) - value(X - 1e-6 * V)) / 2e-6
    assert 2 * np.vdot(found.gradient, V) == pytest.approx(slope, rel=1e-6)
    left, _, right = np.linalg.svd(found.gradient, full_matrices=False)
    np.testing.assert_allclose(next_point(found), left @ right, atol=1e-12)


def test_a_row_at_the_bound_is_not_active():
    found = begin(np.array([[1.0, 0.0], [0.0, 2.0]]), 1.0, True, np.ones(2), np.eye(2))
    assert found.active.tolist() == [[False, False], [False, True]]
    assert found.value == 3.0


def test_the_first_point_is_the_first_of_the_longest_rows_and_what_is_drawn():
    others = np.arange(10.0).reshape(5, 2)
    norms = np.linalg.norm(A, axis=1)
    norms[[2, 4]] = 10.0
    for least, row in ((10.0, 2), (0.0, 0)):
        found = first_point(A, least, norms, others)
        np.testing.assert_array_equal(found, np.column_stack([A[row], others]))
