"""How often each statement of a report is wrong, by simulation of solvers whose truth is known.

The guide shows the rates of the slow tests: docs/guide/tuning-and-fairness.md.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from orthobench.stats.bootstrap import intervals
from orthobench.stats.paired import LEVEL, Decision, compare_to_best
from orthobench.stats.ranks import friedman, mean_ranks, problem_ranks

INF, NAN = math.inf, math.nan


def normal(rng, shape):
    return rng.standard_normal(shape)


def heavy(rng, shape):
    return rng.standard_t(2, shape)


def tied(rng, shape):
    return rng.standard_normal(shape).round()


def failing(rng, shape):
    return np.where(rng.random(shape) < 0.1, INF, rng.standard_normal(shape))


def partial(rng, shape):
    """Draw seeds of which the later ones were not run yet with some solvers."""
    k, n = shape
    run = rng.integers(n - 4, n + 1, k)
    return np.where(np.arange(n) < run[:, None], rng.standard_normal(shape), NAN)


DRAWS = {f.__name__: f for f in (normal, heavy, tied, failing, partial)}


@dataclass(frozen=True)
class Rates:
    """Shares of simulated problems on which a statement is wrong.

    Attributes
    ----------
    lower : float
        "The best is shown to end lower than every other solver": it does not.
    excluded : float
        "A solver is shown not to be the best": it is the true best one.
    equal : float
        The same of any solver that is as good as the one that came out best.
    missed : float
        Some interval of a problem lacks the true factor to the best.
    """

    lower: float
    excluded: float
    equal: float
    missed: float


def simulated(draw, levels, n, samples, seed=0):
    """Return the rates for solvers of these true levels, each with the same noise."""
    rng, levels = np.random.default_rng(seed), np.asarray(levels, dtype=np.float64)
    found = [_problem(rng, DRAWS[draw], levels, n) for _ in range(samples)]
    return Rates(*np.mean(found, axis=0).tolist())


def _problem(rng, draw, levels, n):
    logs = draw(rng, (len(levels), n)) + rng.standard_normal(n) + levels[:, None]
    with np.errstate(invalid="ignore"):
        values = np.exp(logs)
    medians = [np.median(row[~np.isnan(row)]) for row in values]
    best, truth = int(np.argmin(medians)), np.exp(levels - levels.min())
    found = compare_to_best({str(i): row.tolist() for i, row in enumerate(values)}, str(best))
    behind = {int(c.other) for c in found if c.decision is Decision.BEHIND}
    strictly = all(truth[best] < other for i, other in enumerate(truth) if i != best)
    within = [c.interval[0] <= truth[int(c.other)] * (1 + 1e-9) for c in found]
    within += [truth[int(c.other)] <= c.interval[1] * (1 + 1e-9) for c in found]
    return (
        len(behind) == len(found) and not strictly,
        int(truth.argmin()) in behind,
        any(truth[i] <= truth[best] for i in behind),
        not all(within),
    )


def at_most(level, samples):
    """The level, and three standard errors of a share of so many samples."""
    return level + 3 * math.sqrt(level * (1 - level) / samples)


def assert_kept(rates, samples, intervals=True):
    bound = at_most(LEVEL, samples)
    assert rates.lower <= bound
    assert rates.excluded <= bound
    assert not intervals or rates.missed <= bound


SHIFTED = ("normal", "heavy", "tied", "partial")
"""Draws around a true factor; failures have none."""


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("levels", [(0, 0), (0, 0, 3, 3), (0,) * 5])
def test_statements_keep_their_level(draw, levels):
    assert_kept(simulated(draw, levels, 12, 120), 120, draw in SHIFTED)


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 10, 20])
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("levels", [(0, 0), (0, 0, 0), (0,) * 8, (0, 0, *[3] * 6), (0, *[0.7] * 7)])
def test_statements_keep_their_level_in_many_samples(draw, levels, n):
    assert_kept(simulated(draw, levels, n, 1000), 1000, draw in SHIFTED)


def test_a_true_difference_is_shown():
    """The tests have power: the rates above are not those of tests that show nothing."""
    rng = np.random.default_rng(1)
    logs = rng.standard_normal((4, 15)) + np.array([[0], [3], [3], [3]])
    found = compare_to_best(dict(zip("abcd", np.exp(logs).tolist(), strict=True)), "a")
    assert {c.decision for c in found} == {Decision.BEHIND}


@pytest.mark.parametrize("n", [6, 10, 20])
def test_intervals_of_medians_cover(n):
    rows = np.random.default_rng(n).standard_t(2, (1500, n))
    low, high = intervals(rows)
    assert np.mean((low > 0) | (high < 0)) <= at_most(LEVEL, 1500)


def uneven(rng, shape):
    """Draw values that every other solver has eight times as widely; mean ranks are equal."""
    return normal(rng, shape) * np.where(np.arange(shape[0]) % 2, 8.0, 1.0)[:, None]


def joined_wrongly(draw, levels, blocks, samples, variants=1, seed=0):
    """Return how often mean ranks show some two solvers to differ whose levels are equal.

    The variants of a problem rank alike.
    """
    rng, levels = np.random.default_rng(seed), np.asarray(levels, dtype=np.float64)
    shape = (len(levels), blocks)
    equal = [{i, j} for i, j in itertools.combinations(range(len(levels)), 2)
             if levels[i] == levels[j]]  # fmt: skip
    names, wrong = np.repeat(np.arange(blocks), variants).astype(str).tolist(), 0
    for _ in range(samples):
        values = np.repeat(draw(rng, shape), variants, axis=1) + levels[:, None]
        values += 0.3 * rng.standard_normal(values.shape) * (variants > 1)
        alike = mean_ranks(dict(enumerate(values.tolist())), names).alike
        groups = [set(group) for group in alike]
        wrong += not all(any(pair <= group for group in groups) for pair in equal)
    return wrong / samples


RANKED = (normal, heavy, tied, failing)
LEVELS = ((0,) * 3, (0,) * 12, (0,) * 6 + (1,) * 6)


@pytest.mark.parametrize("variants", [1, 3])
@pytest.mark.parametrize("levels", LEVELS)
def test_equal_solvers_are_joined(levels, variants):
    assert joined_wrongly(normal, levels, 6, 200, variants) <= at_most(LEVEL, 200)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [5, 6, 12, 20])
@pytest.mark.parametrize("draw", RANKED)
@pytest.mark.parametrize("levels", LEVELS)
def test_equal_solvers_are_joined_in_many_samples(levels, draw, blocks):
    for variants in (1, 3):
        assert joined_wrongly(draw, levels, blocks, 1000, variants) <= at_most(LEVEL, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [5, 6, 12, 20])
@pytest.mark.parametrize("solvers", [3, 12])
def test_solvers_of_equal_mean_ranks_and_other_spreads_are_nearly_as_often_joined(solvers, blocks):
    assert joined_wrongly(uneven, (0,) * solvers, blocks, 1000) <= at_most(0.07, 1000)


def test_far_solvers_are_not_joined():
    """The lines have power: of two groups of six that are far apart no line joins both."""
    rng = np.random.default_rng(2)
    values = normal(rng, (12, 40)) + np.repeat([0, 9], 6)[:, None]
    groups = mean_ranks(dict(enumerate(values.tolist()))).alike
    assert [set(group) for group in groups] == [set(range(6)), set(range(6, 12))]


@pytest.mark.parametrize("variants", [1, 3])
@pytest.mark.parametrize("solvers", [3, 8])
def test_variants_taken_for_independent_show_what_is_not_there(solvers, variants):
    rng, samples = np.random.default_rng(0), 400
    naive = 0
    for _ in range(samples):
        common = np.repeat(rng.standard_normal((solvers, 6)), variants, axis=1)
        ranks = problem_ranks(common + 0.3 * rng.standard_normal(common.shape))
        naive += friedman(ranks)[1] < LEVEL
    assert (naive / samples > 0.2) == (variants > 1)
