"""The flops of symmetric Tucker decomposition against the operations of the methods plainly."""

from dataclasses import dataclass

import numpy as np
import pytest
from kinds import one_of
from orthobench_tucker._kernels.partial_cores import SampleCores
from orthobench_tucker.reference import cp_gradient, hoevd_gradient, tucker_gradient
from orthobench_tucker.solvers import quasi_newton, trust_region
from orthobench_tucker.solvers.cp_adam import CPAdam
from orthobench_tucker.solvers.hoevd import HOEVD
from orthobench_tucker.solvers.hooi import HOOI
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import SPGD
from orthobench_tucker.solvers.trust_region import TrustRegion
from plain_solvers import Plain, PlainState

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.testing import check_flops

N, R, D = 30, 3, 3
WIDE = 8
FIRST, SECOND = np.triu_indices(R)
COUNTS = np.where(FIRST == SECOND, 1.0, 2.0)


class PlainTucker(Plain):
    def init(self, oracle, rng):
        state = PlainState()
        state.Q, state.rng, state.gamma = oracle.start.copy(), rng, None
        self.begin(oracle, state)
        return state

    def begin(self, oracle, state):
        pass

    def solution(self, state):
        return Solution(state.Q.copy())


@dataclass(frozen=True)
class PlainStreaming(PlainTucker):
    """Algorithms 2 and 3 of Jin et al. (2022)."""

    batch: int = 50
    hoevd_steps: int = 10**9

    def move(self, oracle, state):
        X = oracle.take(self.batch)
        if state.work.steps == self.hoevd_steps + 1:
            state.gamma = None
        first = state.work.steps <= self.hoevd_steps
        G = (hoevd_gradient if first else tucker_gradient)(X, state.Q, D)
        if state.gamma is None:
            state.gamma = 1e-5 * np.linalg.norm(G)
        state.gamma = np.sqrt(state.gamma**2 + np.sum(G**2, axis=0))
        state.Q = np.linalg.qr(state.Q + G / state.gamma)[0]


@dataclass(frozen=True)
class PlainHOEVD(PlainTucker):
    """Equations 7 and 17, or with the distinct columns of the unfolded moment."""

    explicit: bool = False
    distinct: bool = False

    def move(self, oracle, state):
        if self.explicit:
            unfolded = oracle.T.reshape(N, -1)
            square = unfolded @ unfolded.T
        elif self.distinct:
            X, (a, b) = oracle.X, np.triu_indices(N)
            columns = X.T @ (X[:, a] * X[:, b]) * np.where(a == b, 1.0, 2.0**0.5) / len(X)
            square = columns @ columns.T
        else:
            X = oracle.X
            square = X.T @ ((X @ X.T) ** (D - 1) @ X) / len(X) ** 2
        state.Q = np.linalg.eigh(square)[1][:, : -R - 1 : -1]
        state.status = Status.CONVERGED


@dataclass(frozen=True)
class PlainAscent(PlainTucker):
    """W = X ·(I, Q, Q) with a column for each pair of columns of Q, its core, and the gradient."""

    explicit: bool = False
    tolerance: float = 1e-8

    def begin(self, oracle, state):
        self.evaluate(oracle, state)
        state.least = 1e-5 * np.linalg.norm(state.G)

    def evaluate(self, oracle, state):
        Q = state.Q
        if self.explicit:
            state.W = np.tensordot(oracle.T @ Q, Q, axes=(1, 0))[:, FIRST, SECOND]
        else:
            Y = oracle.X @ Q
            state.W = oracle.X.T @ (Y[:, FIRST] * Y[:, SECOND]) / len(oracle.X)
        S = Q.T @ state.W
        weighted = 2 * D * COUNTS * S
        F = np.sum(S * weighted) / (2 * D)
        P, V = S @ weighted.T, (state.W - Q @ S) @ weighted.T
        state.G = Q @ P + V
        if np.linalg.norm(V - Q @ (Q.T @ V)) <= self.tolerance * F:
            state.status = Status.CONVERGED


@dataclass(frozen=True)
class PlainPGD(PlainAscent):
    """Algorithm 1 with steps of 1000 over the length of each column."""

    def move(self, oracle, state):
        lengths = np.sqrt(state.least**2 + np.sum(state.G**2, axis=0))
        state.Q = np.linalg.qr(state.Q + 1000.0 * state.G / lengths)[0]
        self.evaluate(oracle, state)


@dataclass(frozen=True)
class PlainHOOI(PlainAscent):
    def move(self, oracle, state):
        scaled = state.W * np.sqrt(COUNTS)
        state.Q = np.linalg.svd(scaled, full_matrices=False)[0][:, :R]
        self.evaluate(oracle, state)


@dataclass(frozen=True)
class PlainAdam(PlainTucker):
    """Symmetric CP by Adam (Sherman and Kolda 2020), epochs as of Kolda and Hong (2020)."""

    batch: int = 50
    components: int = 4
    epoch: int = 10
    rate: float = 0.05

    def begin(self, oracle, state):
        state.held, state.value, state.fails = [], None, 0

    def move(self, oracle, state):
        X = oracle.take(self.batch)
        if not state.held:
            self.first(X, state)
        X = X / state.scale
        state.held = state.held if len(state.held) == self.epoch else [*state.held, X]
        self.descend(state, *self.gradient(state, X))
        if state.work.steps % self.epoch == 0:
            self.judge(state)

    def first(self, X, state):
        state.scale = np.linalg.norm(X) / X.size**0.5
        rows = state.rng.standard_normal((self.components, len(X))) @ (X / state.scale)
        rows = rows / np.linalg.norm(rows, axis=1)[:, None]
        rows = rows + 1e-3 / N**0.5 * state.rng.standard_normal(rows.shape)
        x = np.append(N**0.5 * rows, np.ones(self.components))
        state.now = state.best = (x, np.zeros(len(x)), np.zeros(len(x)), 0)

    def parts(self, x):
        return x[: -self.components].reshape(-1, N), x[-self.components :] / self.components

    def gradient(self, state, X):
        V, shares = self.parts(state.now[0])
        by_column, by_weight = cp_gradient(V.T, self.components * shares, X, D)
        return by_column.T, by_weight

    def descend(self, state, *gradient):
        x, m, v, t = state.now
        g, t = np.concatenate([part.ravel() for part in gradient]), t + 1
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        rate = self.rate * 0.1**state.fails
        step = rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        state.now = (x - step, m, v, t)

    def judge(self, state):
        X = np.concatenate(state.held)
        values = [self.objective(state.now, X)]
        if state.value is None:
            state.value = self.objective(state.best, X)
        if values[0] < state.value - 1e-5 * abs(state.value):
            state.best, state.value = state.now, values[0]
        else:
            state.now, state.fails = state.best, state.fails + 1

    def objective(self, iterate, X):
        V, shares = self.parts(iterate[0])
        inner = ((X @ V.T) ** D).mean(axis=0) @ shares
        return shares @ (V @ V.T) ** D @ shares - 2 * inner

    def solution(self, state):
        V = self.parts(state.now[0])[0]
        return Solution((V / np.linalg.norm(V, axis=1)[:, None]).T)


def samples(count):
    rng = np.random.default_rng(0)
    factors = rng.exponential(size=(count, R)) * (1, 1.3, 1.6) - 1
    return factors @ rng.standard_normal((R, N)) + 0.1 * rng.standard_normal((count, N))


@pytest.fixture(scope="module")
def few():
    return ob.symmetric_tucker(samples(200), order=D, rank=R)


@pytest.fixture(scope="module")
def stream():
    return ob.symmetric_tucker(samples(2000), order=D, rank=R)


@pytest.fixture(scope="module")
def given():
    X = samples(200)
    T = np.einsum("pa,pb,pc->abc", X, X, X, optimize=True) / len(X)
    return ob.symmetric_tucker(tensor=T, rank=R)


STREAMING = {
    "shoevd": (SHOEVD(), PlainStreaming()),
    "spgd": (SPGD(hoevd_steps=3), PlainStreaming(hoevd_steps=3)),
    "cp-adam": (CPAdam(components=4, epoch=10), PlainAdam(components=4, epoch=10)),
}


@pytest.mark.parametrize("name", one_of(3, STREAMING))
def test_streaming(name, stream, flops_agree):
    flops_agree(*STREAMING[name], stream)


METHODS = {
    "hoevd": (HOEVD, PlainHOEVD),
    "pgd": (lambda: PGD(start="random", tolerance=1e-8), PlainPGD),
    "hooi": (lambda: HOOI(start="random", tolerance=1e-8), PlainHOOI),
}


@pytest.mark.parametrize("name", one_of(3, METHODS))
def test_flops_of_methods_on_samples_are_those_done(name, few, flops_agree):
    make, plain = METHODS[name]
    flops_agree(make(), plain(), few)


@pytest.mark.parametrize("name", one_of(3, METHODS))
def test_flops_of_methods_on_a_tensor_are_those_done(name, given, flops_agree):
    make, plain = METHODS[name]
    flops_agree(make(), plain(explicit=True), given)


def test_flops_of_distinct_columns_are_those_done(stream, flops_agree):
    flops_agree(HOEVD(), PlainHOEVD(distinct=True), stream)


class PlainCores:
    """The only compiled part of the second-order methods: the rest is counted as it is done."""

    first, second = np.triu_indices(WIDE)

    def __init__(self, oracle, form):
        self.X, self.n, self.order = oracle.X, N, D
        self.compiled = SampleCores(np.asarray(oracle.X).view(np.ndarray), D)
        self.at_flops, self.along_flops = self.compiled.at_flops, self.compiled.along_flops
        self.pairs_flops = self.compiled.pairs_flops

    def at(self, Q):
        Y = self.X @ Q
        return self.X.T @ (Y[:, self.first] * Y[:, self.second]) / len(self.X)

    def pairs(self, Q):
        return None

    def along(self, Q, V, pairs):
        Y, Z = self.X @ Q, self.X @ V
        both = Y[:, self.first] * Z[:, self.second] + Z[:, self.first] * Y[:, self.second]
        return self.X.T @ both / len(self.X)


@pytest.mark.parametrize(
    ("module", "solver"),
    [
        (quasi_newton, QuasiNewton(start="random", tolerance=0.0)),
        (trust_region, TrustRegion(start="random", tolerance=1e-7)),
    ],
)
def test_second_order_methods_but_for_the_compiled_cores(module, solver, monkeypatch):
    instance = ob.symmetric_tucker(samples(100), order=D, rank=WIDE)
    monkeypatch.setattr(module, "partial_cores", PlainCores)
    check_flops(solver, instance)
