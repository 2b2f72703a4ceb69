"""Pymanopt's manifolds count each operation once, by what its notes say."""

import numpy as np
import pytest
from orthobench_pymanopt.manifolds import FlopCounter, grassmann, stiefel

from orthobench.tools.flops import qr, svd
from orthobench.tools.geometry import random_point

PACKAGES = ("pymanopt",)

N, K = 7, 3
RNG = np.random.default_rng(0)
U = random_point(N, K, RNG)
V, W = RNG.standard_normal((2, N, K))
PROJECTION = 4 * N * K**2 + 2 * K**2 + N * K
SUBSPACES = {
    "inner_product": ((U, V, W), 2 * N * K),
    "projection": ((U, V), 4 * N * K**2 + N * K),
    "euclidean_to_riemannian_gradient": ((U, V), 4 * N * K**2 + N * K),
    "euclidean_to_riemannian_hessian": ((U, V, W, V), 8 * N * K**2 + 10 * N * K),
    "retraction": ((U, V), 2 * N * K + svd(N, K) + 2 * N * K**2),
}
COLUMNS = {
    "inner_product": ((U, V, W), 2 * N * K),
    "norm": ((U, V), 2 * N * K),
    "projection": ((U, V), PROJECTION),
    "to_tangent_space": ((U, V), PROJECTION),
    "weingarten": ((U, V, W), 4 * N**2 * K + PROJECTION),
    "retraction": ((U, V), 2 * N * K + qr(N, K)),
    "euclidean_to_riemannian_hessian": (
        (U, V, W, V), 8 * N * K + 2 * K**2 + 3 * PROJECTION + 4 * N**2 * K,
    ),
}  # fmt: skip
CASES = [
    *((grassmann, name, *case) for name, case in SUBSPACES.items()),
    *((stiefel, name, *case) for name, case in COLUMNS.items()),
]


@pytest.mark.parametrize(("make", "name", "arguments", "count"), CASES)
def test_an_operation_counts_what_it_does_and_does_what_pymanopt_does(make, name, arguments, count):
    from pymanopt import manifolds

    counter = FlopCounter()
    assert counter.counted == 0
    manifold = make(N, K, counter)
    found = getattr(manifold, name)(*arguments)
    assert counter.counted == count
    own = (manifolds.Grassmann if make is grassmann else manifolds.Stiefel)(N, K)
    np.testing.assert_array_equal(found, getattr(own, name)(*arguments))
