"""The flops of streaming PCA against the operations of the methods written plainly."""

from dataclasses import dataclass, field
from math import exp, expm1, log
from typing import ClassVar

import numpy as np
import pytest
from orthobench_stochastic_pca import RelaxedSolution
from orthobench_stochastic_pca.solvers.batch_pca import BatchPCA
from orthobench_stochastic_pca.solvers.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.msg import MSG, CappedMSG
from orthobench_stochastic_pca.solvers.rotating import GrassmannianSGD, Oja

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State
from orthobench.testing import NotConforming, check_flops

D, K = 120, 4


@dataclass(kw_only=True)
class PlainState(State):
    U: np.ndarray
    values: list = field(default_factory=list)
    floor: float = 0.0


def bisected(excess):
    """Return the root of an increasing function in [-50, 50]."""
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return high


class Plain(Solver[SampleOracle, PlainState]):
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
class PlainGROUSE(Plain):
    def angle(self, size, left):
        return 0.1 * size * left

    def take(self, x, state):
        w = x @ state.U
        p = state.U @ w
        r = x - p
        size, left = np.linalg.norm(p), np.linalg.norm(r)
        angle = self.angle(size, left)
        along = (np.cos(angle) - 1) / size * p + np.sin(angle) / left * r
        state.U = state.U + np.outer(along, w / size)


@dataclass(frozen=True)
class PlainOja(PlainGROUSE):
    """By the rotation that its projection is."""

    def angle(self, size, left):
        return np.arctan2(0.1 * size * left, 1 + 0.1 * size**2)


@dataclass(frozen=True)
class PlainUpdates(Plain):
    """Algorithm 1 of Arora, Cotter and Srebro (2013); projections are not counted."""

    most: int = D
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
        values = self.projected(values, state)
        kept = [i for i, value in enumerate(values) if value > 0]
        state.values = [values[i] for i in kept]
        state.U = np.column_stack([state.U, r / left]) @ V[:, kept]

    def solution(self, state):
        values, floor = self.eigenvalues(state)
        return RelaxedSolution(state.U[:, -K:], vectors=state.U, values=values, floor=floor)

    def eigenvalues(self, state):
        return np.array(state.values), 0.0

    def projected(self, values, state):
        """Project onto the sum K, or clip where the sum is less."""
        shift = bisected(lambda shift: sum(min(1.0, max(0.0, v + shift)) for v in values) - K)
        return [min(1.0, max(0.0, v + min(shift, 0.0))) for v in values]


@dataclass(frozen=True)
class PlainIncremental(PlainUpdates):
    def solution(self, state):
        return Solution(state.U[:, -K:])

    def projected(self, values, state):
        return values


@dataclass(frozen=True)
class PlainWarmuthKuzmin(PlainUpdates):
    """On -log(I - M)."""

    def eigenvalues(self, state):
        return -np.expm1(-np.array(state.values)), 0.0

    def projected(self, values, state):
        shift = bisected(lambda shift: -sum(expm1(-max(0.0, v + shift)) for v in values) - K)
        return [max(0.0, v + min(shift, 0.0)) for v in values]


@dataclass(frozen=True)
class PlainMEG(PlainUpdates):
    """On log M, less its eigenvalue in all directions that no sample has touched."""

    def init(self, oracle, rng):
        return PlainState(U=np.zeros((D, 0)), floor=log(K / D))

    def projected(self, values, state):
        logs = [value + state.floor for value in values]
        rest = (D - len(logs)) * exp(state.floor)
        shift = bisected(lambda c: sum(exp(min(0.0, s + c)) for s in logs) + rest * exp(c) - K)
        state.floor += shift
        return [min(0.0, s + shift) - state.floor for s in logs]

    def eigenvalues(self, state):
        return np.exp(np.array(state.values) + state.floor), exp(state.floor)


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
    "oja": (Oja(relative=False, step_size=0.1, schedule="constant"), PlainOja()),
    "grassmannian-sgd": (
        GrassmannianSGD(relative=False, step_size=0.1, schedule="constant"),
        PlainGROUSE(),
    ),
    "msg": (MSG(relative=False, step_size=1.0, schedule="constant"), PlainUpdates()),
    "capped-msg": (
        CappedMSG(relative=False, step_size=1.0, schedule="constant"),
        PlainUpdates(most=K + 1),
    ),
    "warmuth-kuzmin": (
        WarmuthKuzmin(relative=False, step_size=1.0, schedule="constant"),
        PlainWarmuthKuzmin(),
    ),
    "meg": (MEG(relative=False, step_size=1.0, schedule="constant"), PlainMEG()),
    "incremental-pca": (IncrementalPCA(), PlainIncremental(most=K)),
}


@pytest.fixture(scope="module")
def instance():
    X = np.random.default_rng(0).standard_normal((200, D)) * np.linspace(2, 1, D) / D**0.5
    return ob.stochastic_pca(X, k=K)


@pytest.mark.parametrize("name", METHODS)
def test_flops_are_those_of_the_plain_method(name, instance, flops_agree):
    solver, plain = METHODS[name]
    assert solver.name == name
    flops_agree(solver, plain, instance, seen=(matrix, matrix))


def matrix(run):
    """Return M, or the projection onto the span of U."""
    found = run.read()
    if not isinstance(found, RelaxedSolution):
        return found.point @ found.point.T
    V, floor = found.vectors, found.floor
    return (V * (found.values - floor)) @ V.T + floor * np.eye(D)


def test_batch_pca_counts_the_decomposition_that_reading_makes():
    X = np.random.default_rng(0).standard_normal((60, 8))
    check_flops(BatchPCA(), ob.stochastic_pca(X, k=K), PlainBatch())


def test_another_method_takes_other_flops(instance):
    with pytest.raises(NotConforming, match=r"work\.flops is \d+ after 40 steps where \d+"):
        check_flops(Oja(relative=False), instance, PlainUpdates())
