"""The synthetic distributions have the second moments that their judges take for known."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.second_moments import DenseMoment
from orthobench_stochastic_pca.judge import Optimum
from orthobench_stochastic_pca.problems.synthetic import (
    DiagonalMoment,
    IncrementalTrap,
    OrthogonalDistribution,
    SpikedCovariance,
    SpikedMoment,
)

from orthobench.contract.problem import Solution
from orthobench.tools.geometry import drift, random_point

PROBLEMS = [
    OrthogonalDistribution(),
    OrthogonalDistribution(k=4, n=10, tau=2.0),
    IncrementalTrap(),
    SpikedCovariance(),
    SpikedCovariance(k=2, n=7, gap=3.0, noise=0.5),
]


def samples(problem, count, seed=0, built=0):
    instance = problem.build(np.random.default_rng(built))
    instance.oracle.rewind(np.random.default_rng(seed))
    instance.oracle.prepare(count)
    return instance.oracle.take(count)


def best_of(problem):
    optimum = problem.build(np.random.default_rng(0)).measure.optimum
    return optimum.values, optimum.subspace


@pytest.mark.parametrize("problem", PROBLEMS)
def test_samples_have_the_second_moment_that_the_judge_knows(problem):
    moment = problem.build(np.random.default_rng(0)).measure.test
    X = samples(problem, 50_000)
    C = moment_matrix(moment)
    spread = np.sqrt(np.mean((X**2).T @ (X**2)) / len(X)) * 10
    assert np.allclose(X.T @ X / len(X), C, atol=6 * spread)
    assert np.mean(np.sum(X**2, axis=1)) == pytest.approx(moment.trace, rel=0.01)


def moment_matrix(moment):
    """Polarize: e_i'Ce_j from variances of e_i, e_j and e_i + e_j."""
    eye = np.eye(moment.d)
    diagonal = moment.variances(eye)
    sums = (eye[:, :, None] + eye[:, None, :]).reshape(moment.d, -1)
    both = moment.variances(sums).reshape(moment.d, moment.d)
    return (both - diagonal[:, None] - diagonal) / 2


@pytest.mark.parametrize(
    "moment",
    [
        DiagonalMoment(np.array([0.5, 2.0, 0.0, 2.0, 1.0])),
        SpikedMoment(random_point(9, 3, np.random.default_rng(0)), 2.0, 0.25),
        SpikedMoment(random_point(4, 4, np.random.default_rng(0)), 2.0, 0.0),
    ],
)
def test_structured_moments_agree_with_their_matrices(moment):
    dense = DenseMoment(moment_matrix(moment))
    V = np.random.default_rng(1).standard_normal((moment.d, 6))
    assert np.allclose(moment.variances(V), dense.variances(V))
    assert moment.trace == pytest.approx(dense.trace)
    for k in (1, 2, 3):
        values, vectors = moment.leading(k)
        assert np.allclose(values, dense.leading(k)[0])
        assert np.allclose(dense.C @ vectors, vectors * values)
        assert drift(vectors) < 1e-14
        U = random_point(moment.d, k, np.random.default_rng(k))
        assert Optimum(moment, k).gap(U) == pytest.approx(Optimum(dense, k).gap(U))


def test_orthogonal_distribution_draws_vectors_with_frequencies():
    problem = OrthogonalDistribution()
    X = samples(problem, 100_000)
    assert np.array_equal(np.sort(X, axis=1)[:, -2:], np.tile([0.0, 1.0], (100_000, 1)))
    p = 1.1 ** -np.arange(1, 33)
    p /= p.sum()
    assert np.allclose(problem.probabilities, p, rtol=1e-14)
    expected = 100_000 * p
    chi_squared = np.sum((X.sum(axis=0) - expected) ** 2 / expected)
    assert chi_squared < 31 + 5 * np.sqrt(62)


def test_orthogonal_distribution_has_the_first_vectors_as_optimum():
    values, subspace = best_of(OrthogonalDistribution(k=4))
    assert np.array_equal(subspace, np.eye(32)[:, :4])
    assert np.all(np.diff(values) < 0)
    metrics = OrthogonalDistribution().build(np.random.default_rng(0)).measure
    second = metrics(Solution(np.eye(32)[:, 1:2]))
    p1 = OrthogonalDistribution().probabilities[0]
    assert second["suboptimality"] == pytest.approx(p1 * (1 - 1 / 1.1))


def test_the_trap_is_the_two_points_of_section_5_2():
    X = samples(IncrementalTrap(), 90_000)
    points, counts = np.unique(X, axis=0, return_counts=True)
    assert np.allclose(points, [[0, np.sqrt(2)], [np.sqrt(3), 0]])
    assert np.allclose(counts / 90_000, [2 / 3, 1 / 3], atol=0.01)
    values, subspace = best_of(IncrementalTrap())
    assert values == pytest.approx([4 / 3])
    assert np.array_equal(subspace, [[0.0], [1.0]])
    stuck = IncrementalTrap().build(np.random.default_rng(0)).measure(Solution(np.eye(2)[:, :1]))
    assert stuck["suboptimality"] == pytest.approx(1 / 3)
    assert stuck["subspace_error"] == pytest.approx(1)


def test_the_spiked_covariance_has_its_gap_and_unit_norm():
    problem = SpikedCovariance()
    moment = problem.build(np.random.default_rng(0)).measure.test
    spectrum = np.linalg.eigvalsh(moment_matrix(moment))[::-1]
    assert np.allclose(spectrum[:4], 0.202)
    assert np.allclose(spectrum[4:], 0.002)
    assert moment.trace == pytest.approx(1)
    C = np.cov(samples(problem, 50_000).T, bias=True)
    leading = np.linalg.eigh(C)[1][:, ::-1][:, :4]
    assert subspace_error(leading, best_of(problem)[1]) < 0.02


@pytest.mark.parametrize("problem", PROBLEMS)
def test_tuning_sees_a_sample_and_not_the_population(problem):
    judge = problem.build(np.random.default_rng(0)).measure
    U = judge.optimum.subspace
    metrics = judge(Solution(U))
    assert abs(metrics["suboptimality"]) < 1e-15
    assert judge.validation.value != pytest.approx(judge.optimum.value, rel=1e-9)
    assert judge.validation.value == pytest.approx(judge.optimum.value, rel=0.25)
