import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from orthobench.stats import sequential
from orthobench.stats.sequential import bounds, discoveries, log_evidence

samples = st.lists(st.floats(-5, 5), min_size=1, max_size=12)


def by_hypergeometric_functions(x, effects):
    """The likelihood ratio of the t statistic in closed form."""
    n, size = len(x), np.linalg.norm(x)
    ratios = []
    for d in effects:
        a = d * np.sum(x) / size
        gammas = special.gammaln((n + 1) / 2) - special.gammaln(n / 2)
        ratio = special.hyp1f1(n / 2, 0.5, a * a / 2)
        ratio += np.sqrt(2) * a * np.exp(gammas) * special.hyp1f1((n + 1) / 2, 1.5, a * a / 2)
        ratios.append(ratio * np.exp(-n * d * d / 2))
    return np.log(np.mean(ratios))


def test_it_is_the_likelihood_ratio_in_closed_form(monkeypatch):
    monkeypatch.setattr(sequential, "EFFECTS", np.array([0.5, 1.0, 2.0]))
    x = np.random.default_rng(0).normal(0.4, 1, 9)
    expected = by_hypergeometric_functions(x, (0.5, 1.0, 2.0))
    assert log_evidence(x) == pytest.approx(expected, abs=1e-9)


def test_its_expectation_is_one_under_the_null():
    """For two observations t depends on the angle alone, which is uniform under the null."""
    angles = np.linspace(0, 2 * np.pi, 2001)[:-1]
    values = [np.exp(log_evidence([np.cos(a), np.sin(a)])) for a in angles]
    assert np.mean(values) == pytest.approx(1, abs=1e-3)


@given(samples, st.floats(0.1, 10))
def test_the_unit_does_not_matter(x, unit):
    assert log_evidence(unit * np.array(x)) == pytest.approx(log_evidence(x), abs=1e-6)


@pytest.mark.wide
def test_looking_after_every_observation_keeps_the_error_rate():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(200):
        x = rng.normal(0, 1, 15)
        alarms += max(log_evidence(x[:n]) for n in range(1, 16)) >= np.log(1 / 0.05)
    assert alarms / 200 <= 0.05


def test_a_clear_effect_is_found_after_a_few_observations():
    rng = np.random.default_rng(3)
    found = [log_evidence(rng.normal(0.05, 0.01, 8), 0.02) > np.log(100) for _ in range(40)]
    assert np.mean(found) > 0.8


def test_one_disturbance_costs_little_where_observations_have_a_reach():
    x = [0.05, 0.06, 0.055, 0.045, 0.05, 0.058, 0.052, 0.047, -3.0]
    assert log_evidence(x, 0.02) < 1
    assert log_evidence(x, 0.02, reach=0.1) > log_evidence(x, 0.02) + 0.5


@pytest.mark.wide
def test_bounds_cover_the_mean_at_all_times():
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(30):
        x = rng.normal(1, 0.3, 12)
        missed += any(not low <= 1 <= high for low, high in (bounds(x[:n]) for n in (3, 6, 12)))
    assert missed <= 1


def test_bounds_are_where_the_evidence_is_enough():
    x = np.random.default_rng(5).normal(1, 0.3, 12)
    for (low, high), enough in ((bounds(x, 0.1), 20), (bounds(x), 40)):
        assert log_evidence(x, low) == pytest.approx(np.log(enough), abs=1e-6)
        assert log_evidence(-x, -high) == pytest.approx(np.log(enough), abs=1e-6)


def test_discoveries_are_those_of_the_e_bh_procedure():
    # thresholds of four hypotheses at rate 0.1: 40, 20, 13.3, 10
    values = np.log([50.0, 21.0, 9.0, 14.0])
    assert discoveries(values, 0.1) == [True, True, False, True]
    assert discoveries(np.log([39.0, 19.0, 13.0, 9.0]), 0.1) == [False] * 4
    assert discoveries([], 0.1) == []


def test_impossible_evidence_is_never_a_discovery():
    assert discoveries([-np.inf, np.log(1e6)], 0.05) == [False, True]
