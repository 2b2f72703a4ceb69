"""The common parts of peers of symmetric Tucker decomposition."""

import numpy as np
import pytest
from orthobench_tucker.library_tucker import ROWS, hoevd
from orthobench_tucker.reference import moment
from orthobench_tucker.solvers.tensorly_methods import TensorlyHOSVD, TensorlyTucker

import orthobench as ob
from orthobench.tools.flops import eigh, svd
from orthobench.tools.geometry import random_point

PACKAGES = ("tensorly", "pyttb")

N, R = 6, 2


def samples(count, n=N):
    return np.random.default_rng(0).exponential(size=(count, n)) - 1


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("count", [5, ROWS, ROWS + 1])
def test_the_first_basis_is_that_of_the_unfolded_moment(order, count):
    X = samples(count)
    T = moment(X, order)
    oracle = ob.symmetric_tucker(X, order=order, rank=R).oracle
    left = np.linalg.svd(T.reshape(N, -1))[0][:, :R]
    found, spent = hoevd(oracle)
    np.testing.assert_allclose(np.abs(left.T @ found), np.eye(R), atol=1e-9)
    assert spent == 4 * count**2 * N + 2 * count * N**2 + eigh(N)
    found, spent = hoevd(ob.symmetric_tucker(tensor=T, rank=R).oracle)
    np.testing.assert_allclose(np.abs(left.T @ found), np.eye(R), atol=1e-9)
    assert spent == 2 * N ** (order + 1) + eigh(N)


def test_a_moment_is_formed_before_its_tensor_is_used():
    oracle = ob.symmetric_tucker(samples(30), order=3, rank=R).oracle
    oracle.start = random_point(N, R, np.random.default_rng(0))
    state = TensorlyHOSVD().init(oracle, np.random.default_rng(0))
    assert state.work.flops == oracle.forming_flops > 0


@pytest.mark.parametrize("order", [3, 4])
def test_a_step_of_tensorly_contracts_and_decomposes_each_mode(order):
    contractions = [2 * N ** (order - j + 1) * R**j for j in range(1, order + 1)]
    mode = sum(contractions[:-1]) + svd(N, R ** (order - 1))
    norms = 2 * N**order + 2 * R**order
    assert TensorlyTucker().step_flops(N, R, order) == order * mode + sum(contractions) + norms
