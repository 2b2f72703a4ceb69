"""Losses of solvers, positions of problems and models, computed by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from orthobench.atlas.answers import compare
from orthobench.atlas.features import Features
from orthobench.atlas.losses import (
    WIDTH,
    Losses,
    linear,
    losses,
    nearer,
    portfolio,
    position_of,
    single_best,
)
from orthobench.decide.answer import MISS

ONES = np.ones(3)
SMALL, UNLIKE = 0.01, 2.0


def test_a_position_has_logarithms_of_sizes_decay_noise_and_density():
    found = np.exp(position_of(Features(100, 20, 3, decay=1.5, noise=0.25, sparsity=0.75)))
    assert found == pytest.approx([100, 20, 3, 0.5 + SMALL, 0.25 + SMALL, 0.25 + SMALL])
    assert np.exp(position_of(Features(1, 1, 1, decay=0.9))[3]) == pytest.approx(SMALL)


def test_position_of_unknown_features_is_nan():
    assert np.isnan(position_of(Features(0, 20, 3))).tolist() == [
        True, False, False, True, True, True,
    ]  # fmt: skip
    assert np.isnan(position_of(Features(5, 20, 3, decay=math.inf))[3])


def test_weights_of_nearer_problems_are_exponential():
    positions, logs = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0], [2.0]])
    shares = np.array([1.0, 2.0, 1.0])
    weights = shares * np.exp(-np.array([0.5, 0.5, 2.5]) / WIDTH)
    found = nearer(positions, logs, shares, np.array([0.5]))
    assert found == pytest.approx(weights @ logs / weights.sum())
    assert single_best(positions, logs, shares, np.array([0.5])) == pytest.approx([1])


def test_features_known_of_one_problem_only_are_unlike():
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


def test_losses_are_logarithms_of_factors_and_ten_for_a_miss(rows):
    made = rows(problems=2, solvers=3, seeds=6)
    good = [replace(r, value=1e-3) for r in made]
    lost = [replace(r, value=0.9) if r.solver == "solver-2" and r.name == "p1" else r for r in good]
    found = losses(lost, compare(lost))
    assert found.solvers == ("solver-0", "solver-1", "solver-2")
    assert [row.name for row in found.problems] == ["p0", "p1"]
    assert found.logs.min(axis=1).tolist() == [0, 0]
    assert found.logs[1, 2] == pytest.approx(math.log(MISS))
    assert np.isnan(found.costs[1, 2])
    known = np.isfinite(found.costs)
    ratios = found.costs / np.nanmin(found.costs, axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(found.logs)[known], np.minimum(ratios[known], MISS))
    known = Features(1000, 50, 4, 0.5, 0.1, 0.0)
    np.testing.assert_array_equal(found.positions[0], position_of(known))


def test_call_of_a_race_at_half_the_cost_doubles_all_factors(rows):
    good = [replace(r, value=1e-3) for r in rows(problems=2, solvers=3, seeds=6)]
    before = losses(good, compare(good))
    cheapest = {r.problem: c.min() for r, c in zip(before.problems, before.costs, strict=True)}
    half = [replace(r, least=cheapest[r.problem] / 2) for r in good]
    found = losses(half, compare(half)).logs
    np.testing.assert_allclose(found, np.minimum(before.logs + math.log(2), math.log(MISS)))
    strict = [losses(own, compare(own, tolerance=1e-6)).logs for own in (good, half)]
    np.testing.assert_array_equal(*strict)


def test_problems_without_a_solution_are_left_out(rows):
    made = rows(problems=2, solvers=2, seeds=6)
    failed = [replace(r, value=math.inf, failed=True) if r.name == "p0" else r for r in made]
    assert [row.name for row in losses(failed, compare(failed)).problems] == ["p1"]


def test_portfolio_begins_with_the_cheapest_solver():
    logs = np.log([[1.0, 1.1, 10.0], [1.0, 1.1, 10.0], [10.0, 10.0, 1.0]])
    found = Losses(("a", "b", "c"), ("a", "b", "c"), (), (), logs, np.exp(logs))
    assert portfolio(found) == ["a", "c", "b"]
