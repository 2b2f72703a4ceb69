"""Figures 2 to 5, Table 2 and section 5.1 of Jin, Kileel, Kolda and Ward (2022).

Factors are normal-inverse Gaussian with skewness 1.5 and fourth moment 9 unless said; the paper
gives no parameters. The paper's subspace error |QQ' - Q*Q*'| is the root of two times ours, where
the ranks are equal. Holds: every method ends at one value (Figure 2), implicit ones sooner;
streaming loses little against all samples (Figure 3); Phase II improves on Phase I with little
noise, and with heavy tails (Figure 4) and with too small a rank (Figure 5). Does not hold: with a
skewness of 1.5 and much noise Phase I is better; a step size of 0.05 does not get anywhere with
AdaGrad; and principal component analysis, which the paper leaves out, finds the subspace of this
model better than any of them.
"""

from functools import cache

import numpy as np
import pytest
from orthobench_problems.symmetric_tucker import (
    GaussianFactor,
    HyperspectralAnomaly,
    NIGFactor,
)
from orthobench_tucker.hoevd import HOEVD
from orthobench_tucker.hooi import HOOI
from orthobench_tucker.pgd import PGD
from orthobench_tucker.quasi_newton import QuasiNewton
from orthobench_tucker.shoevd import SHOEVD
from orthobench_tucker.spgd import SPGD
from orthobench_tucker.trust_region import TrustRegion

from orthobench import datasets
from orthobench.cell import instance_of
from orthobench.geometry import random_point
from orthobench.solution import Solution
from orthobench.solver import Status

pytestmark = pytest.mark.slow

SEEDS = range(5)
PAPER = np.sqrt(2)


def posed(problem, seed):
    instance = instance_of(problem, seed)
    oracle = instance.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(seed))
    oracle.rewind(np.random.default_rng(seed))
    return instance


def ended(problem, solver, seed, steps=5000):
    """The metrics and the state after all steps, or fewer where it converges."""
    instance = posed(problem, seed)
    state = solver.init(instance.oracle, np.random.default_rng(seed))
    solver.advance(instance.oracle, state, steps)
    return instance.measure(solver.solution(state)), state


def streamed(problem, solver, seed, steps):
    """The metrics after so many steps, each number of them in turn."""
    instance, found, done = posed(problem, seed), [], 0
    state = solver.init(instance.oracle, np.random.default_rng(seed))
    for count in steps:
        instance.oracle.prepare((count - done) * solver.batch)
        solver.advance(instance.oracle, state, count - done)
        found.append(instance.measure(solver.solution(state)))
        done = count
    return found


def errors(problem, solver, steps):
    """The subspace errors as the paper has them, (seeds, steps)."""
    runs = [streamed(problem, solver, seed, steps) for seed in SEEDS]
    return PAPER * np.array([[metrics["subspace_error"] for metrics in run] for run in runs])


# Figure 2


METHODS = {
    "pgd": PGD,
    "hooi": HOOI,
    "quasi-newton": QuasiNewton,
    "trust-region": TrustRegion,
}


@cache
def converged(order, n, name, form, seed):
    problem = NIGFactor(n=n, order=order, samples=5 * n, test=0)
    return ended(problem, METHODS[name](form=form), seed)


@pytest.mark.parametrize(("order", "n"), [(3, 50), (3, 100), (4, 50)])
def test_every_method_ends_at_one_value_in_both_forms(order, n):
    for seed in SEEDS:
        found = [
            converged(order, n, name, form, seed)
            for name in METHODS
            for form in ("implicit", "explicit")
        ]
        assert all(state.status is Status.CONVERGED for _, state in found)
        assert max(metrics["relative_gradient"] for metrics, _ in found) < 2e-12
        values = np.array([metrics["objective"] for metrics, _ in found])
        assert np.ptp(values) < 1e-9 * values[0]


def test_implicit_work_is_less_and_the_more_so_the_larger_n():
    def ratio(order, n):
        works = [
            converged(order, n, "pgd", form, 0)[1].work.flops for form in ("explicit", "implicit")
        ]
        return works[0] / works[1]

    assert 1 < ratio(3, 50) < ratio(3, 100)
    assert ratio(4, 50) > ratio(3, 50)


def test_iterations_fall_as_n_grows():
    def steps(n):
        return np.median([converged(3, n, "pgd", "implicit", seed)[1].work.steps for seed in SEEDS])

    assert steps(50) > 1.3 * steps(200)
    assert steps(200) <= 6


# Figure 3


POOL = NIGFactor(n=500, samples=25_000, test=2000)


@cache
def full_hoevd(seed):
    return PAPER * ended(POOL, HOEVD(), seed)[0]["subspace_error"]


def test_streaming_hoevd_loses_little_against_all_samples():
    found = errors(POOL, SHOEVD(batch=100), [250])[:, 0]
    assert 0.07 < np.median(found) < 0.11
    assert found.max() < 0.9
    assert all(0.04 < full_hoevd(seed) < 0.05 for seed in range(2))


def test_a_step_size_of_a_twentieth_does_not_move():
    found = errors(POOL, SHOEVD(batch=100, step_size=0.05), [250])[:, 0]
    assert found.min() > 2.3  # of the square root of ten, that of a random start


def test_both_phases_lose_little_against_all_samples():
    found = errors(POOL, SPGD(batch=100, hoevd_batch=50), [250])[:, 0]
    full = [
        PAPER
        * ended(POOL, PGD(rule="adagrad", step_size=10.0, start="shoevd", tolerance=0), seed, 10)[
            0
        ]["subspace_error"]
        for seed in range(2)
    ]
    assert 0.07 < np.median(found) < 0.11
    assert all(0.04 < error < 0.05 for error in full)


def test_principal_components_are_better_than_all_of_them():
    for seed in range(2):
        instance = posed(POOL, seed)
        X = instance.oracle.X
        leading = np.ascontiguousarray(np.linalg.eigh(X.T @ X)[1][:, -5:])
        error = PAPER * instance.measure(Solution(leading))["subspace_error"]
        assert 0.02 < error < 0.025


# Figure 4: half of 12,000 samples go to each phase


@cache
def phases(inverse_snr, skewness=1.5, kurtosis=9.0):
    problem = NIGFactor(
        n=500, samples=12_000, inverse_snr=inverse_snr, skewness=skewness, kurtosis=kurtosis
    )
    return np.median(errors(problem, SPGD(hoevd_steps=120), [120, 240]), axis=0)


@pytest.mark.parametrize("inverse_snr", [0.1, 0.5])
def test_the_second_phase_improves_on_the_first_with_little_noise(inverse_snr):
    first, second = phases(inverse_snr)
    assert second < 0.95 * first


def test_with_noise_as_large_as_the_signal_neither_phase_is_ahead():
    first, second = phases(1.0)
    assert 0.9 < second / first < 1.2


@pytest.mark.parametrize("inverse_snr", [1.5, 2.0])
def test_with_more_noise_the_first_phase_is_ahead(inverse_snr):
    first, second = phases(inverse_snr)
    assert second > 1.05 * first


@pytest.mark.parametrize("inverse_snr", [0.1, 0.5, 1.0, 1.5])
def test_with_heavy_tails_the_second_phase_is_ahead_as_the_paper_says(inverse_snr):
    first, second = phases(inverse_snr, 3.0, 27.0)
    assert second < 0.85 * first


# Figure 5


@cache
def attained(rank):
    """F/F* after each phase of 60 batches, the mean of the seeds."""
    problem = NIGFactor(n=500, samples=6000, rank=rank)
    runs = [streamed(problem, SPGD(hoevd_steps=60), seed, [60, 120]) for seed in SEEDS]
    return np.mean([[metrics["objective_ratio"] for metrics in run] for run in runs], axis=0)


def test_the_less_the_rank_the_lower_the_objective_and_the_larger_the_gap():
    ranks = {rank: attained(rank) for rank in (2, 3, 4, 5)}
    ends = [second for _, second in ranks.values()]
    assert ends == sorted(ends)
    for rank in (2, 4):
        first, second = ranks[rank]
        assert second > 1.1 * first


@pytest.mark.parametrize("rank", [5, 6])
def test_a_sufficient_rank_attains_the_true_objective(rank):
    assert attained(rank)[1] > 0.985


# Table 2, Tucker's row; CP's is in test_cp_claims


@pytest.mark.parametrize(
    ("rank", "percent"), [(3, 0.0022), (4, 0.0031), (5, 0.0042), (6, 0.0056), (7, 0.0064)]
)
def test_tucker_approximates_the_fourth_moment_of_gaussian_factors(rank, percent):
    problem = GaussianFactor(n=500, samples=10_000, rank=rank, true_rank=rank, test=0)
    runs = [streamed(problem, SPGD(hoevd_steps=20), seed, [200]) for seed in SEEDS]
    best = 100 * min(run[0]["relative_error"] for run in runs)
    assert 0.6 * percent < best < 1.6 * percent


# Section 5.1


@cache
def areas(solver, steps):
    found = []
    for seed in SEEDS:
        (metrics,) = streamed(HyperspectralAnomaly(), solver, seed, [steps])
        found.append(metrics["roc_auc"])
    return np.array(found)


@pytest.fixture
def scene():
    from orthobench_problems.symmetric_tucker.hyperspectral import GULFPORT

    if datasets.cached(GULFPORT) is None:
        pytest.skip(f"{GULFPORT.name} is not in the data folder")


def test_skewness_finds_the_aircraft_and_the_covariance_does_not(scene):
    del scene
    shoevd = areas(SHOEVD(batch=100, step_size=0.35), 500)
    spgd = areas(SPGD(batch=100, step_size=0.5, hoevd_step=0.35, hoevd_steps=500), 2000)
    instance = posed(HyperspectralAnomaly(), 0)
    pca = instance.measure(Solution(np.eye(instance.oracle.n, 4)))["roc_auc"]
    assert pca == pytest.approx(0.8893, abs=5e-5)  # as printed
    assert np.median(shoevd) > 0.97  # printed: .9900
    assert np.median(spgd) > 0.985  # printed: .9947
    assert min(shoevd.min(), spgd.min()) > pca
