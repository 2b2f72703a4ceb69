"""Orthonormal factors nearest to components that a library finds."""

import numpy as np
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor.solvers.libraries import nearest_factors
from scipy.linalg import polar

from orthobench.tools.geometry import random_point


def test_nearest_factors_are_the_polar_factor_and_its_weights():
    rng = np.random.default_rng(0)
    U = random_point(4, 4, rng) + 0.1 * rng.standard_normal((4, 4))
    w = np.array([4.0, -3.0, 2.0, 1.0])
    T = composed(random_point(4, 4, rng), np.array([3.0, 2.0, 1.0, 0.5]))
    found = nearest_factors(T, U, w)
    Q = polar(U * np.abs(w))[0]
    inner = np.abs(Q.T @ found.point)
    order = inner.argmax(axis=0)
    np.testing.assert_allclose(inner[order, range(4)], 1.0)
    values = np.einsum("abc,ai,bi,ci->i", T, Q, Q, Q)
    np.testing.assert_allclose(np.abs(found.weights), np.abs(values)[order])
