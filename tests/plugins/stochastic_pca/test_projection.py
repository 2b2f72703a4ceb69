from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from orthobench_papers.msg_2013 import algorithm_2
from orthobench_stochastic_pca._kernels.projection import (
    onto_complement,
    onto_density,
    onto_fantope,
    shift,
)
from scipy.optimize import brentq

VALUE = st.floats(0, 3) | st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5])


@st.composite
def spectra(draw, least=1):
    """Ascending values with repetitions, and a k below their number."""
    distinct = draw(st.lists(VALUE, min_size=1, max_size=8))
    values = np.sort(np.repeat(distinct, draw(st.integers(1, 3))))
    assume(len(values) > least)
    return values, draw(st.integers(1, len(values) - 1))


def root(f, low, high):
    return brentq(f, low, high, xtol=1e-15, rtol=1e-15, maxiter=500)


def clipped(values, S):
    return np.clip(values + S, 0.0, 1.0)


@given(spectra())
def test_the_shift_makes_the_clipped_values_sum_to_k(spectrum):
    values, k = spectrum
    S = shift(values, float(k))
    assert clipped(values, S).sum() == pytest.approx(k, abs=1e-12)


@given(spectra())
def test_corrected_algorithm_2_gives_the_same_spectrum(spectrum):
    values, k = spectrum
    S = algorithm_2.shift(values, np.ones(len(values)), k, printed=False)
    if S is not None:  # it misses the spectra that only an empty segment fits
        mine = shift(values, float(k))
        np.testing.assert_allclose(clipped(values, mine), clipped(values, S), atol=1e-10)


@given(spectra())
def test_the_fantope_projection_is_the_nearest_feasible_spectrum(spectrum):
    values, k = spectrum
    mine = values.copy()
    onto_fantope(mine, float(k), False)
    S = 0.0
    if clipped(values, 0.0).sum() > k:
        S = root(lambda S: clipped(values, S).sum() - k, -values[-1] - 1, 0.0)
    np.testing.assert_allclose(mine, clipped(values, S), atol=1e-10)


@given(spectra(least=2), st.data())
def test_keeping_the_largest_is_the_best_of_all_subsets(spectrum, data):
    values, k = spectrum
    values = values[-7:]
    assume(k <= len(values))
    K = data.draw(st.integers(k, len(values)))
    mine = values[-K:].copy()
    onto_fantope(mine, float(k), True)
    mine = np.append(np.zeros(len(values) - K), mine)
    best = np.inf
    for subset in combinations(range(len(values)), K):
        trial, part = np.zeros(len(values)), values[list(subset)]
        S = root(lambda S, part=part: clipped(part, S).sum() - k, -part.max() - 1, 1.0)
        trial[list(subset)] = clipped(part, S)
        best = min(best, ((trial - values) ** 2).sum())
    assert ((mine - values) ** 2).sum() <= best + 1e-9
    assert mine.sum() == pytest.approx(k, abs=1e-12)


@given(spectra(), st.sampled_from([1.0, 30.0, 1000.0]))
def test_the_complement_projection_has_trace_k(spectrum, scale):
    values, k = spectrum
    mine = values * scale
    given_ = mine.copy()
    onto_complement(mine, float(k))

    def trace(gamma):
        return -np.expm1(-np.maximum(given_ - gamma, 0.0)).sum()

    gamma = 0.0 if trace(0.0) <= k else root(lambda g: trace(g) - k, 0.0, given_[-1])
    expected = -np.expm1(-np.maximum(given_ - gamma, 0.0))
    np.testing.assert_allclose(-np.expm1(-mine), expected, atol=1e-10)


@given(spectra(), st.integers(0, 50), st.sampled_from([1.0, 30.0, 1000.0]))
def test_density_projection_has_trace_k_and_eigenvalues_up_to_one(spectrum, others, scale):
    values, k = spectrum
    mine = values * scale
    given_ = np.append(np.zeros(others), mine)
    floor = onto_density(mine, others, float(k))
    log_values = np.append(np.full(others, floor), mine + floor)
    assert log_values.max(initial=-np.inf) <= 1e-12
    assert np.exp(log_values).sum() == pytest.approx(k, abs=1e-10)

    def excess(S):
        return np.exp(np.minimum(given_ + S, 0.0)).sum() - k

    S = root(excess, -given_[-1] - 50, 50)
    np.testing.assert_allclose(np.exp(log_values), np.exp(np.minimum(given_ + S, 0)), atol=1e-10)
