"""The flops of streaming PCA against the operations of the methods written plainly."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from orthobench_stochastic_pca.batch_pca import BatchPCA
from orthobench_stochastic_pca.incremental import IncrementalPCA
from orthobench_stochastic_pca.msg import MSG, CappedMSG
from orthobench_stochastic_pca.rotating import GrassmannianSGD, Oja

import orthobench as ob
from orthobench.problem import Oracle
from orthobench.samples import SampleOracle
from orthobench.solution import Solution
from orthobench.solver import Solver, State
from orthobench.testing import NotConforming, check_flops

D, K = 120, 4


@dataclass(kw_only=True)
class PlainState(State):
    U: np.ndarray
    values: list = field(default_factory=list)


class Plain(Solver[SampleOracle, PlainState]):
    needs: ClassVar[type[Oracle]] = SampleOracle
    name: ClassVar[str] = "plain"
    batch = 1

    def init(self, oracle, rng):
        return PlainState(U=oracle.start.copy())

    def step(self, oracle, state):
        self.take(oracle.take(1)[0], state)
        state.work.steps += 1

    def solution(self, state):
        return Solution(state.U.copy())


@dataclass(frozen=True)
class PlainOja(Plain):
    def take(self, x, state):
        state.U = np.linalg.qr(state.U + np.outer(x, 0.1 * (x @ state.U)))[0]


@dataclass(frozen=True)
class PlainGROUSE(Plain):
    def take(self, x, state):
        w = x @ state.U
        p = state.U @ w
        r = x - p
        size, left = np.linalg.norm(p), np.linalg.norm(r)
        angle = 0.1 * size * left
        along = (np.cos(angle) - 1) / size * p + np.sin(angle) / left * r
        state.U = state.U + np.outer(along, w / size)


@dataclass(frozen=True)
class PlainUpdates(Plain):
    """Algorithm 1 of Arora, Cotter and Srebro (2013); projections are not counted."""

    most: int = D
    clips: bool = True
    eta: float = 1.0

    def init(self, oracle, rng):
        return PlainState(U=np.zeros((oracle.n, 0)))

    def take(self, x, state):
        z = x @ state.U
        r = x - state.U @ z
        left = np.linalg.norm(r)
        z = np.append(z, left)
        M = np.diag(np.append(np.array(state.values), 0.0)) + np.outer(self.eta * z, z)
        values, V = np.linalg.eigh(M)
        values, V = values[-self.most :].tolist(), V[:, -self.most :]
        values = self.projected(values) if self.clips else values
        kept = [i for i, value in enumerate(values) if value > 0]
        state.values = [values[i] for i in kept]
        state.U = np.column_stack([state.U, r / left]) @ V[:, kept]

    @staticmethod
    def projected(values):
        """Project onto the sum K by bisection, or clip where the sum is less."""
        low, high = -max(values), 0.0
        for _ in range(100):
            shift = (low + high) / 2
            above = sum(min(1.0, max(0.0, v + shift)) for v in values) > K
            low, high = (low, shift) if above else (shift, high)
        return [min(1.0, max(0.0, v + high)) for v in values]


@dataclass(frozen=True)
class PlainBatch(Plain):
    """All of it is done when the solution is read."""

    def init(self, oracle, rng):
        return PlainState(U=np.zeros((0, oracle.n)))

    def take(self, x, state):
        state.U = np.vstack([state.U, x])

    def solution(self, state):
        return Solution(np.linalg.eigh(state.U.T @ state.U)[1][:, -K:])


METHODS = {
    "oja": (Oja(), PlainOja()),
    "grassmannian-sgd": (GrassmannianSGD(), PlainGROUSE()),
    "msg": (MSG(step_size=1.0, schedule="constant"), PlainUpdates()),
    "capped-msg": (CappedMSG(step_size=1.0, schedule="constant"), PlainUpdates(most=K + 1)),
    "incremental-pca": (IncrementalPCA(), PlainUpdates(most=K, clips=False)),
}


@pytest.fixture(scope="module")
def instance():
    X = np.random.default_rng(0).standard_normal((200, D)) * np.linspace(2, 1, D) / D**0.5
    return ob.stochastic_pca(X, k=K)


@pytest.mark.parametrize("name", METHODS)
def test_flops_are_those_of_the_plain_method(name, instance):
    solver, plain = METHODS[name]
    assert solver.name == name
    check_flops(solver, instance, plain)


def test_batch_pca_counts_the_decomposition_that_reading_makes():
    X = np.random.default_rng(0).standard_normal((60, 8))
    check_flops(BatchPCA(), ob.stochastic_pca(X, k=K), PlainBatch())


def test_another_method_takes_other_flops(instance):
    with pytest.raises(NotConforming, match=r"work\.flops is \d+ after 40 steps where \d+"):
        check_flops(Oja(), instance, PlainGROUSE())
