"""The mathematics of the claims of Arora, Cotter and Srebro (2013); broken solvers."""

import numpy as np
import pytest
from constructed import best, gap
from orthobench_papers.msg_2013 import algorithm_2, figure_1, orthogonal, updates


def test_its_probabilities_fall_by_a_tenth():
    p = orthogonal.probabilities()
    assert p[:-1] / p[1:] == pytest.approx(np.full(31, 1.1))
    assert p.cumsum() == pytest.approx([best(k) for k in range(1, 33)])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_half_of_what_the_second_best_misses(k):
    assert orthogonal.half_gap(k) == pytest.approx(gap(k) / 2)


def test_missed_variance_is_that_outside_of_the_subspace():
    between = np.zeros((32, 1))
    between[:2, 0] = 0.6, 0.8
    p = best(1), best(2) - best(1)
    assert orthogonal.missed(between) == pytest.approx(0.64 * (p[0] - p[1]))


def test_its_corrected_form_finds_the_shift_of_any_spectrum():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(3, 8)), int(rng.integers(1, 3))
        values = np.sort(rng.choice(30, n, replace=False)) / rng.choice([10, 20])
        counts = rng.integers(1, 4, n).astype(float)
        S = algorithm_2.shift(values, counts, k, printed=False)
        assert counts @ np.clip(values + S, 0, 1) == pytest.approx(k), seed
        assert algorithm_2.finds(values, counts, k, printed=False), seed


def test_the_capped_step_keeps_the_eigenvalues_that_are_nearest():
    """It keeps the four largest, shifted down by a quarter each to sum to three."""
    M = np.diag([1.0, 1, 1, 0, 0, 0, 0, 0])
    G = np.diag([0.0, 0, 0, 0.5, 0.1, 0.05, 0, 0])
    found = np.diag(updates.capped_step(M, G))
    assert found == pytest.approx([0.875, 0.875, 0.875, 0.375, 0, 0, 0, 0])


@pytest.mark.parametrize("c", [0.5, 1.0])
def test_steps_are_c_over_the_root_of_t_until_the_trace_is_k(c):
    D = figure_1.eigenvalues(3, 40, c)
    sums = np.minimum(4, c * np.cumsum(1 / np.sqrt(np.arange(1, 41))))
    once = (D.max(axis=1) < 1).cumprod().astype(bool)
    assert D.sum(axis=1)[once] == pytest.approx(sums[once])
    assert D[0].max() == pytest.approx(c)
    assert D.sum(axis=1)[-1] == pytest.approx(4)


def test_algorithm_2_as_printed_stops_too_early():
    values, counts = np.array([0.2, 0.4, 1.35, 1.6]), np.ones(4)
    assert not algorithm_2.finds(values, counts, 2, printed=True)
    assert algorithm_2.finds(values, counts, 2, printed=False)
