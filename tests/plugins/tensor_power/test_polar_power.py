"""polar-power: its step, its convergence with and without noise, and its degenerate cases."""

import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_orthogonal_tensor import Judge, TensorOracle
from orthobench_tensor_power.solvers import polar_power
from orthobench_tensor_power.solvers.polar_power import PolarPower

from orthobench.contract.problem import Instance, Solution
from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, random_point

seeds = st.integers(0, 2**32 - 1)


def gradient(T, U):
    """The relative gradient on the group, by the definition."""
    inner = U.T @ np.einsum("abc,bi,ci->ai", T, U, U, optimize=True)
    return np.linalg.norm(inner - inner.T) / 2 / np.linalg.norm(T)


def noise_alone(tensors, d, seed):
    rng = np.random.default_rng([seed, d])
    T = tensors.gaussian(d, rng)
    oracle = TensorOracle(T)
    oracle.start = random_point(d, d, rng)
    return Instance(oracle, Judge(T))


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_step_is_the_polar_factor_of_the_contractions(tensors, noise):
    made = tensors.instance(np.linspace(1, 2, 6), noise=noise)
    state = tensors.begun(PolarPower(), made)
    U, T = made.oracle.start, made.oracle.T
    for _ in range(4):
        left, _, right = np.linalg.svd(np.einsum("abc,bi,ci->ai", T, U, U))
        U = left @ right
        PolarPower().step(made.oracle, state)
        signs = np.sign(np.einsum("abc,ai,bi,ci->i", T, U, U, U))
        np.testing.assert_allclose(state.U, U * signs, atol=1e-12)


@given(d=st.integers(2, 20), seed=seeds, data=st.data())
def test_recovers_the_factors_exactly(tensors, d, seed, data):
    weights = tensors.spectrum(data.draw(st.sampled_from(sorted(tensors.SPECTRA))), d, seed)
    made = tensors.instance(weights, seed)
    state = tensors.ended(PolarPower(), made, most=30)
    solution = PolarPower().solution(state)
    metrics = made.measure(solution)
    assert metrics["recovery_error"] < 1e-10
    assert metrics["objective"] == pytest.approx(weights.sum(), rel=1e-12)
    np.testing.assert_allclose(np.sort(solution.weights), np.sort(weights), atol=1e-12 * d)
    assert state.shift == 0


def test_convergence_is_quadratic_without_noise(tensors):
    made = tensors.instance(np.linspace(1, 2, 15))
    state, gradients = tensors.begun(PolarPower(), made), []
    while state.status is Status.RUNNING:
        gradients.append(gradient(made.oracle.T, state.U))
        PolarPower().step(made.oracle, state)
    near = [g for g in gradients if 1e-7 < g < 0.05]
    assert len(near) >= 2
    assert all(after < 5 * before**2 for before, after in itertools.pairwise(near))


def test_signed_permutations_are_left_in_one_step(tensors):
    # strict local maxima of the objective, which Theorem 3 overlooks
    made = tensors.instance([1.0, 3.0, 2.0, 4.0])
    factors = made.measure.factors
    for seed in range(10):
        rng = np.random.default_rng(seed)
        made.oracle.start = factors[:, rng.permutation(4)] * rng.choice([-1.0, 1.0], 4)
        state = tensors.ended(PolarPower(), made, most=1)
        assert made.measure(PolarPower().solution(state))["objective"] == pytest.approx(10.0)


def test_with_noise_it_ends_at_a_critical_point_near_the_factors(tensors):
    for case in product([3, 8, 20], [0.01, 0.1, 0.3]):
        d, noise = case
        made = tensors.instance(np.ones(d), noise=noise)
        state = tensors.ended(PolarPower(), made, most=300)
        metrics = made.measure(PolarPower().solution(state))
        assert gradient(made.oracle.T, state.U) <= 1.01e-13, case
        assert metrics["objective"] > made.measure(Solution(made.measure.factors))["objective"], (
            case
        )
        assert metrics["recovery_error"] < 2 * noise, case


@pytest.mark.wide
def test_on_noise_alone_the_shift_makes_it_climb_where_it_would_cycle(tensors, monkeypatch):
    shifted = cycled = 0
    for seed in range(12):
        made = noise_alone(tensors, 6, seed)
        state = tensors.ended(PolarPower(), made, most=20_000)
        assert gradient(made.oracle.T, state.U) <= 1.01e-13
        shifted += state.shift > 0
        with monkeypatch.context() as patch:
            patch.setattr(polar_power, "ALLOWED_FAILURES", np.inf)
            plain = tensors.begun(PolarPower(), made)
            PolarPower().advance(made.oracle, plain, 2000)
            cycled += plain.status is Status.RUNNING
    assert shifted >= 5
    assert 5 <= cycled <= shifted


@pytest.mark.parametrize("d", [5, 30])
def test_a_contraction_without_noise_is_the_solution(tensors, d):
    made, solver = tensors.instance(np.linspace(1, 2, d)), PolarPower(start="contraction")
    assert tensors.ended(solver, made, most=1).work.steps <= 1


def test_it_ends_at_the_tolerance_asked_for(tensors):
    made = tensors.instance(np.ones(10), noise=0.2)
    steps = []
    for tolerance in (1e-2, 1e-5, 1e-9):
        state = tensors.ended(PolarPower(tolerance=tolerance), made)
        assert gradient(made.oracle.T, state.U) <= tolerance
        steps.append(state.work.steps)
    assert steps == sorted(set(steps))


@given(d=st.integers(2, 12), seed=seeds)
def test_zero_and_negative_weights_are_recovered(tensors, d, seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, int(rng.integers(1, d))) * rng.choice([-1.0, 1.0])
    made = tensors.instance(weights, seed, d=d)
    solution = PolarPower().solution(tensors.ended(PolarPower(), made, most=60))
    assert drift(solution.point) < 1e-12
    assert made.measure(solution)["recovery_error"] < 1e-10
    found = np.sort(solution.weights)[::-1]
    np.testing.assert_allclose(found[: len(weights)], np.sort(np.abs(weights))[::-1], rtol=1e-10)
    np.testing.assert_allclose(found[len(weights) :], 0, atol=1e-10)
