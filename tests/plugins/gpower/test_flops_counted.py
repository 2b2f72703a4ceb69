"""The flops of gpower against the operations of the methods written plainly."""

from dataclasses import dataclass

import numpy as np
import pytest
from features import of_features
from orthobench_gpower.solvers.gpower import GPower
from plain_solvers import Plain, PlainState

from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status

FEATURES, SAMPLES, M = 150, 60, 3


@dataclass(frozen=True)
class PlainGPower(Plain):
    """Algorithms 2 to 5 of Journée et al. (2010), with the loadings that these give."""

    hard: bool = False
    block: bool = False
    gamma: float = 0.1
    tolerance: float = 1e-4

    def init(self, oracle, rng):
        state = PlainState()
        state.A, state.left = oracle.A, 1 if self.block else M
        beside = rng.standard_normal((SAMPLES, M - 1 if self.block else 0))
        self.start(state, beside)
        return state

    def start(self, state, beside):
        norms = np.linalg.norm(state.A, axis=1)
        longest = int(np.argmax(norms >= (1 - 1e-10) * norms.max()))
        state.X = np.linalg.qr(np.column_stack([state.A[longest], beside]))[0]
        state.bound = (self.gamma**0.5 if self.hard else self.gamma) * norms.max()
        self.evaluate(state)

    def evaluate(self, state):
        squares = np.arange(1.0, state.X.shape[1] + 1) ** -2.0 if self.hard else 1.0
        scores = state.A @ state.X
        over = np.maximum(np.abs(scores) - state.bound, 0.0)
        if self.hard:
            active = np.where(over > 0, scores, 0.0)
            value = active**2 - np.where(over > 0, state.bound**2, 0.0)
        else:
            active, value = np.sign(scores) * over, over**2
        state.active, state.value = active, np.sum(value.sum(axis=0) * squares)
        state.G = (state.A.T @ active) * squares

    def move(self, oracle, state):
        before = state.value
        if self.block:
            P, _, Qt = np.linalg.svd(state.G, full_matrices=False)
            state.X = P @ Qt
        else:
            state.X = state.G / np.linalg.norm(state.G)
        self.evaluate(state)
        if state.value - before <= self.tolerance * before:
            self.finish(state)

    def finish(self, state):
        state.left -= 1
        if state.left == 0:
            state.status = Status.CONVERGED
            return
        z = state.active[:, 0] / np.linalg.norm(state.active)
        state.A = state.A - np.outer(z, z @ state.A)
        self.start(state, np.empty((SAMPLES, 0)))

    def solution(self, state):
        return Solution(state.X.copy())


VARIANTS = {
    "greedy": (GPower(loadings="thresholded"), PlainGPower()),
    "block": (
        GPower(penalty="l0", block=True, mu="distinct", gamma=0.01, tolerance=1e-8),
        PlainGPower(hard=True, block=True, gamma=0.01, tolerance=1e-8),
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_flops_are_those_of_the_plain_method(name, flops_agree):
    A = np.random.default_rng(0).standard_normal((FEATURES, SAMPLES))
    A = A * np.linspace(1, 3, SAMPLES) * np.linspace(1, 2, FEATURES)[:, None]
    instance = of_features(A - A.mean(axis=1, keepdims=True), m=M)
    points = (lambda run: run.state.ascent.X.T, lambda run: run.state.X)
    flops_agree(*VARIANTS[name], instance, seen=points)
