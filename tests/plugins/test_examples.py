"""The small instances that conformance checks run solvers on."""

import numpy as np
import pytest
from orthobench_stiefel.examples import EXAMPLES as STIEFEL

from orthobench.testing import counted, counting


@pytest.mark.parametrize("make", STIEFEL)
def test_the_derivatives_of_an_example_are_those_of_its_cost(make):
    oracle = make().oracle
    rng = np.random.default_rng(5)
    X, V = rng.standard_normal((2, oracle.n, oracle.k))
    step = 1e-5
    slope = (oracle.value(X + step * V) - oracle.value(X - step * V)) / (2 * step)
    assert np.vdot(oracle.gradient(X), V) == pytest.approx(slope, rel=1e-6)


def test_the_moment_is_the_mean_of_its_terms_and_counts_its_flops():
    oracle = STIEFEL[0]().oracle
    X = np.random.default_rng(5).standard_normal((oracle.n, oracle.k))
    everything = oracle.terms_gradient(X, slice(None))
    np.testing.assert_allclose(everything, oracle.gradient(X), rtol=1e-12)
    X = counted(X)
    for call, flops in (
        (lambda: oracle.value(X), oracle.cost_flops),
        (lambda: oracle.gradient(X), oracle.gradient_flops),
        (lambda: oracle.terms_gradient(X, slice(0, 500)), 500 * oracle.term_flops),
    ):
        with counting() as tally:
            call()
        assert tally.flops == pytest.approx(flops, rel=0.02)
