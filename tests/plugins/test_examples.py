"""The small instances that conformance checks run solvers on."""

import numpy as np
import pytest
from orthobench_stiefel.examples import EXAMPLES as STIEFEL


@pytest.mark.parametrize("make", STIEFEL)
def test_the_derivatives_of_an_example_are_those_of_its_cost(make):
    oracle = make().oracle
    rng = np.random.default_rng(5)
    X, V = rng.standard_normal((2, oracle.n, oracle.k))
    step = 1e-5
    slope = (oracle.value(X + step * V) - oracle.value(X - step * V)) / (2 * step)
    assert np.vdot(oracle.gradient(X), V) == pytest.approx(slope, rel=1e-6)
