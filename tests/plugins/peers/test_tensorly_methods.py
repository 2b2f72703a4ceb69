"""Power iteration, HOOI and HOSVD of TensorLy: what they find, and the flops of the first."""

import numpy as np
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor.solvers.libraries import TensorlyPowerIteration

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.tools.geometry import random_point

PACKAGES = ("tensorly",)

N = 4


def test_power_iteration_finds_the_factors_and_their_weights():
    U, w = random_point(N, N, np.random.default_rng(0)), np.array([4.0, 3.0, 2.0, 1.0])
    instance = ob.orthogonal_tensor(composed(U, w), factors=U, weights=w)
    outcome = ob.solve(TensorlyPowerIteration(), instance, Budget(steps=8))
    assert outcome.trace[-1].metrics["recovery_error"] < 1e-8
    np.testing.assert_allclose(np.sort(outcome.weights), [1, 2, 3, 4], atol=1e-8)
