"""The flops of the tensor power methods against the operations of the methods written plainly."""

from dataclasses import dataclass

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import composed
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tensor_power.solvers.tensor_power import TensorPower
from plain_solvers import Plain, PlainState

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point

N = 10


def contracted(T, X):
    """T(I, x, x) of each column."""
    return np.einsum("abi,bi->ai", np.tensordot(T, X, 1), X)


@dataclass(frozen=True)
class PlainPolarPower(Plain):
    def init(self, oracle, rng):
        state = PlainState()
        state.U = oracle.start.copy()
        self.contract(oracle.T, state)
        return state

    def move(self, oracle, state):
        P, _, Qt = np.linalg.svd(state.C, full_matrices=False)
        state.U = P @ Qt
        self.contract(oracle.T, state)

    def contract(self, T, state):
        state.C = contracted(T, state.U)
        inner = state.U.T @ state.C
        signs = np.where(np.diagonal(inner) < 0, -1.0, 1.0)
        state.U, inner = state.U * signs, inner * signs[:, None]
        if np.linalg.norm(inner - inner.T) <= 1e-8 * np.linalg.norm(inner):
            state.status = Status.CONVERGED


@dataclass(frozen=True)
class PlainTensorPower(Plain):
    """Algorithm 1 of Anandkumar et al. (2014), `iterations` each time."""

    restarts: int
    iterations: int

    def init(self, oracle, rng):
        state = PlainState()
        state.rng, state.T, state.found = rng, oracle.T, []
        self.restart(state)
        return state

    def restart(self, state):
        X = state.rng.standard_normal((len(state.T), self.restarts))
        state.X, state.at, state.refining = X / np.linalg.norm(X, axis=0), 0, False

    def move(self, oracle, state):
        Y = contracted(state.T, state.X)
        values = (state.X * Y).sum(axis=0)
        state.at += 1
        if state.at <= self.iterations:
            state.X = Y / np.linalg.norm(Y, axis=0)
        elif not state.refining:
            best = int(values.argmax())
            Y = Y[:, [best]]
            state.X, state.at, state.refining = Y / np.linalg.norm(Y, axis=0), 1, True
        else:
            self.deflate(state, values[0])

    def deflate(self, state, value):
        u = state.X[:, 0]
        state.T = state.T - np.multiply.outer(value * u, np.outer(u, u))
        state.found = [*state.found, u]
        self.restart(state)

    def solution(self, state):
        return Solution(state.X.copy())


@pytest.fixture(scope="module")
def instance():
    U = random_point(N, N, np.random.default_rng(0))
    return ob.orthogonal_tensor(composed(U, np.linspace(1, 2, N)))


def test_polar_power(instance, flops_agree):
    flops_agree(PolarPower(tolerance=1e-8), PlainPolarPower(), instance)


def test_tensor_power(instance, flops_agree):
    settings = {"restarts": 5, "iterations": 3}
    flops_agree(
        TensorPower(**settings, tolerance=0.0), PlainTensorPower(**settings), instance,
        seen=(lambda run: run.state.factors, lambda run: np.column_stack(run.state.found)),
    )  # fmt: skip
