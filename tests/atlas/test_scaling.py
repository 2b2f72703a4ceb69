"""Scaling: exponents of powers that are known, and intervals as numpy has them."""

from dataclasses import replace

import numpy as np
import pytest

from orthobench.atlas.scaling import power, sweeps


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
