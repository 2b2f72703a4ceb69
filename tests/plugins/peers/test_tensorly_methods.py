"""Power iteration, HOOI and HOSVD of TensorLy: what they find, and the flops of the first."""

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor.solvers.libraries import TensorlyPowerIteration
from orthobench_tucker.solvers.tensorly_methods import (
    TensorlyHOSVD,
    TensorlyTucker,
    hosvd_flops,
)

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.tools.flops import svd
from orthobench.tools.geometry import random_point, subspace_error

PACKAGES = ("tensorly",)

N = 4


@pytest.mark.parametrize(("restarts", "steps"), [(1, 1), (2, 3)])
def test_all_starts_and_the_best_once_more_are_counted_for_each_factor(restarts, steps):
    T = composed(random_point(N, N, np.random.default_rng(0)), np.array([4.0, 3.0, 2.0, 1.0]))
    outcome = ob.solve(
        TensorlyPowerIteration(restarts=restarts), ob.orthogonal_tensor(T), Budget(steps=steps)
    )
    product = 2 * N**3 + 2 * N**2
    runs = (restarts + 1) * (steps * 3 * (product + 3 * N) + product + 2 * N)
    assert outcome.work.flops == N * (runs + 3 * N**3 + N**2)
    assert outcome.trace[0].work.flops == 0


def test_power_iteration_finds_the_factors_and_their_weights():
    U, w = random_point(N, N, np.random.default_rng(0)), np.array([4.0, 3.0, 2.0, 1.0])
    instance = ob.orthogonal_tensor(composed(U, w), factors=U, weights=w)
    outcome = ob.solve(TensorlyPowerIteration(), instance, Budget(steps=8))
    assert outcome.trace[-1].metrics["recovery_error"] < 1e-8
    np.testing.assert_allclose(np.sort(outcome.weights), [1, 2, 3, 4], atol=1e-8)


def test_decompositions_of_unfoldings_the_core_and_a_norm_are_counted():
    core = 2 * 5**3 * 2 + 2 * 5**2 * 2**2 + 2 * 5 * 2**3
    assert hosvd_flops(5, 2, 3) == 3 * svd(5, 25) + core + 2 * 5**3


@pytest.mark.parametrize("cls", [TensorlyHOSVD, TensorlyTucker])
def test_a_tensor_of_low_rank_is_decomposed_exactly(cls):
    basis = random_point(6, 2, np.random.default_rng(0))
    X = np.random.default_rng(1).exponential(size=(9, 2)) @ basis.T
    instance = ob.symmetric_tucker(tensor=np.einsum("pa,pb,pc->abc", X, X, X), rank=2)
    outcome = ob.solve(cls(), instance, Budget(steps=3))
    assert subspace_error(outcome.solution, basis) < 1e-7
    assert outcome.stop.status.name == "DONE"
