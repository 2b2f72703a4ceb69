"""The solvers of whole tensors: the starts that they refuse, and the ends that they share."""

from itertools import product

import numpy as np
import pytest
from cases import case
from orthobench_kit.geometry import subspace_error
from orthobench_tucker import MomentOracle
from orthobench_tucker.problems.factors import NIGFactor
from orthobench_tucker.problems.planted import RandomSymmetric
from orthobench_tucker.solvers.hooi import HOOI
from orthobench_tucker.solvers.hoqri import HOQRI
from orthobench_tucker.solvers.jacobi_tucker import JacobiTucker
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion
from orthobench_tucker.whole_tensor import FROM_SAMPLES, MANY, STARTS

from orthobench.tools.geometry import drift, random_point

SOLVERS = [PGD, HOOI, HOQRI, QuasiNewton, TrustRegion, JacobiTucker]


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_samples_starts_from_samples_are_refused(solver):
    samples, tensor = NIGFactor(), RandomSymmetric()
    for start in STARTS:
        assert solver(start=start).refuses(samples) is None
        assert (solver(start=start).refuses(tensor) is not None) == (start in FROM_SAMPLES)
    assert "the problem has a tensor, not samples" in solver(start="shoevd").refuses(tensor)


def test_every_start_leads_every_solver_to_the_optimum():
    for solver, start in product(SOLVERS, STARTS):
        rng = np.random.default_rng(3)
        basis = random_point(9, 2, rng)
        oracle = MomentOracle((rng.exponential(size=(300, 2)) - 1) @ basis.T, 3, 2)
        oracle.start = random_point(9, 2, rng)
        state = solver(start=start).init(oracle, rng)
        solver(start=start).advance(oracle, state, 200)
        Q = solver(start=start).solution(state).point
        assert np.linalg.norm(basis - Q @ (Q.T @ basis)) < 1e-10, (solver, start)


def test_many_samples_are_sketched_unless_their_entries_are_few():
    """For 200 features there are 20,100 columns, for 20 there are 210."""
    for p, n, form, start in (
        (MANY, 200, "auto", "hoevd"), (MANY + 1, 200, "auto", "sketch"),
        (MANY + 1, 20, "auto", "hoevd"), (MANY + 1, 200, "explicit", "hoevd"),
        (2 * MANY, 200, "auto", "sketch"),
    ):  # fmt: skip
        oracle = MomentOracle(np.broadcast_to(1.0, (p, n)), 3, 2)
        assert PGD(form=form).start_flops(oracle) == PGD(form=form, start=start).start_flops(oracle)


def test_ends_are_critical_points(tucker):
    sizes = [(20, 3, 4), (9, 4, 3), (6, 5, 2), (12, 2, 3)]
    for solver, start, (n, order, r) in product([HOOI, JacobiTucker], ["hoevd", "random"], sizes):
        with case(solver.name, start, order):
            made = tucker.of_tensor(tucker.factor_tensor(n, order, r), r)
            Q = solver().solution(tucker.converged(solver(start=start), made)).point
            assert tucker.measure(made, Q)["relative_gradient"] <= 2e-12
            assert drift(Q) <= 1e-13


@pytest.mark.parametrize("solver", [HOOI(), HOQRI(), JacobiTucker()], ids=lambda s: s.name)
@pytest.mark.parametrize(("n", "order", "r"), [(17, 3, 4), (8, 4, 3), (6, 5, 2)])
def test_exact_ranks_are_recovered(tucker, n, order, r, solver):
    T, V = tucker.low_rank(n, order, r)
    Q = solver.solution(tucker.converged(solver, tucker.of_tensor(T, r))).point
    assert subspace_error(Q, V) <= 1e-12
    assert drift(Q) <= 1e-13


@pytest.mark.parametrize("solver", [HOOI(start="random"), JacobiTucker(start="random")])
def test_a_matrix_is_that_of_eckart_and_young(tucker, solver):
    A, vectors = tucker.matrix([9, -7, 6, -5, 3, -2, 1, 0, 0, 0])
    state = tucker.converged(solver, tucker.of_tensor(A, 4))
    assert state.objective == pytest.approx(81 + 49 + 36 + 25, rel=1e-13)
    assert subspace_error(solver.solution(state).point, vectors[:, :4]) <= 1e-11
