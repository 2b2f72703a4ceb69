"""subspace-power: against a transcription, exact for components that are not orthogonal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor import orthogonal_tensor
from orthobench_orthogonal_tensor.problems.odeco import Odeco, Odeco4
from orthobench_tensor_power.solvers.subspace_power import SubspacePower, flattened

from orthobench.contract.solver import Status
from orthobench.tools.geometry import polar, random_point, unit_columns


def ended(instance, solver, seed=0):
    n = instance.oracle.n
    instance.oracle.start = random_point(n, n, np.random.default_rng(seed))
    state = solver.init(instance.oracle, np.random.default_rng(seed))
    solver.advance(instance.oracle, state, 100)
    assert state.status in (Status.CONVERGED, Status.COMPLETE)
    return state


def published(T, rank, seed):
    """The method for order 4 as its authors state it, from the same random starts."""
    n, rng = len(T), np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(T.reshape(n * n, n * n))
    leading = np.argsort(-np.abs(values))[:rank]
    V, D = vectors[:, leading], np.diag(1 / values[leading])
    found = []
    for _ in range(rank):
        x = rng.standard_normal(n)
        x /= np.linalg.norm(x)
        for _ in range(5000):
            Vx = np.tensordot(x, V.reshape(n, n, -1), 1)
            f = np.sum((x @ Vx) ** 2)
            gamma = np.sqrt(1 / 2) * (np.sqrt(2 * f * (1 - min(f, 1))) if f > 2 / 3 else 1 - f / 2)
            y = Vx @ (x @ Vx) + gamma * x
            y /= np.linalg.norm(y)
            step, x = np.linalg.norm(y - x), y
            if step < 1e-13:
                break
        alpha = V.T @ np.outer(x, x).ravel()
        found.append((1 / (alpha @ D @ alpha), x))
        rest = np.linalg.svd((D @ alpha)[None])[2][1:].T
        V, D = V @ rest, rest.T @ D @ rest
    return np.array([w for w, _ in found]), np.column_stack([x for _, x in found])


def test_it_is_the_published_algorithm():
    rng = np.random.default_rng(5)
    A, w = unit_columns(rng.standard_normal((5, 5))), np.array([2.0, -1, 1.5, 1, -3])
    instance = orthogonal_tensor(composed(A, w, 4))
    state = ended(instance, SubspacePower(), seed=7)
    weights, components = published(instance.oracle.T, 5, seed=7)
    np.testing.assert_allclose(state.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(state.components, components, atol=1e-9)


@pytest.mark.parametrize("order", [3, 4])
@given(d=st.integers(2, 7), overlap=st.floats(0, 0.3), seed=st.integers(0, 2**32 - 1))
def test_recovers_components_that_are_not_orthogonal(order, d, overlap, seed):
    problem = (Odeco if order == 3 else Odeco4)(d=d, overlap=overlap)
    instance = problem.build(np.random.default_rng(seed))
    state = ended(instance, SubspacePower(), seed)
    assert instance.measure(SubspacePower().solution(state))["recovery_error"] < 1e-9
    rebuilt = composed(state.components, state.weights, order)
    np.testing.assert_allclose(rebuilt, instance.oracle.T, atol=1e-9 * problem.spread)


@pytest.mark.parametrize("problem", [Odeco(d=9), Odeco4(d=6)], ids=["third", "fourth"])
def test_recovers_orthogonal_factors_exactly(problem):
    instance = problem.build(np.random.default_rng(0))
    state = ended(instance, SubspacePower())
    solution = SubspacePower().solution(state)
    assert instance.measure(solution)["recovery_error"] < 1e-12
    np.testing.assert_allclose(np.sort(solution.weights)[::-1], problem.weights, rtol=1e-12)
    assert state.work.steps == problem.d


def test_as_many_components_are_found_as_the_tensor_has():
    U = random_point(6, 3, np.random.default_rng(0))
    instance = orthogonal_tensor(composed(U, np.array([3.0, 2, 1])), factors=U)
    state = ended(instance, SubspacePower())
    assert state.work.steps == 3
    assert instance.measure(SubspacePower().solution(state))["recovery_error"] < 1e-12


def test_oblique_components_mislead_methods_for_orthogonal_ones():
    from orthobench_orthogonal_tensor.solvers.randomized_joint_diagonalization import (
        RandomizedJointDiagonalization,
    )
    from orthobench_tensor_power.solvers.polar_power import PolarPower

    errors = {}
    for solver in (SubspacePower(), PolarPower(), RandomizedJointDiagonalization()):
        instance = Odeco(d=10, overlap=0.05).build(np.random.default_rng(0))
        metrics = instance.measure(solver.solution(ended(instance, solver)))
        errors[solver.name] = metrics["recovery_error"]
    assert errors.pop("subspace-power") < 1e-12
    assert min(errors.values()) > 0.01


def test_before_the_end_the_common_start_completes_the_solution():
    instance = Odeco(d=5).build(np.random.default_rng(0))
    instance.oracle.start = np.eye(5)
    solver = SubspacePower()
    state = solver.init(instance.oracle, np.random.default_rng(0))
    assert np.array_equal(solver.solution(state).point, np.eye(5))
    solver.advance(instance.oracle, state, 2)
    solution = solver.solution(state)
    np.testing.assert_allclose(np.abs(solution.point[:, :2]), np.abs(polar(state.components)))
    assert np.array_equal(solution.weights[2:], np.zeros(3))


def test_a_component_without_a_finite_weight_fails_the_run():
    instance = Odeco(d=3).build(np.random.default_rng(0))
    instance.oracle.start = np.eye(3)
    solver = SubspacePower()
    state = solver.init(instance.oracle, np.random.default_rng(0))
    state.inverse[:] = 0
    with np.errstate(divide="ignore"):
        solver.step(instance.oracle, state)
    assert (state.status, state.reason) == (Status.FAILED, "a component has no finite weight")
    assert (state.work.steps, len(state.weights)) == (1, 0)


@pytest.mark.parametrize("order", [3, 4])
def test_a_flattened_tensor_is_that_of_its_parts(order):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    letters = "abcd"[:order]
    T = np.einsum(",".join(f"{c}i" for c in letters) + "->" + letters, *[A] * order)
    left, values, right = flattened(T)
    np.testing.assert_allclose(left, left.transpose(1, 0, 2))
    columns = left.reshape(25, -1)
    np.testing.assert_allclose(columns.T @ columns, np.eye(len(values)), atol=1e-12)
    np.testing.assert_allclose(columns * values @ right.T, T.reshape(25, -1), atol=1e-10)
    assert np.all(np.diff(np.abs(values)) <= 0)
