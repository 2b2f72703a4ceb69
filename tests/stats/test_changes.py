"""Changes of solvers between two stores: numpy alone, and solvers that did not change."""

import itertools
import math

import numpy as np
import pytest

from orthobench.stats.changes import Direction, changes


def exact_p(differences):
    """The two-sided p-value of the signed-rank test, by all signs that there could be."""
    d = np.array([x for x in differences if x != 0 and not np.isnan(x)])
    if not len(d):
        return 1.0
    sizes = np.abs(d)
    ranks = np.array([(sizes < x).sum() + ((sizes == x).sum() + 1) / 2 for x in sizes])
    sums = np.array(list(itertools.product((0, 1), repeat=len(d)))) @ ranks
    seen = ranks[d > 0].sum()
    return min(1.0, 2 * min((sums <= seen + 1e-9).mean(), (sums >= seen - 1e-9).mean()))


def holm(p):
    found, least = [0.0] * len(p), 0.0
    for place, i in enumerate(np.argsort(p, kind="stable")):
        least = max(least, min(1.0, (len(p) - place) * p[i]))
        found[i] = least
    return found


def walsh_interval(logs, level):
    """The ends that the exact test does not reject, from the averages of all pairs."""
    n = len(logs)
    sums = np.array(list(itertools.product((0, 1), repeat=n))) @ np.arange(1, n + 1)
    cut = sum((sums <= s).mean() <= (1 - level) / 2 + 1e-12 for s in range(n * (n + 1) // 2 + 1))
    pairs = itertools.combinations_with_replacement(logs, 2)
    averages = sorted((x + y) / 2 for x, y in pairs)
    return (averages[cut - 1], averages[-cut]) if cut else (-np.inf, np.inf)


def made(seed, solvers=3, seeds=9, shift=0.0):
    rng = np.random.default_rng(seed)
    first = {f"s{i}": np.exp(rng.standard_normal(seeds)) for i in range(solvers)}
    second = {k: v * np.exp(0.2 * rng.standard_normal(seeds) + shift) for k, v in first.items()}
    return first, second


@pytest.mark.parametrize("seed", range(4))
def test_every_number_is_that_of_numpy_alone(seed):
    first, second = made(seed, shift=(-0.4, 0.0, 0.4, 0.1)[seed])
    second["s1"] = first["s1"].copy()  # ties throughout: no test, and no part of the correction
    found = changes({k: list(v) for k, v in first.items()}, second)
    logs = {k: np.log(second[k]) - np.log(first[k]) for k in first}
    tested = ["s0", "s2"]
    adjusted = dict(zip(tested, holm([exact_p(logs[k]) for k in tested]), strict=True))
    assert found["s1"].direction is Direction.EQUAL
    for name in tested:
        change = found[name]
        assert change.p == pytest.approx(exact_p(logs[name]), abs=1e-12)
        assert change.adjusted == pytest.approx(adjusted[name], abs=1e-12)
        assert change.effect == pytest.approx(np.median(second[name] / first[name]))
        ends = np.exp(walsh_interval(logs[name], 1 - 0.05 / 2))
        assert change.interval == pytest.approx(tuple(ends))
        sides = (int((logs[name] < 0).sum()), int((logs[name] > 0).sum()), 0)
        assert (change.lower, change.higher, change.equal) == sides
        way = Direction.HIGHER if change.effect > 1 else Direction.LOWER
        assert change.direction is (way if adjusted[name] < 0.05 else Direction.OPEN)


def test_ties_failures_and_seeds_of_one_side_count_as_between_solvers():
    inf, nan = np.inf, np.nan
    first = {"a": [1.0, 1.0, inf, inf, 2.0, 3.0, nan], "b": [0.5] * 7}
    second = {"a": [1.0 + 1e-13, inf, 1.0, inf, 1.0, nan, 4.0], "b": [0.5] * 7}
    change = changes(first, second, rounding=1e-12)["a"]
    assert (change.n, change.lower, change.higher, change.equal) == (5, 2, 1, 2)
    assert change.direction is Direction.UNDECIDABLE
    assert change.needed > 5


def test_values_below_zero_are_compared_by_differences():
    change = changes({"a": [-1.0] * 8}, {"a": [-1.5, -1.6, -1.7, -1.8, -1.2, -1.3, -1.4, -1.9]})[
        "a"
    ]
    assert not change.ratio
    assert change.effect == pytest.approx(-0.55)
    assert change.direction is Direction.LOWER


def test_few_seeds_are_undecidable_and_six_decide_one_comparison():
    values = {"a": [1.0] * 5}
    assert changes(values, {"a": [2.0] * 5})["a"].direction is Direction.UNDECIDABLE
    assert changes(values, {"a": [2.0] * 5})["a"].needed == 6
    assert changes({"a": [1.0] * 6}, {"a": [2.0] * 6})["a"].direction is Direction.HIGHER


def test_seeds_of_one_side_show_a_change_where_most_are_ties():
    change = changes({"a": [1.0] * 14}, {"a": [1.0] * 8 + [2.0] * 6})["a"]
    assert (change.effect, change.adjusted, change.direction) == (1, 2 / 2**6, Direction.HIGHER)


def test_without_common_seeds_nothing_could_be_shown():
    nan = math.nan
    change = changes({"a": [1.0, nan]}, {"a": [nan, 1.0]})["a"]
    assert (change.n, change.direction) == (0, Direction.UNDECIDABLE)


def test_the_range_of_six_seeds_is_the_interval_of_one_solver_and_too_narrow_for_two():
    first, second = [1.0] * 6, [1.5, 1.1, 1.2, 1.3, 1.4, 1.6]
    assert changes({"a": first}, {"a": second})["a"].interval == pytest.approx((1.1, 1.6))
    two = changes({"a": first, "b": first}, {"a": second, "b": second})
    assert two["a"].interval == (0, math.inf)


def test_solvers_that_did_not_change_are_rarely_said_to_have():
    wrong = covered = 0
    for seed in range(400):
        found = changes(*made(seed, solvers=4, seeds=10)).values()
        wrong += any(c.direction in (Direction.LOWER, Direction.HIGHER) for c in found)
        covered += all(c.interval[0] <= 1 <= c.interval[1] for c in found)
    assert wrong / 400 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
    assert covered / 400 > 0.95 - 2 * np.sqrt(0.05 * 0.95 / 400)
