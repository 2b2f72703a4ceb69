"""Claims of the paper on incremental PCA, capped MSG, and the rank of MSG's iterates."""

import numpy as np
import pytest
from orthobench_stochastic_pca import stochastic_pca
from orthobench_stochastic_pca.solvers.msg import CappedMSG

from orthobench.tools.geometry import random_point

TRAP = np.array([[np.sqrt(3), 0.0], [0.0, np.sqrt(2)]])
P_ORTHOGONAL = 1.1 ** -np.arange(1.0, 33)
P_ORTHOGONAL /= P_ORTHOGONAL.sum()


def oracle_of(vectors, p, k, seed):
    """An endless stream of `vectors`, drawn with probabilities p."""

    def sampler(rng, count):
        return vectors[rng.choice(len(p), count, p=p)]

    covariance = (vectors.T * p) @ vectors
    oracle = stochastic_pca(sampler, k, covariance=covariance).oracle
    oracle.start = random_point(oracle.n, k, np.random.default_rng([seed, 1]))
    oracle.rewind(np.random.default_rng(seed))
    return oracle


def orthogonal(k, seed):
    return oracle_of(np.eye(32), P_ORTHOGONAL, k, seed)


def begun(solver, oracle):
    return solver.init(oracle, np.random.default_rng(0))


def advance(solver, oracle, state, count):
    oracle.prepare(count)
    solver.advance(oracle, state, count)


def test_capped_msg_leaves_the_trap():
    solver = CappedMSG(relative=False, K=2)
    for seed in range(20):
        oracle = oracle_of(TRAP, [1 / 3, 2 / 3], 1, seed)
        state = begun(solver, oracle)
        advance(solver, oracle, state, 4000)
        assert abs(solver.solution(state).point[1, 0]) > 0.99


@pytest.mark.parametrize("k", [1, 2, 4])
def test_capped_msg_with_no_spare_direction_never_moves_once_full(k):
    solver, oracle = CappedMSG(relative=False, K=k), orthogonal(k, 5)
    state = begun(solver, oracle)
    while not state.iterate.matrix.full:
        advance(solver, oracle, state, 1)
    stuck = solver.solution(state).point
    advance(solver, oracle, state, 5000)
    point = solver.solution(state).point
    assert np.abs(point @ point.T - stuck @ stuck.T).max() < 1e-12
