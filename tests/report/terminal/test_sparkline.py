"""Curves of characters: heights and places are those of the panel, on one scale for all rows."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.panel import Axis, Panel, Series
from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.geometry import floor_of
from orthobench.report.terminal.sparkline import ASCII_BLOCKS, BLOCKS, Sparklines, sparklines
from orthobench.results.tuning import choose

X = np.geomspace(1, 1e8, 801)
FALLING = np.minimum(10**-0.5, 1 / X)
LEAST = np.full(801, 10**-8.5)


def drawn(**curves):
    """Sparklines of named curves, each an array over X or a pair of arrays."""
    pairs = {n: c if isinstance(c, tuple) else (X, np.asarray(c)) for n, c in curves.items()}
    panel = Panel(
        Axis("samples", "samples"),
        Axis("gap", "gap"),
        tuple(Series(name, x, y, solver=name) for name, (x, y) in pairs.items()),
    )
    floor = floor_of([y for _, y in pairs.values()])
    y = np.concatenate([floor.raised(y) for _, y in pairs.values()])
    y = y[np.isfinite(y)]
    return Sparklines(panel, floor, (1.0, 1e8), (y.min(), y.max()))


def test_a_power_law_is_a_staircase():
    assert drawn(a=FALLING, least=LEAST).line("a", 8) == BLOCKS[::-1]


def test_a_curve_is_blank_where_it_has_not_begun_or_has_ended():
    some = (X > 1.1e2) & (X < 0.9e6)
    lines = drawn(a=(X[some], FALLING[some]), top=FALLING, least=LEAST)
    assert lines.line("a", 8) == "  ▆▅▄▃  "


def test_a_single_point_stands_where_it_is():
    lines = drawn(a=1 / X, b=(np.array([10**4.5]), np.array([1e-8])), c=(np.empty(0), np.empty(0)))
    assert lines.line("b", 8) == "    ▁   "
    assert lines.line("c", 8) == " " * 8


@pytest.mark.parametrize(("ascii_only", "expected"), [(False, "████✗   "), (True, "@@@@x   ")])
def test_a_cross_stands_where_the_median_run_failed(ascii_only, expected):
    lines = drawn(a=np.where(X < 10**4.5, 1.0, math.inf), b=1 / X)
    assert lines.line("a", 8, ascii_only) == expected


def test_zeros_are_at_the_floor_and_do_not_squeeze_the_rest():
    lines = drawn(a=np.where(X < 1e4, FALLING, 0.0), b=np.where(X < 1e4, 0.3, 2e-4))
    assert lines.line("a", 8) == "▇▅▃▁▁▁▁▁"
    assert lines.line("b", 8) == "███▂▂▂▂▂"


def test_values_below_zero_have_linear_heights():
    falling = -np.log10(X)
    lines = drawn(a=falling, b=np.full(801, -8.0), c=np.full(801, math.inf))
    assert lines.line("a", 8) == BLOCKS[::-1]
    assert lines.line("b", 8) == "▁▁▁▁▁▁▁▁"
    assert lines.line("c", 8) == "✗       "


positive = st.floats(1e-12, 1e12)


@given(st.lists(positive, min_size=2, max_size=40), st.integers(1, 40))
def test_heights_are_ordered_as_the_values(values, width):
    falling = np.sort(np.array(values))[::-1]
    x = np.geomspace(1, 1e8, len(falling))
    lines = drawn(a=(x, falling))
    shown = lines.line("a", width)
    assert len(shown) == width
    assert set(shown) <= set(BLOCKS)
    assert list(shown) == sorted(shown, reverse=True)
    ascii_shown = lines.line("a", width, ascii_only=True)
    assert ascii_shown == shown.translate(str.maketrans(BLOCKS, ASCII_BLOCKS))


def test_runs_are_drawn_as_the_convergence_plot_draws_them(runs):
    entries = choose(runs("a", 0.3) + runs("b", 0.01, failed=3) + runs("c", 0.2, failed=5))
    lines = sparklines(entries)
    assert lines.x == (1, 4000)
    assert [series.solver for series in lines.panel.series] == ["a", "b", "c"]
    assert lines.panel.x.key == "samples"
    assert lines.panel.y.key == "gap"
    assert lines.line("a", 10)[0] in "▇█"
    assert lines.line("b", 10)[-1] in "▁▂"


def test_a_median_run_that_failed_early_has_a_cross(runs):
    early = [
        replace(r, trace=r.trace[:4] if r.stop.status is RunStatus.DIVERGED else r.trace)
        for r in runs("a", 0.3, failed=3)
    ]
    line = sparklines(choose(early)).line("a", 20)
    assert line.rstrip().endswith("✗")
    assert 3 < len(line.rstrip()) < 12


def test_without_two_points_there_is_no_curve(runs):
    short = [replace(r, trace=r.trace[-1:]) for r in runs("a", 0.3)]
    assert sparklines(choose(short)) is None
    assert sparklines(choose([replace(r, trace=()) for r in short])) is None
