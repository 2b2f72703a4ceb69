"""HOQRI: a transcription, exact ranks, and the shift where the plain iteration falls."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from orthobench_tucker.solvers.hoqri import HOQRI, ROUNDING

from orthobench.tools.geometry import drift, orthonormalize, random_point, subspace_error


def plain(T, Q):
    """One update as stated: an orthonormal basis of the tensor times matrices times the core."""
    n, r = Q.shape
    inside = T
    for _ in range(T.ndim - 1):
        inside = np.tensordot(inside, Q, axes=([1], [0]))
    unfolded = inside.reshape(n, -1)
    core = (Q.T @ unfolded).reshape(r, -1)
    return np.linalg.qr(unfolded @ core.T)[0]


def objective(T, Q):
    for _ in range(T.ndim):
        T = np.tensordot(T, Q, axes=([0], [0]))
    return np.vdot(T, T)


def test_a_step_is_that_of_the_algorithm(tucker):
    for case in product(["implicit", "explicit"], [(14, 2, 3), (12, 3, 3), (7, 4, 2), (5, 5, 2)]):
        form, (n, order, r) = case
        made = tucker.of_samples(tucker.samples(n, 60, r), order, r)
        solver = HOQRI(form=form, start="random", tolerance=0.0)
        state, Q = tucker.begun(solver, made), made.oracle.start
        for _ in range(5):
            solver.advance(made.oracle, state, 1)
            assert state.shift == 0, case
            Q = plain(made.oracle.T, Q)
            assert subspace_error(state.point.Q, Q) < 1e-9, case


@pytest.mark.parametrize(("n", "order", "r"), [(17, 3, 4), (8, 4, 3), (6, 5, 2)])
def test_exact_ranks_are_recovered(tucker, n, order, r):
    T, V = tucker.low_rank(n, order, r)
    state = tucker.converged(HOQRI(), tucker.of_tensor(T, r))
    assert subspace_error(state.point.Q, V) <= 1e-12
    assert drift(state.point.Q) <= 1e-14


@pytest.mark.wide
def test_where_the_plain_iteration_falls_the_shift_makes_it_climb(tucker):
    fallen = 0
    for seed in range(60):
        T = tucker.symmetric(6, 3, seed)
        made = tucker.of_tensor(T, 2, seed)
        solver = HOQRI(start="random", tolerance=1e-10)
        state, values = tucker.begun(solver, made), []
        for _ in range(60):
            values.append(state.point.value)
            if state.status.value == "running":
                solver.advance(made.oracle, state, 1)
        assert np.all(np.diff(values) >= -1e-13 * values[0])
        Q, last = made.oracle.start, 0.0
        for _ in range(60):
            Q, before = plain(T, Q), last
            last = objective(T, Q)
            if last < before * (1 - 1e-10):
                fallen += 1
                assert state.shift > 0
                break
    assert 2 <= fallen <= 30


def test_it_ends_where_pgd_ends(tucker):
    from orthobench_tucker.solvers.pgd import PGD

    made = tucker.of_samples(tucker.samples(20, 200, 3), 3, 3)
    ends = [tucker.converged(solver, made) for solver in (HOQRI(), PGD())]
    points = [HOQRI().solution(ends[0]).point, PGD().solution(ends[1]).point]
    assert subspace_error(*points) < 1e-9


def test_resumes_with_the_same_bits(tucker):
    made = tucker.of_tensor(tucker.symmetric(6, 3), 2)
    assert tucker.resumed_is_the_same(HOQRI(start="random", tolerance=0.0), made)


def test_a_square_basis_is_the_end():
    from orthobench_tucker import GivenTensorOracle

    T = np.zeros((3, 3, 3))
    T[0, 0, 0] = 1
    oracle = GivenTensorOracle(T, 3)
    oracle.start = random_point(3, 3, np.random.default_rng(0))
    assert HOQRI().init(oracle, np.random.default_rng(0)).status.value == "converged"


def test_a_step_that_lowers_f_is_rejected_and_shifted(tucker):
    """By the mean eigenvalue of Q'∇F at first, then by twice as much."""
    made, solver = tucker.of_tensor(tucker.symmetric(6, 3), 2), HOQRI(start="random", tolerance=0.0)
    state = tucker.begun(solver, made)
    first = state.point
    solver.step(made.oracle, state)
    reached = state.point
    for fall, kept in ((0.5 * ROUNDING, False), (2 * ROUNDING, True)):
        state.point = before = replace(first, value=reached.value * (1 + fall))
        solver.step(made.oracle, state)
        assert (state.point is before) is kept
    shift = np.trace(first.B) / 2
    for times in (1, 2, 4):
        assert state.shift == pytest.approx(times * shift)
        state.point = replace(first, value=1e9)
        solver.step(made.oracle, state)
    state.point, state.shift = first, shift
    solver.step(made.oracle, state)
    G = first.gradient + first.Q @ first.B
    np.testing.assert_allclose(state.point.Q, orthonormalize(G + shift * first.Q), atol=1e-12)
