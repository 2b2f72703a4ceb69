"""Floors: what a log axis does with zeros."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.panel import Axis, Series
from orthobench.report.plots.geometry import Clipped, floor_of, panel_floor, y_range

TINY, ROUNDING, GAP = 1e-16, 1e-12, 1e3


def test_zeros_reached_at_once_do_not_stretch_the_axis():
    floor = floor_of([np.array([0.1, 3e-15, -1e-16, 0.01])])
    assert floor.zero == pytest.approx(1e-14)
    assert floor.at == pytest.approx(0.01 / 3)
    assert floor.zeros
    assert list(floor.raised(np.array([0.1, 3e-15, -1.0]))) == [0.1, floor.at, floor.at]


def test_gradual_convergence_is_drawn_to_scale():
    values = np.geomspace(1, 1e-15, 16)
    floor = floor_of([values])
    assert not floor.zeros
    np.testing.assert_array_equal(floor.raised(values), values)


def test_a_gap_above_rounding_is_drawn_to_scale():
    assert not floor_of([np.array([1.0, 1e-9])]).zeros


def test_values_below_the_least_that_matters_do_not_stretch_the_axis():
    far, near = (Series("a", np.arange(4.0), np.geomspace(1, end, 4)) for end in (1e-9, 1e-2))
    one, other = (Clipped(Axis("t", "t"), Axis("g", "g"), (s,), least=1e-4) for s in (far, near))
    floor = panel_floor([one, other])
    assert floor.zeros
    np.testing.assert_allclose(floor.raised(far.y), [1, 1e-3, 1e-4, 1e-4])
    assert 1e-5 < y_range([one, other], floor)[0] < 1e-4
    assert not panel_floor([other]).zeros
    assert y_range([other], panel_floor([other]))[0] > 1e-3


def test_floor_without_positive_values():
    assert not floor_of([]).zeros
    assert floor_of([np.zeros(3)]).zeros
    assert not floor_of([np.array([math.inf, math.nan])]).zeros


def test_mostly_negative_values_have_no_floor():
    assert not floor_of([np.array([-1.0, -9.3, math.inf])]).log
    assert not floor_of([np.array([1.0, 0.1]), np.array([-3.0, math.nan])]).log
    assert floor_of([np.array([1.0, 0.1, -1e-3])]).log
    assert floor_of([np.array([-1e-17, 0.0])]).log


@given(st.lists(st.floats(-1, 1e6), min_size=1), st.floats(1, 1e6))
def test_raised_values_are_positive_and_keep_their_order(values, largest):
    values = np.sort(np.array([*values, largest]))
    raised = floor_of([values]).raised(values)
    assert (raised > 0).all()
    assert (np.diff(raised) >= 0).all()
