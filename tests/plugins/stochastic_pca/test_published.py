"""Streaming solvers against plain transcriptions of the published methods, flops included."""

from dataclasses import dataclass

import numpy as np
import pytest
from kinds import one_of
from orthobench_stochastic_pca.solvers.ada_oja import AdaOja
from orthobench_stochastic_pca.solvers.ccipca import CCIPCA
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections
from orthobench_stochastic_pca.solvers.history_pca import HistoryPCA
from orthobench_stochastic_pca.solvers.krylov import BlockKrylov, SubspaceIteration
from orthobench_stochastic_pca.solvers.rotating import Oja
from orthobench_stochastic_pca.solvers.vr_pca import VRPCA
from plain_solvers import Plain, PlainState

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.testing import check_flops

D, K, B = 120, 4, 10


@dataclass(frozen=True)
class PlainStreaming(Plain):
    batch = B

    def init(self, oracle, rng):
        state = PlainState()
        state.U, state.t = oracle.start.copy(), 0
        self.begin(state)
        return state

    def begin(self, state):
        """Set what the method keeps beside U."""

    def move(self, oracle, state):
        state.t += 1
        self.take(oracle.take(self.batch), state)


@dataclass(frozen=True)
class PlainAdaOja(PlainStreaming):
    """Algorithm 2 of Henriksen and Ward (2019)."""

    common: bool = False

    def begin(self, state):
        state.b = np.full(K, 1e-5)

    def take(self, X, state):
        G = X.T @ (X @ state.U) / B
        squares = np.linalg.norm(G, axis=0) ** 2
        if self.common:
            squares = np.full(K, squares.sum())
        state.b = np.sqrt(state.b**2 + squares)
        state.U = np.linalg.qr(state.U + G / state.b)[0]


@dataclass(frozen=True)
class PlainHistory(PlainStreaming):
    """Yang, Hsieh and Wang (2018), one product with each term of the sum."""

    def begin(self, state):
        state.values = np.zeros(K)

    def take(self, X, state):
        S = state.U @ (np.diag((state.t - 1) / state.t * state.values) @ (state.U.T @ state.U))
        S = S + X.T @ (X @ state.U) / (state.t * B)
        state.U = np.linalg.qr(S)[0]
        state.values = np.linalg.norm(S, axis=0)


@dataclass(frozen=True)
class PlainCCIPCA(PlainStreaming):
    """Algorithm 1 of Weng, Zhang and Hwang (2003)."""

    batch = 1
    amnesic: float = 0.0

    def begin(self, state):
        state.V = []

    def take(self, X, state):
        u, n = X[0], state.t
        extra = self.amnesic if n > self.amnesic + 1 else 0.0
        for i in range(min(K, n)):
            if i == n - 1:
                state.V.append(u)
                return
            v = state.V[i]
            along = u * (u @ v * ((1 + extra) / n) / np.linalg.norm(v))
            state.V[i] = (n - 1 - extra) / n * v + along
            w = state.V[i] / np.linalg.norm(state.V[i])
            u = u - (u @ w) * w

    def solution(self, state):
        V = np.array(state.V[:K]).T
        Q = np.linalg.qr(V)[0]
        if Q.shape[1] < K:
            rest = state.U - Q @ (Q.T @ state.U)
            Q = np.hstack([Q, np.linalg.svd(rest)[0][:, : K - Q.shape[1]]])
        return Solution(Q)


@dataclass(frozen=True)
class PlainFrequentDirections(PlainStreaming):
    """Ghashami et al. (2016), with a buffer of 2l rows and the SVD of the Gram matrix."""

    batch = 1
    size: int = 10

    def begin(self, state):
        state.B = np.zeros((0, D))

    def take(self, X, state):
        state.B = np.vstack([state.B, X])
        if len(state.B) == 2 * self.size:
            squares, vectors = np.linalg.eigh(state.B @ state.B.T)
            squares, vectors = squares[::-1], vectors[:, ::-1]
            last = self.size - 1
            left = np.sqrt((squares[:last] - squares[last]) / squares[:last])
            state.B = (vectors[:, :last] * left).T @ state.B

    def solution(self, state):
        _, vectors = np.linalg.eigh(state.B @ state.B.T)
        return Solution(np.linalg.qr(state.B.T @ vectors[:, : -K - 1 : -1])[0])


@dataclass(frozen=True)
class PlainVRPCA(PlainStreaming):
    """Algorithm 1 of Shamir (2016), after a power iteration; the samples are kept."""

    n: int = 60

    def begin(self, state):
        state.X, state.at = np.empty((0, D)), 0

    def take(self, X, state):
        state.at += B
        if len(state.X) < self.n:
            state.X = np.vstack([state.X, X])
            if len(state.X) == self.n:
                state.energy = np.vdot(state.X, state.X) / self.n
                state.U = np.linalg.qr(state.X.T @ (state.X @ state.U))[0]
            return
        if (state.at - 1) // self.n % 2:
            if state.at % self.n == 0:
                state.anchor = state.U
                state.mean = state.X.T @ (state.X @ state.anchor) / self.n
            return
        P, _, St = np.linalg.svd(state.U.T @ state.anchor)
        rotation = (P @ St).T
        eta = B / (state.energy * self.n**0.5)
        anchored = state.anchor @ rotation
        W = state.U + eta * (X.T @ (X @ (state.U - anchored)) / B + state.mean @ rotation)
        P, _, St = np.linalg.svd(W, full_matrices=False)
        state.U = P @ St


@dataclass(frozen=True)
class PlainKrasulina(PlainStreaming):
    """Tang (2019), without shortcuts."""

    batch = 1

    def take(self, X, state):
        x = X[0]
        w = state.U.T @ x
        P, _, Qt = np.linalg.svd(
            state.U + np.outer(0.1 * (x - state.U @ w), w), full_matrices=False
        )
        state.U = P @ Qt


METHODS = {
    "ada-oja": (AdaOja(relative=False), PlainAdaOja()),
    "ada-oja in common": (AdaOja(relative=False, rates="common"), PlainAdaOja(common=True)),
    "history-pca": (HistoryPCA(), PlainHistory()),
    "ccipca": (CCIPCA(relative=False), PlainCCIPCA()),
    "ccipca amnesic": (CCIPCA(relative=False, amnesic=2.0), PlainCCIPCA(amnesic=2.0)),
    "frequent-directions": (FrequentDirections(size=10), PlainFrequentDirections()),
    "vr-pca": (VRPCA(epoch=60), PlainVRPCA()),
}


@pytest.fixture(scope="module")
def instance():
    X = np.random.default_rng(0).standard_normal((400, D)) * np.linspace(2, 1, D) / D**0.5
    return ob.stochastic_pca(X, k=K, passes=3)


@pytest.mark.parametrize("name", one_of(4, METHODS))
def test_steps_and_flops_are_those_of_the_plain_method(name, instance, flops_agree):
    solver, plain = METHODS[name]
    if name == "vr-pca":  # the plain method takes what it has kept, not what the stream brings
        X = np.random.default_rng(0).standard_normal((60, D)) * np.linspace(2, 1, D) / D**0.5
        instance = ob.stochastic_pca(X, k=K, passes=10)
    flops_agree(solver, plain, instance)


@pytest.mark.parametrize("cls", [BlockKrylov, SubspaceIteration])
def test_the_flops_of_batch_methods_are_those_done(cls, instance):
    check_flops(cls(iterations=6, tolerance=0.0), instance)


def test_krasulina_is_the_plain_method(instance):
    oracle = instance.oracle
    solver, plain = (
        Oja(relative=False, step_size=0.1, schedule="constant", form="krasulina"),
        PlainKrasulina(),
    )
    found = []
    for method in (solver, plain):
        oracle.rewind(np.random.default_rng(0))
        oracle.start = np.linalg.qr(np.random.default_rng(1).standard_normal((D, K)))[0]
        state = method.init(oracle, np.random.default_rng(0))
        oracle.prepare(100)
        method.advance(oracle, state, 100)
        found.append(method.solution(state).point)
    np.testing.assert_allclose(*found, atol=1e-12)
