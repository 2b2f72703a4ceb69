"""Ends of searches on the Stiefel manifold."""

from dataclasses import replace

import numpy as np
import pytest
from orthobench_stiefel._kernels.line_search import Reference
from orthobench_stiefel.solvers.cdopt import CDOpt
from orthobench_stiefel.solvers.landing_newton import LandingNewton
from orthobench_stiefel.solvers.wen_yin import WenYin

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point

N, P = 7, 2
RNG = np.random.default_rng(0)
A = RNG.standard_normal((N, N))
A = A @ A.T / N
X = random_point(N, P, RNG)


def oracle_of(scale=1.0):
    oracle = ob.stiefel(
        lambda X: scale * float(np.vdot(X, A @ X)), lambda X: 2 * scale * A @ X, n=N, p=P
    ).oracle
    oracle.start = X
    return oracle


def test_whole_step_that_halves_the_gradient_is_accepted():
    solver, oracle = LandingNewton(relative=False), oracle_of()
    near = np.linalg.eigh(A)[1][:, :P] + 1e-2 * np.random.default_rng(0).standard_normal((N, P))
    oracle.start = np.linalg.qr(near)[0]
    state = solver.init(oracle, None)
    state.value, before = -1e9, np.linalg.norm(state.R)  # no cost is below
    solver.step(oracle, state)
    assert np.linalg.norm(state.R) < before / 2
    assert np.abs(state.Y - oracle.start).max() > 1e-4


@pytest.mark.parametrize(
    ("solver", "trials"), [(CDOpt(), 30), (WenYin(safe_search=True), 30), (WenYin(), 5)]
)
def test_a_search_gives_up_after_its_trials_or_takes_the_last(solver, trials):
    solver, oracle = replace(solver, relative=False), oracle_of()
    state = solver.init(oracle, None)
    state.reference, before = Reference(-1e9), state.X.copy()
    solver.step(oracle, state)
    assert state.work.samples == 1 + trials
    still = trials == 30
    assert (state.status is Status.CONVERGED) is still
    assert np.array_equal(state.X, before) is still
