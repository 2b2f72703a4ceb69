"""With which probability incremental PCA ends suboptimal on unit vectors, in closed form.

If old directions survive ties, the first k that differ stay for ever. With k = 1 and new ones that
win, the first that is drawn twice in a row stays: i with probability a_i p_i. Here a_i is the
expected number of times that i is the current one until then, p_i (1 + sum of all a_j but a_i).
"""

from itertools import permutations

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.problems.synthetic import OrthogonalDistribution
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA

from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import random_point

RUNS, SAMPLES = 150, 300
P = OrthogonalDistribution().probabilities


def stuck(k, ties, seed):
    """Whether a run ends at a suboptimal subspace."""
    problem = OrthogonalDistribution(k=k)
    oracle = SampleOracle(ArraySource(problem.draw(np.random.default_rng(seed), SAMPLES)), k)
    oracle.start = random_point(problem.n, k, np.random.default_rng(0))
    oracle.prepare(SAMPLES)
    solver = IncrementalPCA(ties=ties)
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, SAMPLES)
    achieved = P @ (solver.solution(state).point ** 2).sum(axis=1)
    return P[:k].sum() - achieved > 1e-9


def first_come(k):
    """The probability that the first k directions that differ are not the k best."""
    best = sum(
        np.prod([P[i] / (1 - P[list(order[:n])].sum()) for n, i in enumerate(order)])
        for order in permutations(range(k))
    )
    return 1 - best


def agrees(share, probability):
    return abs(share - probability) <= 3 * np.sqrt(
        max(probability * (1 - probability), 1 / RUNS) / RUNS
    )


@pytest.mark.parametrize(("k", "rounded"), [(1, 0.905), (2, 0.982), (4, 0.9985)])
def test_old_directions_that_win_ties_stay_for_ever(k, rounded):
    assert first_come(k) == pytest.approx(rounded, abs=1e-3)
    assert agrees(np.mean([stuck(k, "old", seed) for seed in range(RUNS)]), first_come(k))


def test_new_directions_that_win_ties_escape_a_little_more_often():
    weights = P**2 / (1 + P)
    probability = 1 - weights[0] / weights.sum()
    assert probability == pytest.approx(0.831, abs=1e-3)
    assert agrees(np.mean([stuck(1, "new", seed) for seed in range(RUNS)]), probability)
