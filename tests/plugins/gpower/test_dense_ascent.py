"""The ascent of a block by array expressions, as on a device: here NumPy computes them."""

import numpy as np
import pytest
from orthobench_gpower._kernels.ascent import dense_ascent

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

    found = dense_ascent(A, bound, hard, MU, X)
    assert found.value == pytest.approx(value(X))
    np.testing.assert_array_equal(found.active, np.abs(A @ X.T) > bound)
    V = np.random.default_rng(2).standard_normal(X.shape)
    slope = (value(X + 1e-6 * V) - value(X - 1e-6 * V)) / 2e-6
    assert 2 * np.vdot(found.gradient, V) == pytest.approx(slope, rel=1e-6)
