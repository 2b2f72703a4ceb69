"""Figure 3 of Shalit and Chechik (2014): mixtures of 20 Gaussians through their third moments.

The tensor power method as published does not keep its factors orthonormal; its clustering is
judged on them here, as in the paper. Against that, Givens is ahead at d = 20 with 200,000 samples,
and behind at d = 50 and 100, with 200,000 samples, where the paper has it ahead. With 10,000
samples it is behind at d = 100, as the paper says; at d = 50 there is no clear difference.
Comparisons of orthobench judge orthonormal factors: projected on those, the power method clusters
no better than Givens.
"""

from functools import cache

import numpy as np
import pytest
from orthobench_givens.tensor import GivensTensor
from orthobench_problems.orthogonal_tensor import GaussianMixtureMoments
from orthobench_tensor_power.tensor_power import TensorPower

from orthobench.cell import instance_of
from orthobench.geometry import random_point
from orthobench.solution import Solution
from orthobench.solver import Status

pytestmark = pytest.mark.slow

SEEDS = range(10)


def ended(solver, oracle, seed):
    state = solver.init(oracle, np.random.default_rng(seed))
    solver.advance(oracle, state, 10**6)
    assert state.status is Status.CONVERGED
    return state


def clustered(d, samples, seed):
    """NMI of Givens, of the power method's own factors, and of these made orthonormal."""
    problem = GaussianMixtureMoments(d=d, samples=samples, variance_estimate="smallest")
    instance = instance_of(problem, seed)
    oracle = instance.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(seed))
    givens, power = GivensTensor(tolerance=1e-10), TensorPower(tolerance=0.0)
    rotated, deflated = ended(givens, oracle, seed), ended(power, oracle, seed)
    solutions = [givens.solution(rotated), Solution(deflated.factors), power.solution(deflated)]
    return [instance.measure(solution)["nmi"] for solution in solutions]


@cache
def spread(d, samples):
    """The NMI of each seed, (10, 3)."""
    return np.array([clustered(d, samples, seed) for seed in SEEDS])


def ahead(d, samples, other):
    """By how much Givens is ahead in the mean, and on how many seeds."""
    difference = spread(d, samples)[:, 0] - spread(d, samples)[:, other]
    return difference.mean(), int((difference > 0).sum())


def test_givens_is_ahead_in_low_dimension_with_many_samples():
    by, wins = ahead(20, 200_000, 1)
    assert by > 0.1
    assert wins >= 8


@pytest.mark.parametrize("d", [50, 100])
def test_givens_is_not_ahead_in_higher_dimension_with_many_samples(d):
    by, wins = ahead(d, 200_000, 1)
    assert by < -0.02
    assert wins <= 3


def test_the_power_method_is_ahead_with_few_samples():
    by, wins = ahead(100, 10_000, 1)
    assert by < -0.02
    assert wins <= 3


def test_at_50_dimensions_and_few_samples_neither_is_clearly_ahead():
    by, _ = ahead(50, 10_000, 1)
    assert abs(by) < 0.02


@pytest.mark.parametrize(("d", "samples"), [(50, 200_000), (100, 200_000), (50, 10_000)])
def test_on_orthonormal_factors_there_is_no_clear_difference(d, samples):
    by, _ = ahead(d, samples, 2)
    assert abs(by) < 0.03


def test_the_mixtures_are_those_of_the_paper():
    problem = GaussianMixtureMoments(d=100, samples=10_000)
    optimal = [instance_of(problem, seed).measure.optimal_nmi for seed in SEEDS]
    assert np.mean(optimal) == pytest.approx(0.97, abs=0.015)
