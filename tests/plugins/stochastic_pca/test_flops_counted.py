"""The flops of streaming PCA against the operations of the methods written plainly."""

from dataclasses import dataclass

import numpy as np
import pytest
from kinds import one_of
from orthobench_stochastic_pca.reference import METHODS, Method
from orthobench_stochastic_pca.solvers.batch_pca import BatchPCA
from orthobench_stochastic_pca.solvers.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.msg import MSG, CappedMSG
from orthobench_stochastic_pca.solvers.rotating import GrassmannianSGD, Oja
from plain_solvers import Plain, PlainState

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.testing import NotConforming, check_flops

D, K = 120, 8  # the plain methods do 7d further operations a step


@dataclass(frozen=True)
class PlainMethod(Plain):
    """A method of `reference` with a constant step."""

    method: Method
    eta: float = 1.0

    batch = 1

    def init(self, oracle, rng):
        state = PlainState()
        state.iterate = self.method.begin(oracle.start)
        return state

    def move(self, oracle, state):
        state.iterate = self.method.step(state.iterate, oracle.take(1)[0], self.eta)

    def solution(self, state):
        return Solution(np.array(self.method.read(state.iterate)))


def rotated(U, x, eta):
    """Return the polar factor of U + eta xx'U, by the rotation that it is."""
    w = x @ U
    p = U @ w
    r = x - p
    size, left = np.linalg.norm(p), np.linalg.norm(r)
    angle = np.arctan2(eta * size * left, 1 + eta * size**2)
    along = (np.cos(angle) - 1) / size * p + np.sin(angle) / left * r
    return U + np.outer(along, w / size)


CONSTANT = {"relative": False, "schedule": "constant"}
SOLVERS = [
    GrassmannianSGD(step_size=0.1, **CONSTANT),
    MSG(start="random", step_size=1.0, **CONSTANT),
    CappedMSG(start="random", step_size=1.0, **CONSTANT),
    WarmuthKuzmin(start="random", step_size=1.0, **CONSTANT),
    MEG(step_size=1.0, **CONSTANT),
    IncrementalPCA(),
]


@pytest.fixture(scope="module")
def instance():
    X = np.random.default_rng(0).standard_normal((200, D)) * np.linspace(2, 1, D) / D**0.5
    return ob.stochastic_pca(X, k=K)


def projection(run):
    point = run.read().point
    return point @ point.T


@pytest.mark.parametrize("solver", one_of(3, SOLVERS), ids=lambda solver: solver.name)
def test_flops_are_those_of_the_plain_method(solver, instance, flops_agree):
    plain = PlainMethod(METHODS[solver.name], getattr(solver, "step_size", 1.0))
    flops_agree(solver, plain, instance, seen=(projection, projection))


def test_flops_of_oja_are_those_of_a_rotation(instance, flops_agree):
    plain = PlainMethod(METHODS["oja"]._replace(step=rotated), 0.1)
    flops_agree(Oja(step_size=0.1, **CONSTANT), plain, instance)


def test_batch_pca_counts_the_decomposition_that_reading_makes():
    collected = Method(
        lambda U: U.T[:0],
        lambda X, x, eta: np.vstack([X, x]),
        lambda X: np.linalg.eigh(X.T @ X)[1][:, -K:],
    )
    X = np.random.default_rng(0).standard_normal((60, 8))
    check_flops(BatchPCA(), ob.stochastic_pca(X, k=K), PlainMethod(collected))


def test_another_method_takes_other_flops(instance):
    with pytest.raises(NotConforming, match=r"work\.flops is \d+ after 40 steps, \d+ op"):
        check_flops(Oja(relative=False), instance, PlainMethod(METHODS["msg"]))
