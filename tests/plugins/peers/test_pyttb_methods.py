"""Alternating CP of pyttb: what it finds of a tensor, and its flops."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor.solvers.libraries import PyttbCPALS
from orthobench_tucker.solvers.pyttb_methods import PyttbHOSVD, PyttbTuckerALS

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.tools.geometry import random_point

PACKAGES = ("pyttb",)

N = 4


def instance(noise):
    U, w = random_point(N, N, np.random.default_rng(0)), np.array([4.0, 3.0, 2.0, 1.0])
    V = random_point(N, N, np.random.default_rng(1))
    return ob.orthogonal_tensor(composed(U, w) + noise * composed(V, w), factors=U, weights=w)


def test_without_noise_the_start_has_the_factors_and_it_ends():
    outcome = ob.solve(PyttbCPALS(), instance(0.0), Budget(steps=20))
    assert outcome.stop.reason.startswith("converged")
    assert outcome.work.steps < 5
    assert outcome.trace[0].metrics["recovery_error"] < 1e-6
    np.testing.assert_allclose(np.sort(outcome.weights), [1, 2, 3, 4], atol=1e-8)


@pytest.mark.parametrize("cls", [PyttbHOSVD, PyttbTuckerALS])
def test_a_tensor_of_low_rank_is_decomposed_exactly_and_equally(cls):
    basis = random_point(6, 2, np.random.default_rng(0))
    X = np.random.default_rng(1).exponential(size=(9, 2)) @ basis.T
    T = np.einsum("pa,pb,pc->abc", X, X, X)
    found = [
        ob.solve(cls(), ob.symmetric_tucker(tensor=T, rank=2), Budget(steps=3)).solution
        for _ in range(2)
    ]
    assert subspace_error(found[0], basis) < 1e-7
    assert np.array_equal(*found)
