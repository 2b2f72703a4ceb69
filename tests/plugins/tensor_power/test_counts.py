"""The flops of tensor power methods to the last operation, and the parts of the subspace method."""

from math import sqrt

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor.solvers.randomized_joint_diagonalization import (
    EXACT,
    RandomizedJointDiagonalization,
    images_flops,
    random_matrix_flops,
)
from orthobench_tensor_power.solvers.polar_power import PolarPower, contraction_flops
from orthobench_tensor_power.solvers.subspace_power import (
    SubspacePower,
    flattened,
    flattening_flops,
    less_one_direction,
    shift,
)

import orthobench as ob
from orthobench.tools.flops import eigh, polar, svd
from orthobench.tools.geometry import random_point

N = 5


def tensor(order=3, noise=0.0):
    U = random_point(N, N, np.random.default_rng(0))
    w = np.arange(N, 0.0, -1)
    other = random_point(N, N, np.random.default_rng(1))
    return composed(U, w, order) + noise * composed(other, w, order)


def test_of_polar_steps():
    contraction = 2 * N**4 + 4 * N**3
    assert contraction_flops(N) == contraction
    instance = ob.orthogonal_tensor(tensor(noise=0.3))
    outcome = ob.solve(PolarPower(start="random", tolerance=0.0), instance, ob.Budget(steps=3))
    assert outcome.trace[0].work.flops == contraction
    assert outcome.work.flops == contraction + 3 * (contraction + polar(N, N))


def test_of_flattened_tensors():
    half = N * (N + 1) // 2
    assert flattening_flops(N, 3) == 2 * half * N + svd(half, N)
    assert flattening_flops(N, 4) == 2 * half * half + eigh(half) + half * N


@pytest.mark.parametrize("order", [3, 4])
def test_a_flattened_tensor_is_that_of_its_parts(order):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((N, N))
    letters = "abcd"[:order]
    T = np.einsum(",".join(f"{c}i" for c in letters) + "->" + letters, *[A] * order)
    left, values, right = flattened(T)
    np.testing.assert_allclose(left, left.transpose(1, 0, 2))
    columns = left.reshape(N * N, -1)
    np.testing.assert_allclose(columns.T @ columns, np.eye(len(values)), atol=1e-12)
    np.testing.assert_allclose(columns * values @ right.T, T.reshape(N * N, -1), atol=1e-10)
    assert np.all(np.diff(np.abs(values)) <= 0)


def test_a_direction_less_is_a_reflection_without_its_first_column():
    rng = np.random.default_rng(0)
    A, direction = rng.standard_normal((6, 4)), rng.standard_normal(4)
    for sign in (1, -1):
        found = less_one_direction(A, sign * direction)
        basis = np.linalg.qr(np.column_stack([direction, rng.standard_normal((4, 3))]))[0][:, 1:]
        np.testing.assert_allclose(found @ found.T, A @ basis @ basis.T @ A.T, atol=1e-12)
    axis = less_one_direction(np.eye(4), np.array([2.0, 0, 0, 0]))
    np.testing.assert_allclose(axis, np.eye(4)[:, 1:])


def test_the_shift_is_that_of_the_value():
    assert shift(0.0) == pytest.approx(sqrt(0.5))
    assert shift(0.5) == pytest.approx(sqrt(0.5) * 0.75)
    assert shift(2 / 3) == pytest.approx(sqrt(0.5) * 2 / 3)
    assert shift(0.8) == pytest.approx(sqrt(0.5) * sqrt(0.32))
    assert shift(1.0) == shift(1.5) == 0


def climbs(rank):
    """Return the flops of an iteration, and of the value at its end."""
    each = 2 * N * N * rank + 4 * N * rank + 2 * rank + 8 * N
    return each, 2 * N * N * rank + 2 * N * rank + 2 * rank + 3 * N


@pytest.mark.parametrize("order", [3, 4])
def test_of_a_component_and_its_deflation(order):
    T = tensor(order)
    oracle = ob.orthogonal_tensor(T).oracle
    oracle.start = np.eye(N)
    solver = SubspacePower(starts=1)
    state = solver.init(oracle, np.random.default_rng(0))
    assert state.work.flops == flattening_flops(N, order) + N
    size = N ** (order - 2)
    for rank in range(N, 0, -1):
        before = state.work.flops
        solver.step(oracle, state)
        spent = state.work.flops - before
        weight = 2 * N * rank + 2 * size * rank + 4 * rank**2 + 2 * rank + 1
        weight += N * N if order == 4 else 0
        rows = N * N + size + rank + rank - 1
        each, end = climbs(rank)
        iterations = (spent - weight - rows * (4 * rank - 1) - 28 * rank - end) / each
        assert iterations == int(iterations) > 0
        assert state.left.shape == (N, N, rank - 1)
        assert state.right.shape == (size, rank - 1)
    np.testing.assert_allclose(np.sort(np.abs(state.weights)), np.arange(1, N + 1), rtol=1e-6)


def imaged(order):
    """Return those of contractions of a third of the entries with all but one of the factors."""
    if order == 4:
        return N * sum(2 * m * N * m + (2 * m + 7) * N for m in range(1, N + 1))
    return sum(2 * m * N * m + (4 * m + 6) * N for m in range(1, N + 1))


@pytest.mark.parametrize("order", [3, 4])
def test_of_trials_and_refinements(order):
    assert images_flops(N, N, order) == imaged(order)
    drawn = sum(2 * N**power for power in range(3, order + 1))
    assert random_matrix_flops(N, order) == drawn
    solver = RandomizedJointDiagonalization(trials=2, refinements=1)
    oracle = ob.orthogonal_tensor(tensor(order, noise=0.3)).oracle
    oracle.start = np.eye(N)
    state = solver.init(oracle, np.random.default_rng(0))
    found = [state.work.flops]
    while state.status.name == "RUNNING":
        solver.step(oracle, state)
        found.append(state.work.flops)
    trial = imaged(order) + 2 * N**2 + drawn + eigh(N) + 4 * N
    refinement = imaged(order) + 2 * N**2 + N**2 + polar(N, N)
    assert found[0] == 2 * N**order // 3
    assert np.diff(found).tolist() == [trial, trial, refinement]


@pytest.mark.parametrize(("share", "trials"), [(0.5, 0), (2.0, 1)])
def test_no_other_contraction_is_tried_where_the_first_is_exact(share, trials):
    oracle = ob.orthogonal_tensor(tensor()).oracle
    oracle.start = np.eye(N)
    solver = RandomizedJointDiagonalization(trials=2)
    state = solver.init(oracle, np.random.default_rng(0))
    state.square /= 1 - share * EXACT  # as if the factors left out so much
    solver.step(oracle, state)
    assert state.trials == trials
