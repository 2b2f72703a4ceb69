"""HOQRI: a transcription, exact ranks, and the shift if the plain iteration falls."""

from itertools import product

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_tucker import reference
from orthobench_tucker.solvers.hoqri import HOQRI


def test_a_step_is_that_of_the_algorithm(tucker):
    for case in product(["implicit", "explicit"], [(14, 2, 3), (12, 3, 3), (7, 4, 2), (5, 5, 2)]):
        form, (n, order, r) = case
        made = tucker.of_samples(tucker.samples(n, 60, r), order, r)
        solver = HOQRI(form=form, start="random", tolerance=0.0)
        state, Q = tucker.begun(solver, made), made.oracle.start
        for _ in range(5):
            solver.advance(made.oracle, state, 1)
            assert state.shift == 0, case
            Q = reference.hoqri(made.oracle.T, Q)
            assert subspace_error(state.point.Q, Q) < 1e-9, case


@pytest.mark.wide
def test_shift_makes_a_falling_iteration_climb(tucker):
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
            Q, before = reference.hoqri(T, Q), last
            last = reference.objective(T, Q)
            if last < before * (1 - 1e-10):
                fallen += 1
                assert state.shift > 0
                break
    assert 2 <= fallen <= 30
