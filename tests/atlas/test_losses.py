"""Losses of solvers, positions of problems and what is expected elsewhere, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from orthobench.atlas.advice import _extrapolation
from orthobench.atlas.features import Features
from orthobench.atlas.losses import (
    WIDTH,
    expected_bytes,
    features_in,
    fit,
    linear,
    losses,
    nearer,
    position_of,
    single_best,
)
from orthobench.atlas.table import AtlasRow
from orthobench.decide.answer import MISS

ONES = np.ones(3)
SMALL, UNLIKE = 0.01, 2.0


def test_a_position_has_logarithms_of_sizes_decay_noise_and_density():
    found = np.exp(position_of(Features(100, 20, 3, decay=1.5, noise=0.25, sparsity=0.75)))
    assert found == pytest.approx([100, 20, 3, 0.5 + SMALL, 0.25 + SMALL, 0.25 + SMALL])
    assert np.exp(position_of(Features(1, 1, 1, decay=0.9))[3]) == pytest.approx(SMALL)


def test_what_is_unknown_of_a_position_is_nan():
    assert np.isnan(position_of(Features(0, 20, 3))).tolist() == [
        True, False, False, True, True, True,
    ]  # fmt: skip
    assert np.isnan(position_of(Features(5, 20, 3, decay=math.inf))[3])


def test_nearer_problems_count_more_by_the_exponential_of_their_distance():
    positions, logs = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0], [2.0]])
    shares = np.array([1.0, 2.0, 1.0])
    weights = shares * np.exp(-np.array([0.5, 0.5, 2.5]) / WIDTH)
    found = nearer(positions, logs, shares, np.array([0.5]))
    assert found == pytest.approx(weights @ logs / weights.sum())
    assert single_best(positions, logs, shares, np.array([0.5])) == pytest.approx([1])


def test_a_feature_that_one_of_two_lacks_is_so_far_away():
    nan = math.nan
    positions = np.array([[0.0, nan], [0.0, 0.0], [UNLIKE, nan]])
    logs = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    found = nearer(positions, logs, ONES, np.array([0.0, nan]))
    assert found[1] == pytest.approx(found[2])
    assert found[0] == pytest.approx(found[1] * math.exp(UNLIKE / WIDTH))


def test_the_linear_model_is_a_ridge_regression_within_its_bounds():
    positions, logs = np.array([[-1.0], [0.0], [1.0]]), np.array([[0.5], [1.0], [1.5]])
    slope = 1.0 / (2.0 + 1.0)  # X'y over X'X and the penalty of one problem
    for at in (0.0, 0.5, 2.0):
        found = linear(positions, logs, ONES, np.array([at]))
        assert found == pytest.approx([1 + slope * at])
    assert linear(positions, logs, ONES, np.array([-9.0])) == [0]
    assert linear(positions, logs, ONES, np.array([99.0])) == [math.log(MISS)]


def test_the_linear_model_leaves_out_features_that_are_unknown():
    positions = np.array([[-1.0, math.nan], [0.0, 5.0], [1.0, 7.0]])
    logs = np.array([[0.5], [1.0], [1.5]])
    one = linear(positions, logs, ONES, np.array([0.5, 6.0]))
    assert one == pytest.approx(linear(positions[:, :1], logs, ONES, np.array([0.5])))
    assert linear(positions, logs, ONES, np.array([math.nan, 6.0])) == pytest.approx([1.0])


def test_losses_are_logarithms_of_factors_and_ten_where_it_does_not_get_there(rows):
    made = rows(problems=2, solvers=3, seeds=6)
    good = [replace(r, value=1e-3) for r in made]
    lost = [replace(r, value=0.9) if r.solver == "solver-2" and r.name == "p1" else r for r in good]
    found = losses(lost)
    assert (found.solvers, found.names) == (("solver-0", "solver-1", "solver-2"), ("p0", "p1"))
    assert found.logs.min(axis=1).tolist() == [0, 0]
    assert found.logs[1, 2] == pytest.approx(math.log(MISS))
    assert np.isnan(found.costs[1, 2])
    known = np.isfinite(found.costs)
    ratios = found.costs / np.nanmin(found.costs, axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(found.logs)[known], np.minimum(ratios[known], MISS))
    assert found.features[0] == features_in(lost[0]) == Features(1000, 50, 4, 0.5, 0.1, 0.0)


def test_a_problem_that_nobody_solves_is_left_out(rows):
    made = rows(problems=2, solvers=2, seeds=6)
    failed = [replace(r, value=math.inf, failed=True) if r.name == "p0" else r for r in made]
    assert losses(failed).names == ("p1",)


def row(number, rows, d, memory, name="a"):
    return AtlasRow(
        suite="s", family="f", problem=f"p{number}", name="p", parameters=f'{{"i": {number}}}',
        rows=rows, d=d, k=2, solver=f"{name} K=2", solver_name=name, seed=0,
        metric="gap", ending="done", memory=memory,
    )  # fmt: skip


def test_memory_is_a_power_law_of_sizes_and_never_below_what_was_measured():
    sizes = [(10, 4), (100, 4), (1000, 4), (10, 64), (1000, 64)]
    made = [row(i, m, d, 8.0 * m * d**2) for i, (m, d) in enumerate(sizes)]
    assert expected_bytes(made, "a", Features(500, 16, 2)) == pytest.approx(8 * 500 * 256)
    dearer = [replace(made[0], memory=2 * made[0].memory), *made[1:]]
    for one in dearer:
        assert expected_bytes(dearer, "a", features_in(one)) >= one.memory * (1 - 1e-9)


def test_memory_that_was_not_measured_is_unknown():
    made = [row(0, 10, 4, math.nan), row(1, 10, 4, math.inf), row(2, 10, 4, 0.0)]
    assert math.isnan(expected_bytes(made, "a", Features(10, 4, 2)))
    one = [*made, row(3, 10, 4, 77.0), row(4, 10, 4, 99.0, "other")]
    assert expected_bytes(one, "a", Features(10, 4, 2)) == pytest.approx(77)


def test_powers_are_fitted_where_there_are_enough_problems_of_sizes_that_vary():
    features = [Features(m, 8, 3) for m in (10, 20, 40, 80, 160)]
    costs = np.array([3.0 * one.rows**2 for one in features])
    assert fit(features[:4], costs[:4])[0] == pytest.approx({"rows": 2})
    assert fit(features[:3], costs[:3])[0] == {}
    gaps = np.where([False, True, False, False, False], math.nan, costs)
    assert fit(features, gaps)[0] == pytest.approx({"rows": 2})
    endless = [replace(one, rows=0) if i == 0 else one for i, one in enumerate(features)]
    assert fit(endless, costs)[0] == {}


def test_the_error_of_a_fit_is_that_of_each_problem_by_the_others():
    features = [Features(2**i, 8, 3) for i in range(6)]
    costs = np.array([2.0**i * (1.3 if i == 2 else 1.0) for i in range(6)])
    x, y = np.arange(6) * math.log(2), np.log(costs)
    errors = []
    for i in range(6):
        others = np.arange(6) != i
        errors.append(abs(np.polyval(np.polyfit(x[others], y[others], 1), x[i]) - y[i]))
    assert fit(features, costs)[1] == pytest.approx(math.exp(np.median(errors)))


def test_sizes_beyond_twice_all_that_was_measured_are_extrapolated():
    measured = [replace(row(i, m, 50, 1.0), k=4) for i, m in enumerate((100, 1000, 0))]
    for own, beyond, which in (
        ((2000, 50, 4), 1.0, ""), ((2001, 50, 4), 2.001, "more rows"), ((50, 50, 4), 1.0, ""),
        ((49, 50, 4), 100 / 49, "fewer rows"), ((0, 50, 4), 1.0, ""),
        ((100, 200, 4), 4.0, "more columns"), ((100, 50, 1), 4.0, "fewer components"),
        ((3000, 500, 4), 10.0, "more columns"),
    ):  # fmt: skip
        assert _extrapolation(Features(*own), measured) == (pytest.approx(beyond), which), own
