"""Panels drawn into an axis: their data, styles, floors and references."""

import itertools
import math

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from orthobench.contract.panel import Axis, Panel, Series
from orthobench.report.figures.panels import (
    MUTED,
    draw_panel,
)
from orthobench.report.style import solver_styles

LOOKS = solver_styles(["a", "b", "c"])
X = np.geomspace(1, 1000, 8)


def series(solver="a", y=None, **more):
    y = 1 / X if y is None else np.asarray(y, dtype=float)
    return Series(more.pop("label", solver), X[: len(y)], y, solver=solver, **more)


def panel(*lines, **more):
    x, y = more.pop("x", Axis("t", "time (s)")), more.pop("y", Axis("gap", "gap"))
    return Panel(x, y, lines or (series(),), **more)


def drawn(one, among=()):
    ax = Figure(figsize=(6, 4)).add_axes((0.1, 0.1, 0.8, 0.8))
    draw_panel(ax, one, LOOKS, among)
    return ax


def lines(ax):
    """The lines of series, by their labels."""
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def marks(ax, marker):
    return [line for line in ax.lines if line.get_marker() == marker]


def test_lines_have_the_data_and_the_styles_of_solvers():
    ax = drawn(panel(series("a"), series("b", 2 / X), series("c", 3 / X)))
    for solver, factor in (("a", 1), ("b", 2), ("c", 3)):
        line = lines(ax)[solver]
        np.testing.assert_array_equal(line.get_xdata(), X)
        np.testing.assert_array_equal(line.get_ydata(), factor / X)
        assert line.get_color() == LOOKS[solver].colour
        assert line.get_marker() == LOOKS[solver].marker
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "gap")


def test_lines_have_a_gap_if_runs_failed():
    y = [1, 0.5, math.inf, 0.2, math.nan, 0.1, 0.05, 0.04]
    drawn_y = lines(drawn(panel(series(y=y))))["a"].get_ydata()
    np.testing.assert_array_equal(np.isfinite(drawn_y), np.isfinite(y))


@pytest.mark.parametrize("log", [True, False])
def test_point_at_zero_is_left_out_of_logarithmic_axes(log):
    one = Series("a", np.arange(3.0), np.ones(3), solver="a")
    y = lines(drawn(panel(one, x=Axis("t", "t", log=log))))["a"].get_ydata()
    assert np.isnan(y).tolist() == [log, False, False]


def test_panel_without_points_is_an_empty_axis():
    for axis in (Axis("t", "t"), Axis("t", "t", log=False)):
        empty = Series("a", np.empty(0), np.empty(0), np.empty(0), np.empty(0), solver="a")
        drawn(Panel(axis, axis, ())).figure.draw_without_rendering()
        drawn(Panel(axis, axis, (empty,))).figure.draw_without_rendering()


def test_bands_span_low_to_high_in_the_colour_of_the_line():
    ax = drawn(panel(series("b", low=0.5 / X, high=2 / X)))
    (band,) = ax.collections
    assert to_hex(band.get_facecolor()[0]).upper() == LOOKS["b"].colour
    edge = band.get_paths()[0].vertices
    at_end = edge[np.isclose(edge[:, 0], X[-1]), 1]
    assert [at_end.min(), at_end.max()] == pytest.approx([0.5 / X[-1], 2 / X[-1]])


def test_bands_end_at_an_infinite_value():
    high = np.where(X > 100, math.inf, 2 / X)
    (band,) = drawn(panel(series(low=0.5 / X, high=high))).collections
    assert band.get_paths()[0].vertices[:, 0].max() <= 100


def test_bands_far_above_all_lines_do_not_stretch_the_axis():
    ax = drawn(panel(series(low=0.5 / X, high=np.full(8, 1e9))))
    assert ax.get_ylim()[1] < 20


def test_spread_of_a_single_point_is_a_bar():
    one = series(y=[1], low=np.array([0.5]), high=np.array([2.0]))
    (bar,) = drawn(panel(one)).collections
    assert bar.get_segments()[0][:, 1].tolist() == [0.5, 2]


def test_categories_are_points_with_bars_side_by_side():
    axis = Axis("step", "step", log=False, categories=("small", "large"))
    x = np.array([0.0, 1.0])
    two = [Series(s, x, x + 1, x, x + 2, solver=s) for s in "ab"]
    ax = drawn(panel(*two, x=axis, y=Axis("r", "rank", log=False)))
    assert [t.get_text() for t in ax.get_xticklabels()] == ["small", "large"]
    first, second = lines(ax).values()
    assert first.get_xdata() == pytest.approx([-0.15, 0.85])
    assert second.get_xdata() == pytest.approx([0.15, 1.15])
    assert first.get_linestyle() == "None"
    assert ax.collections[0].get_segments()[1] == pytest.approx(np.array([[0.85, 1], [0.85, 3]]))


def test_twelve_names_do_not_run_into_each_other():
    names = ("incremental-pca", "$riemannian-gradient", "randomized-joint-diagonalization") * 4
    ax = drawn(panel(x=Axis("s", "s", log=False, categories=names)))
    labels = ax.get_xticklabels()
    size, angle = labels[0].get_fontsize() / 72, math.radians(labels[0].get_rotation())
    assert ax.get_position().width * ax.figure.get_figwidth() / 12 * math.sin(angle) > size
    assert not any(t.get_parse_math() for t in labels)


def test_crosses_mark_the_ends_of_failed_runs():
    ax = drawn(panel(series(crosses=((3.0, 0.7), (5.0, 0.0), (0.0, 0.7)))))
    crosses = [(*line.get_xdata(), *line.get_ydata()) for line in marks(ax, "x")]
    assert crosses[0] == (3, 0.7)
    assert crosses[1][1] > 0  # on the floor
    assert crosses[2][0] == ax.get_xlim()[0] > 0
    alone = Series("a", np.empty(0), np.empty(0), solver="a", crosses=((7.0, 50.0),))
    ax = drawn(panel(alone))
    assert ax.get_xlim()[0] < 7 < ax.get_xlim()[1]
    assert ax.get_ylim()[0] < 50 < ax.get_ylim()[1]


def test_ring_marks_the_chosen_point():
    ax = drawn(panel(series(chosen=2)))
    (ring,) = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (X[2], 1 / X[2])
    assert len(drawn(panel(series(y=[1, math.inf], chosen=1))).lines) == 1


def test_rules_are_inside_the_axis():
    ax = drawn(panel(rules=(5.0, 4000.0)))
    assert [x for x in (line.get_xdata()[0] for line in ax.lines) if x in (5, 4000)] == [5, 4000]
    assert ax.get_xlim()[1] > 4000


def test_zeros_are_on_the_lower_edge_with_a_note():
    ax = drawn(panel(series("a", np.zeros(8)), series("b")))
    zero, other = (line.get_ydata() for line in lines(ax).values())
    assert set(zero) == {zero[0]}
    assert 0 < zero[0] < min(other)
    assert ax.get_ylim()[0] < zero[0]
    assert [t.get_text() for t in ax.texts] == ["0, or below 1e-16"]


def test_no_line_leads_to_the_floor():
    y = np.where(X < 20, 1 / X, 0.0)
    ax = drawn(panel(series(y=y)))
    above, below = [line.get_ydata() for line in ax.lines if len(line.get_xdata()) == len(X)]
    np.testing.assert_array_equal(above, np.where(y > 0, y, math.nan))
    np.testing.assert_array_equal(np.isfinite(below), y == 0)


def test_axis_of_mostly_negative_values_is_linear():
    ax = drawn(panel(series(y=np.linspace(-3, 1, 8))))
    assert ax.get_yscale() == "linear"
    assert ax.get_ylim()[0] < -3
    assert drawn(panel(series(y=[1, 0.1, -1e-3]))).get_yscale() == "log"


def test_panels_of_one_y_share_scale_and_floor():
    one, other = panel(series(y=np.zeros(8))), panel(series("b", 100 / X))
    apart = panel(series("c", 1e9 * X), y=Axis("flops", "flops"))
    axes = [drawn(p, (one, other, apart)) for p in (one, other, apart)]
    assert axes[0].get_ylim() == axes[1].get_ylim() != axes[2].get_ylim()
    assert len(axes[1].texts) == 1


def test_references_are_dashed_grey_and_the_same_in_all_panels():
    x = Axis("x", "x", log=False)
    chance, bound = (Series(n, X, X, solver="") for n in ("chance", "bound"))
    one, other = panel(chance, series(), x=x), panel(bound, chance, x=x)
    first, second = drawn(one, (one, other)), drawn(other, (one, other))
    for line in (lines(first)["chance"], lines(second)["chance"], lines(second)["bound"]):
        assert line.get_color() == MUTED
        assert line.is_dashed()
    dashes = [line._unscaled_dash_pattern for line in lines(second).values()]
    assert dashes[1] == lines(first)["chance"]._unscaled_dash_pattern != dashes[0]


def test_labels_are_no_formulas_and_are_folded():
    odd = "_$x^2$ <b>"
    ax = drawn(panel(series(label=odd), x=Axis("t", "$t$"), y=Axis("gap", "an error of " * 9)))
    (text,) = ax.legend().get_texts()
    assert text._preprocess_math(text.get_text())[0].strip() == odd
    assert not ax.xaxis.label.get_parse_math()
    assert ax.yaxis.label.get_window_extent().height <= ax.bbox.height * 1.02


@pytest.mark.parametrize("ends", [(45.0, 900.0), (110.0, 640.0), (1.5, 40.0)])
def test_labels_of_a_short_logarithmic_axis_do_not_touch(ends):
    values = np.array(ends)
    ax = drawn(panel(Series("a", values, values, solver="a")))
    ax.figure.draw_without_rendering()
    for axis, low, high in ((ax.xaxis, *ax.get_xlim()), (ax.yaxis, *ax.get_ylim())):
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        boxes = [tick.label1.get_window_extent() for tick in ticks]
        assert len(boxes) >= 2
        assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
        assert not any(tick.label1.get_text() for tick in axis.get_minor_ticks())
