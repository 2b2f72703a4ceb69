"""Losses of solvers, positions of problems and models, computed by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from orthobench.atlas.answers import compare
from orthobench.atlas.features import Features
from orthobench.atlas.losses import (
    NEAR,
    NEAREST,
    Losses,
    cost_at,
    linear,
    losses,
    nearer,
    nearest,
    portfolio,
    position_of,
    single_best,
)
from orthobench.decide.answer import MISS
from orthobench.stats.calls import Stop

ONES = np.ones(3)
SMALL, UNLIKE = 0.01, 2.0


def test_a_position_has_logarithms_of_sizes_decay_noise_and_density():
    found = np.exp(position_of(Features(100, 20, 3, decay=1.5, noise=0.25, sparsity=0.75)))
    assert found == pytest.approx([100, 20, 3, 0.5 + SMALL, 0.25 + SMALL, 0.251])
    assert np.exp(position_of(Features(1, 1, 1, decay=0.9))[3]) == pytest.approx(SMALL)


def test_position_of_unknown_features_is_nan():
    assert np.isnan(position_of(Features(0, 20, 3))).tolist() == [
        True, False, False, True, True, True,
    ]  # fmt: skip
    assert np.isnan(position_of(Features(5, 20, 3, decay=math.inf))[3])


@pytest.mark.parametrize(("model", "width"), [(nearest, NEAREST), (nearer, NEAR)])
def test_weights_of_nearer_problems_are_exponential(model, width):
    positions, logs = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0], [2.0]])
    shares = np.array([1.0, 2.0, 1.0])
    weights = shares * np.exp(-np.array([0.5, 0.5, 2.5]) / width)
    found, used = model(positions, logs, shares, np.array([0.5]))
    assert found == pytest.approx(weights @ logs / weights.sum())
    assert used / used.sum() == pytest.approx(weights / weights.sum())
    assert single_best(positions, logs, shares, np.array([0.5]))[0] == pytest.approx([1])


def test_features_known_of_one_problem_only_are_unlike():
    nan = math.nan
    positions = np.array([[0.0, nan], [0.0, 0.0], [UNLIKE, nan]])
    logs = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    found, _ = nearest(positions, logs, ONES, np.array([0.0, nan]))
    assert found[1] == pytest.approx(found[2])
    assert found[0] == pytest.approx(found[1] * math.exp(UNLIKE / NEAREST))


def test_the_linear_model_is_a_weighted_ridge_regression():
    positions, logs = np.array([[-1.0], [0.0], [1.0]]), np.array([[0.5], [1.0], [1.7]])
    shares = np.array([1.0, 2.0, 1.0])
    for at in (-0.7, 0.0, 0.5):
        far = np.abs(positions[:, 0] - at)
        weights = shares * np.exp(-(far - far.min()) / NEAR)
        x, y = positions[:, 0] - weights @ positions[:, 0] / weights.sum(), logs[:, 0]
        mean = weights @ y / weights.sum()
        slope = (weights * x) @ (y - mean) / (weights @ x**2 + 1)  # a penalty of one problem
        expected = mean + slope * (at - weights @ positions[:, 0] / weights.sum())
        assert linear(positions, logs, shares, np.array([at]))[0] == pytest.approx([expected])
    assert linear(positions, logs, shares, np.array([-99.0]))[0] == [0]
    assert linear(positions, logs, shares, np.array([99.0]))[0] == [math.log(MISS)]


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


def at_once(rows, enough=lambda row: 20, **changes):
    """Return rows of runs of 100 steps and a second, of which a number of steps is enough."""
    made = rows(problems=2, solvers=1, seeds=6)
    return [
        replace(r, **{"value": 1e-3, "steps": 100, "seconds": 1.0, "enough": enough(r),
                      "spent": 0.3, **changes})
        for r in made
    ]  # fmt: skip


def test_number_of_steps_that_is_enough_is_a_call(rows):
    good = at_once(rows)
    found = losses(good, compare(good))
    assert found.stops == (Stop(), Stop.at(steps=20))
    assert np.exp(found.logs) == pytest.approx(np.array([[1 / 0.3, 1]] * 2))
    assert found.costs == pytest.approx(np.array([[1, 0.3]] * 2))
    samples = losses(good, compare(good, "samples"))
    assert samples.costs[:, 1] == pytest.approx(samples.costs[:, 0] / 5)
    strict = losses(good, compare(good, tolerance=1e-6))
    assert strict.stops == (Stop(),)


def test_regret_does_not_count_a_tenth_of_a_second(rows):
    found = losses(good := at_once(rows), compare(good))
    assert np.exp(found.regrets) == pytest.approx(np.array([[0.9 / 0.3, 1]] * 2), rel=0.01)
    short = [replace(r, seconds=0.1, spent=0.001) for r in good]
    free = losses(short, compare(short)).regrets
    assert (free < 0.03).all()
    assert (free[:, 1] < free[:, 0]).all()  # the cheaper one is preferred
    samples = losses(good, compare(good, "samples"))
    np.testing.assert_allclose(samples.regrets, samples.logs)


def test_steps_count_as_too_few_on_one_more_problem(rows):
    found = losses(good := at_once(rows), compare(good))
    own, early = found.expected(found.positions[0], single_best)
    assert own == pytest.approx(found.regrets[0, 0])
    assert early == pytest.approx(math.log(MISS) / 3)


def test_a_call_misses_if_one_seed_needs_more_steps(rows):
    good = at_once(rows, lambda row: 20 + 20 * (row.seed == 3) + 40 * (row.name == "p1"))
    found = losses(good, compare(good))
    assert found.stops == (Stop(), Stop.at(steps=40), Stop.at(steps=80))
    at_80 = 0.3 + 0.7 * 60 / 80  # on all seeds but the fourth
    assert found.costs[0] == pytest.approx([1, 0.3 + 0.7 * 20 / 80, at_80])
    assert np.isnan(found.costs[1, 1])
    assert found.logs[1, 1] == pytest.approx(math.log(MISS))
    never = at_once(rows, lambda row: 0 if row.seed == 3 else 20)
    assert losses(never, compare(never)).stops == (Stop(),)


def test_runs_that_a_limit_cut_are_known_by_early_calls_alone(rows):
    cut = at_once(rows, ending="timeout")
    found = losses(cut, compare(cut))
    assert found.stops == (Stop.at(steps=20),)
    one = replace(cut[0], steps=100)
    assert cost_at(one, 180, "seconds") == pytest.approx(0.3 + 0.7 * 2)
    assert cost_at(replace(one, ending="done"), 180, "seconds") == pytest.approx(1)


def test_advice_is_judged_by_solvers_that_take_the_problem(rows):
    good = [replace(r, value=1e-3) for r in rows(problems=5, solvers=2, seeds=6)]
    cheap = [replace(r, seconds=(1.0 if r.solver == "solver-0" else 5.0)) for r in good]
    some = [r for r in cheap if (r.solver, r.name) != ("solver-0", "p4")]
    found = losses(some, compare(some))
    assert not found.ran[4, found.solvers.index("solver-0")]
    assert found.held_out[single_best] == pytest.approx([0] * 5)


def test_solvers_of_a_problem_in_two_suites_keep_apart(rows):
    made = rows(problems=2, solvers=2, seeds=6)
    early = [replace(r, value=1e-3, steps=100, enough=20, spent=0.3, seconds=1.0) for r in made]
    apart = [replace(r, suite=r.solver) for r in early]
    found = losses(apart, compare(apart))
    assert len(found.problems) == 4
    assert found.costs.shape == (4, 4)
    assert np.isfinite(found.costs).sum(axis=1).tolist() == [2] * 4
    assert (np.isfinite(found.costs) == found.ran).all()


def test_problems_without_a_solution_are_left_out(rows):
    made = rows(problems=2, solvers=2, seeds=6)
    failed = [replace(r, value=math.inf, failed=True) if r.name == "p0" else r for r in made]
    assert [row.name for row in losses(failed, compare(failed)).problems] == ["p1"]


def test_portfolio_begins_with_the_cheapest_solver():
    logs = np.log([[1.0, 1.1, 9.0, 10.0], [1.0, 1.1, 9.0, 10.0], [10.0, 10.0, 9.0, 1.0]])
    names = ("a", "b", "c", "c")
    found = Losses(names, names, (Stop(),) * 4, (), (), np.exp(logs), np.ones(3), logs >= 0)
    assert portfolio(found) == ["a", "c", "b"]
