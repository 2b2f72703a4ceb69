"""Symmetric HOOI: its fixed points are critical, exact ranks are recovered, cycles are noticed."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_kit.symmetric_tensors import symmetrized
from orthobench_tucker import reference
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.solvers.hooi import HOOI, leading_left
from orthobench_tucker.solvers.jacobi_tucker import JacobiTucker

from orthobench.contract.solver import Status
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.tools.flops import svd
from orthobench.tools.geometry import drift, random_point

KOFIDIS_REGALIA = {
    (0, 0, 0, 0): 0.2883, (0, 0, 0, 1): -0.0031, (0, 0, 0, 2): 0.1973, (0, 0, 1, 1): -0.2485,
    (0, 0, 1, 2): -0.2939, (0, 0, 2, 2): 0.3847, (0, 1, 1, 1): 0.2972, (0, 1, 1, 2): 0.1862,
    (0, 1, 2, 2): 0.0919, (0, 2, 2, 2): -0.3619, (1, 1, 1, 1): 0.1241, (1, 1, 1, 2): -0.3420,
    (1, 1, 2, 2): 0.2127, (1, 2, 2, 2): 0.2727, (2, 2, 2, 2): -0.3054,
}  # fmt: skip
"""Kofidis and Regalia 2002, Example 1: on it the symmetric power method does not converge."""


def oscillating():
    table = monomials(3, 4)
    values = np.array([KOFIDIS_REGALIA[i] for i in table.indices])
    return values[table.expansion].reshape((3,) * 4)


def test_both_forms_make_the_same_steps(tucker):
    for case in product([(14, 2), (14, 3), (9, 4), (7, 5)], ["hoevd", "random"]):
        (n, order), start = case
        made = tucker.of_samples(tucker.samples(n, 60, 3), order, 3)
        solvers = [HOOI(form=f, start=start, tolerance=0.0) for f in ("implicit", "explicit")]
        states = [tucker.begun(solver, made) for solver in solvers]
        for _ in range(8):
            assert subspace_error(states[0].Q, states[1].Q) <= 1e-10, case
            for solver, state in zip(solvers, states, strict=True):
                solver.advance(made.oracle, state, 1)


def test_a_step_takes_the_leading_singular_vectors(tucker):
    """Independent of monomials and of their weights: the unfolding with all its columns."""
    T = tucker.symmetric(8, 3)
    made = tucker.of_tensor(T, 3)
    state = tucker.begun(HOOI(start="random"), made)
    expected = reference.hooi(T, state.Q)
    HOOI().advance(made.oracle, state, 1)
    assert subspace_error(state.Q, expected) <= 1e-13


def test_flops_of_a_step_are_those_of_its_products_and_its_svd(tucker):
    n, r, d = 7, 2, 3
    made = tucker.of_tensor(tucker.factor_tensor(n, d, r), r)
    solver = HOOI(start="random", tolerance=0.0)
    state = tucker.begun(solver, made)
    size = comb(r + d - 2, d - 1)
    derivatives = 6 * n * r * size + 4 * n * r**2 + 2 * r**2 * size
    evaluation = 2 * n**3 * r + 2 * n**2 * r**2 + derivatives
    assert state.work.flops == evaluation
    solver.advance(made.oracle, state, 2)
    assert state.work.flops == 3 * evaluation + 2 * svd(n, size)


def test_the_cycle_of_kofidis_and_regalia_is_noticed(tucker):
    cycles = 0
    for seed in range(4):
        made = tucker.of_tensor(oscillating(), 1, seed)
        state = tucker.ended(HOOI(start="random"), made, 2000)
        if state.status is Status.CONVERGED:  # some starts lie elsewhere
            assert tucker.measure(made, state.Q)["relative_gradient"] <= 2e-12
            continue
        cycles += 1
        assert state.status is Status.FAILED
        assert "oscillates between two subspaces" in state.reason
        assert subspace_error(state.Q, state.before) <= 1e-6 * subspace_error(state.Q, state.last)
    assert cycles


@pytest.mark.filterwarnings("ignore:rank = .* is above the rank")
def test_a_rank_below_r_is_filled_up(tucker):
    """T has rank 1: any basis around its vector is optimal; none is NaN."""
    v = random_point(9, 1, np.random.default_rng(0))[:, 0]
    T = symmetrized(np.einsum("a,b,c->abc", v, v, v))
    for start in ("hoevd", "random"):
        state = tucker.converged(HOOI(start=start), tucker.of_tensor(T, 3))
        assert drift(state.Q) <= 1e-13
        assert subspace_error(state.Q, v[:, None]) <= 1e-13


@given(st.integers(0, 1000), st.integers(0, 3))
def test_leading_left_keeps_what_does_not_matter(seed, rank):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((7, rank)) @ rng.standard_normal((rank, 6))
    Q = random_point(7, 3, rng)
    found = leading_left(A, Q)
    assert drift(found) <= 1e-13
    assert np.linalg.norm(A - found @ (found.T @ A)) <= 1e-12 * max(1, np.linalg.norm(A))
    if rank == 0:
        assert subspace_error(found, Q) <= 1e-13


@pytest.mark.parametrize(
    ("tolerance", "status"), [(0.0, Status.RUNNING), (1e-300, Status.CONVERGED)]
)
def test_only_a_tolerance_ends_a_run_without_a_gradient(tucker, tolerance, status):
    made = tucker.of_tensor(np.diag([2.0, 1.0]), 1)
    made.oracle.start = np.eye(2)[:, :1]
    state = tucker.ended(HOOI(start="random", tolerance=tolerance), made, 3)
    assert state.relative_gradient == 0
    assert state.status is status


def outcome(solver, made):
    return run(made, solver, Budget(steps=200), Streams.of("a tensor", solver.name, 0))


@pytest.mark.parametrize("solver", [HOOI(), JacobiTucker()])
def test_runs_end_as_the_harness_expects(tucker, solver):
    found = outcome(solver, tucker.of_tensor(tucker.factor_tensor(9, 3, 2), 2, core=True))
    assert found.stop.status is RunStatus.DONE
    assert found.trace[-1].metrics["relative_gradient"] <= 2e-12
    assert found.final.core.shape == (2, 2, 2)
    X = tucker.samples(6, 30, 2)
    failed = outcome(solver, tucker.mirrored(X, 3, 2))
    assert failed.stop.status is RunStatus.DIVERGED
    assert "no moments of odd order" in failed.stop.reason
