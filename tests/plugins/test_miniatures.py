"""Warm-ups on little data: every solver that runs on an oracle runs on its miniature."""

import numpy as np
import pytest
import scipy.sparse as sp
from kinds import one_of
from orthobench_kit.symmetric_tensors import composed

import orthobench as ob
from orthobench.errors import UsageError
from orthobench.harness.execution import prepare_steps
from orthobench.registry.plugins import catalogue
from orthobench.tools.geometry import random_point

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 400))
S = sp.random(600, 400, 0.05, "csr", random_state=RNG)
U = random_point(20, 20, RNG)
INSTANCES = {
    "pca": lambda: ob.pca(X, 3),
    "sparse PCA": lambda: ob.sparse_pca(X, 3),
    "sparse PCA of a cardinality": lambda: ob.sparse_pca(X, 3, cardinality=300),
    "CCA": lambda: ob.cca(X[:, :200], X[:, 200:], 2),
    "CCA of sparse pairs": lambda: ob.cca(S[:, :200], S[:, 200:], 2),
    "pencil": lambda: ob.generalized_eigenvectors(X.T @ X, np.eye(400) + X.T @ X, 2),
    "polar": lambda: ob.polar(X),
    "polar of a batch": lambda: ob.polar(X.reshape(6, 200, 200)),
    "orthogonal tensor": lambda: ob.orthogonal_tensor(composed(U, np.arange(1.0, 21))),
    "orthogonal tensor of order 4": lambda: ob.orthogonal_tensor(composed(U, np.ones(20), 4)),
    "spectral power": lambda: ob.spectral_power(X, 0.5),
}


@pytest.mark.parametrize("name", one_of(3, INSTANCES))
def test_solvers_run_on_the_miniature_of_an_oracle(name):
    oracle, ran = INSTANCES[name]().oracle, 0
    for solver_name, entry in catalogue().solvers.items():
        if not issubclass(type(oracle), entry.item.needs):
            continue
        small = oracle.miniature()
        assert type(small) is type(oracle)
        assert small.n <= oracle.n
        small.rewind(np.random.default_rng(0))
        solver = catalogue().solver(solver_name, {}, type(oracle))
        try:
            state = solver.init(small, np.random.default_rng(0))
        except UsageError:  # as on the oracle itself
            continue
        solver.advance(small, state, prepare_steps(small, solver.batch, 2))
        assert solver.solution(state).point.shape == (small.n, small.k)
        ran += 1
    assert ran
    assert small.n < oracle.n


@pytest.mark.parametrize("name", INSTANCES)
def test_size_of_a_miniature_is_bounded(name):
    bytes_of = {key: v.nbytes for key, v in vars(INSTANCES[name]().oracle.miniature()).items()
                if isinstance(v, np.ndarray)}  # fmt: skip
    assert max(bytes_of.values(), default=0) <= 8 * 256 * 256
