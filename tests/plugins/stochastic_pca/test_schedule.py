"""Step sizes, and the unit of the samples in which they are measured."""

from dataclasses import dataclass

import numpy as np
import pytest
from orthobench_stochastic_pca.schedule import FIRST, UNKNOWN, Scheduled, Unit

from orthobench.contract.parameters import check_parameters


@dataclass(frozen=True)
class Stepping(Scheduled):
    def __post_init__(self) -> None:
        check_parameters(self)


@pytest.mark.parametrize(("schedule", "power"), [("1/sqrt(t)", 0.5), ("constant", 0), ("1/t", 1)])
def test_the_schedule_falls_from_c_with_its_power(schedule, power):
    etas = Stepping(step_size=3.0, schedule=schedule).etas(1, 50)
    np.testing.assert_allclose(etas, 3.0 * np.arange(1, 51.0) ** -power, rtol=1e-15)


def test_unit_is_the_mean_square_of_the_first_nonzero_samples():
    rows = np.random.default_rng(0).standard_normal((FIRST + 5, 3))
    rows[[0, 4]] = 0
    squares = np.sum(rows**2, axis=1)
    means, unit = UNKNOWN.along(rows)
    assert means[0] == 1
    some = np.flatnonzero(squares)
    for i in range(1, FIRST + 5):
        assert means[i] == pytest.approx(squares[some[some <= i][:FIRST]].mean())
    assert unit == (pytest.approx(squares[some[:FIRST]].sum()), FIRST)
    parts, at = [], UNKNOWN
    for part in (rows[:3], rows[3:3], rows[3:FIRST], rows[FIRST:]):
        chunk, at = at.along(part)
        parts.append(chunk)
    assert np.array_equal(np.concatenate(parts), means)
    assert at == unit


@pytest.mark.parametrize("samples", [FIRST - 1, FIRST])
def test_steps_are_divided_by_a_unit_of_earlier_samples(samples):
    before = Unit(3.0 * samples, samples)
    rows = np.full((2, 4), 2.0)  # of square 16
    etas, after = Scheduled(step_size=6.0, schedule="constant").etas_along(7, rows, before)
    mean = 3.0 if samples == FIRST else (3.0 * (FIRST - 1) + 16) / FIRST
    np.testing.assert_allclose(etas, 6.0 / mean)
    assert after.samples == FIRST
    plain, same = Scheduled(relative=False, step_size=6.0).etas_along(4, rows, before)
    np.testing.assert_allclose(plain, [6 / 2, 6 / np.sqrt(5)])
    assert same is before
