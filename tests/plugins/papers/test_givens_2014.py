"""The mathematics behind claims of Shalit and Chechik (2014); broken solvers turn them red.

The slow tests check all claims at the small size, break solvers on purpose, and check numbers that
the paper does not have.
"""

import tomllib
from math import pi, sqrt

import numpy as np
import pytest
from constructed import Constructed
from orthobench_kit.geometry import rotate
from orthobench_papers.givens_2014 import (
    figure_1,
    figure_2,
    section_2,
    section_3,
    section_4,
    section_5,
)
from orthobench_papers.givens_2014.section_3 import nudged
from orthobench_papers.reproduce.estimates import mean_within
from orthobench_papers.runs import instance

from orthobench.registry.plugins import catalogue
from orthobench.tools.datasets import data_folder
from orthobench.tools.geometry import random_point

PAPER = catalogue().paper("givens-2014")
SINGH = "singh.RData"


prostate = pytest.mark.skipif(
    not (data_folder() / SINGH).exists(), reason=f"{SINGH} is not in $ORTHOBENCH_DATA"
)


def test_claims_on_prostate_data_name_the_file():
    """Otherwise they would fail without the file instead of being skipped."""
    for claim in PAPER.claims:
        texts = [(PAPER.suites / f"{suite}.toml").read_text() for suite in claim.suites]
        names = {p["name"] for text in texts for p in tomllib.loads(text)["problem"]}
        assert ("prostate" not in names) or claim.data == (SINGH,)


class TestSigns:
    def test_the_printed_rotation_is_the_inverse_of_the_one_used(self):
        A = np.random.default_rng(0).standard_normal((7, 4))
        turned = A.copy()
        section_2.printed_turn(turned, 1, 3, 0.7)
        assert np.abs(turned - A).max() > 0.1
        rotate(turned, 1, 3, 0.7)
        np.testing.assert_allclose(turned, A, atol=1e-14)

    def test_equation_11_at_the_fixture(self):
        entries = np.array([1.0, 2.0, 3.0, 4.0])
        assert section_5.printed_line(entries, pi / 6) == pytest.approx(5.2452, abs=5e-5)
        assert section_5.corrected_line(entries, pi / 6) == pytest.approx(7.7452, abs=5e-5)
        assert section_5.direct_line(entries, pi / 6) == pytest.approx(7.7452, abs=5e-5)

    @pytest.mark.parametrize("seed", range(5))
    def test_the_flipped_least_is_a_critical_point(self, seed):
        V, weights, U = section_3.flipped_least(5, seed)
        T = section_5.composed(V, weights)
        S = U.T @ np.einsum("abc,bi,ci->ai", T, U, U)
        assert np.abs(S - S.T).max() < 1e-13
        assert section_5.contracted(T, U).sum() == pytest.approx(weights.sum() - 2 * weights[0])


@pytest.mark.parametrize("seed", range(3))
def test_the_lipschitz_constant_bounds_every_second_derivative(seed):
    oracle = instance("brockett", seed, n=6).oracle
    L = section_3.lipschitz(oracle)
    rng = np.random.default_rng(seed)
    U = random_point(6, 6, rng)
    largest = 0.0
    for _ in range(300):
        i, j = rng.choice(6, 2, replace=False)
        U = nudged(U, 0.5, rng)
        _, _, a = oracle.restricted(oracle.carry(U), int(i), int(j)).cosines
        largest = max(largest, 4 * abs(a))
    assert 0.1 * L < largest <= L


def test_the_interval_of_a_ratio_of_means_is_linearized():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 2, (2, 400))
    found = mean_within(figure_2.ratios_of_means(a, b), 0, 2)
    ratio = a.mean() / b.mean()
    half = 1.966 * np.std(a - ratio * b, ddof=1) / sqrt(400) / b.mean()
    assert found.value == pytest.approx(ratio)
    assert found.interval == pytest.approx((ratio - half, ratio + half), rel=1e-4)
    drawn = rng.integers(400, size=(500, 400))
    resampled = a[drawn].mean(axis=1) / b[drawn].mean(axis=1)
    assert np.std(resampled) == pytest.approx(half / 1.966, rel=0.1)


def test_the_objective_of_a_plane_is_that_of_rotated_columns():
    A = np.random.default_rng(0).standard_normal((9, 2))
    values = section_2.equation_6(*A.T, 0.4)
    at = 500
    rotate(A, 0, 1, section_2.ANGLES[at])
    expected = np.sum(np.maximum(np.abs(A) - 0.4, 0) ** 2)
    assert values[at] == pytest.approx(expected)
    assert np.ptp(values[[0, -1]]) < 1e-12


def test_formulations_order_single_components_alike():
    assert all(section_4.ordered_alike(seed, 1) for seed in range(30))


def test_nonzeros_are_drawn_for_all_components():
    runs = Constructed(PAPER, lambda at: {figure_1.EXPLAINED: 1, figure_1.NONZEROS: 7, "flops": 1})
    for line in figure_1.draw(runs)[figure_1.NONZEROS].series:
        assert line.y[-1] == 7 * 102
