"""Oracles of symmetric Tucker: objectives with their work."""

from math import comb

import numpy as np
import pytest
from orthobench_tucker import MomentOracle, reference, sample_moments
from orthobench_tucker.reference import moment

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.testing import counted, counting
from orthobench.tools.geometry import random_point

P, N, R = 40, 5, 2


def rows(p=P, n=N):
    return np.random.default_rng(0).exponential(size=(p, n)) * np.arange(1, n + 1)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_objectives_of_samples_and_of_their_tensor_agree(order):
    X, Q = rows(), random_point(N, R, np.random.default_rng(1))
    T = moment(X, order)
    samples = MomentOracle(X, order, R)
    tensor = ob.symmetric_tucker(tensor=T, rank=R).oracle
    for oracle in (samples, tensor):
        value, work = oracle.objective(Solution(Q))
        assert value == pytest.approx(-reference.objective(T, Q))
        assert (work.samples, work.steps) == (0, 0)
    monomials = comb(R + order - 2, order - 1)
    _, work = samples.objective(Solution(Q))
    assert work.flops == 2 * P * N * (R + monomials) + 2 * R * monomials * N
    products = sum(2 * N ** (order - j + 1) * R**j for j in range(1, order))
    assert tensor.objective(Solution(Q))[1].flops == products + 2 * R * monomials * N
    with counting() as tally:
        sample_moments.tensor_core(counted(T), counted(Q))
    assert tally.flops == products
