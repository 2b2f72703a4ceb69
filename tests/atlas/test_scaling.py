"""Scaling: exponents of powers that are known, and intervals as numpy has them."""

from dataclasses import replace

import numpy as np
import pytest

from orthobench.atlas.scaling import conditions, design, fit, power, sweeps


def test_an_exact_power_is_found():
    x = np.array([10.0, 20.0, 40.0, 80.0])
    found = power(x, 3 * x**1.5)
    assert found.exponent == pytest.approx(1.5)
    assert found.interval == pytest.approx((1.5, 1.5))


def test_the_interval_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    x = np.repeat([8.0, 16.0, 64.0, 256.0], 5)
    y = x**2 * np.exp(0.3 * rng.standard_normal(20))
    found = power(x, y)
    (slope, _), covariance = np.polyfit(np.log(x), np.log(y), 1, cov=True)
    assert found.exponent == pytest.approx(slope)
    # 2.100922 is the 97.5 % quantile of Student's t with 18 degrees of freedom
    reach = 2.100922 * np.sqrt(covariance[0, 0])
    assert found.interval == pytest.approx((slope - reach, slope + reach), rel=1e-6)


def test_two_sizes_are_no_sweep():
    assert power(np.array([1.0, 1.0, 2.0]), np.ones(3)) is None


def test_problems_that_differ_in_one_size_are_a_sweep(rows):
    own = []
    for row in rows(problems=4):
        n = 10 * 2 ** int(row.problem[1])
        parameters = f'{{"k": 2, "n": {n}}}' if n < 80 else '{"k": 3, "n": 80}'
        seconds = (1e-6 * n**1.25,) * len(row.seconds_to)
        own.append(replace(row, name="p", d=n, parameters=parameters, seconds_to=seconds))
    (sweep,) = sweeps(own)
    assert (sweep.name, sweep.size, sweep.values) == ("p", "d", (10, 20, 40))
    assert sweep.power("solver-0", lambda row: row.seconds_to[2]).exponent == pytest.approx(1.25)
    assert sweep.power("nobody", lambda row: row.seconds_to[2]) is None


def test_levels_of_another_metric_are_sweeps_of_their_own(rows):
    own = []
    for row in rows(problems=3):
        n = 10 * 2 ** int(row.problem[1])
        for level in (0.1, 0.2):
            problem = f"{row.problem}, density <= {level}"
            own.append(replace(row, name="p", d=n, parameters=f'{{"n": {n}}}', problem=problem))
    assert [one.name for one in sweeps(own)] == ["p, density <= 0.1", "p, density <= 0.2"]


SIZES = [(10, 2, 0.1), (10, 4, 0.1), (20, 4, 0.1), (40, 8, 0.1), (20, 2, 0.3), (40, 4, 0.3)]
"""d, k and noise: what is fitted has a constant for each noise."""


def sized(rows, sizes, cost):
    """Return the runs of a solver on problems of some sizes, with its cost; and conditions."""
    first, *_ = rows(problems=1, solvers=1)
    own = [
        replace(first, problem=f"p{i}", name="p", d=d, k=k, seed=seed,
                parameters=f'{{"n": {d}, "k": {k}, "noise": {noise}}}',
                seconds=cost(i, d, k, noise) * (1 + seed) / 3)
        for i, (d, k, noise) in enumerate(sizes) for seed in (0, 2, 9)
    ]  # fmt: skip
    return own, conditions(own)


def test_exact_powers_of_two_sizes_are_found(rows):
    own, alike = sized(rows, SIZES, lambda _, d, k, noise: d**1.5 * k**0.5 / noise)
    found = fit(own, lambda row: row.seconds, alike)
    assert {name: one.exponent for name, one in found.powers.items()} == pytest.approx(
        {"d": 1.5, "k": 0.5}
    )
    assert found.factor == pytest.approx(1)
    assert found.problems == 6


def test_the_intervals_of_two_sizes_are_those_of_least_squares_with_constants(rows):
    scatter = np.random.default_rng(0).standard_normal(len(SIZES))
    own, alike = sized(rows, SIZES, lambda i, d, k, _: d * k * np.exp(0.2 * scatter[i]))
    found = fit(own, lambda row: row.seconds, alike)
    d, k, noise = np.array(SIZES).T
    x = np.stack([np.log(d), np.log(k), noise == 0.1, noise == 0.3], axis=1)
    y = np.log(d * k) + 0.2 * scatter
    slopes, (squares,), *_ = np.linalg.lstsq(x, y)
    # 4.302653 is the 97.5 % quantile of Student's t with 6 - 4 degrees of freedom
    reach = 4.302653 * np.sqrt(squares / 2 * np.linalg.inv(x.T @ x)[0, 0])
    assert found.powers["d"].exponent == pytest.approx(slopes[0])
    assert found.powers["k"].exponent == pytest.approx(slopes[1])
    assert found.powers["d"].interval == pytest.approx((slopes[0] - reach, slopes[0] + reach))
    assert found.factor == pytest.approx(np.exp(np.sqrt(squares / 2)))


def test_sizes_that_grow_alike_have_one_exponent(rows):
    own, alike = sized(rows, [(d, d, 0.1) for d in (5, 10, 20)], lambda _, d, k, noise: d * k)
    ((name, one),) = fit(own, lambda row: row.seconds, alike).powers.items()
    assert (name, one.exponent) == ("d and k", pytest.approx(2))


def test_sizes_that_only_vary_together_have_none(rows):
    own, alike = sized(rows, [(d**2, d, 0.1) for d in (2, 4, 8)], lambda _, d, k, noise: d * k)
    assert fit(own, lambda row: row.seconds, alike).powers == {"d": None, "k": None}


def test_a_size_with_two_values_has_none_and_is_not_mixed_with_others(rows):
    sizes = [(10, 2, 0.1), (20, 2, 0.1), (40, 2, 0.1), (80, 4, 0.1)]
    own, alike = sized(rows, sizes, lambda _, d, k, noise: d**2 * k**9)
    found = fit(own, lambda row: row.seconds, alike)
    assert list(found.powers) == ["d"]
    assert found.powers["d"].exponent == pytest.approx(2)
    assert found.problems == 3


def test_problems_where_half_of_the_runs_fail_are_left_out(rows):
    own, alike = sized(rows, SIZES, lambda _, d, k, noise: d * k)
    own = [replace(row, seconds=np.inf) if row.problem == "p0" and row.seed else row for row in own]
    assert fit(own, lambda row: row.seconds, alike).problems == 5
    assert fit([], lambda row: row.seconds, {}) is None


def test_whole_numbers_that_grow_with_a_size_belong_to_it(rows):
    def parameters(p, q, order):
        return f'{{"p": {p}, "q": {q}, "order": {order}}}'

    first, *_ = rows(problems=1, solvers=1)
    own = [
        replace(first, problem=f"p{i}", name="p", d=10 * p, k=4, rows=0,
                parameters=parameters(p, 2 * p, order))
        for i, (p, order) in enumerate([(1, 3), (2, 3), (4, 3), (3, 4)])
    ]  # fmt: skip
    groups = design(own, conditions(own)).groups
    assert [[row.d for row in group] for group in groups] == [[10, 20, 40]]
