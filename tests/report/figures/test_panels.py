"""Panels drawn into an axis: the data drawn are the panel's, and how they are told apart."""

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


class TestLines:
    def test_carry_the_data_in_the_solvers_styles(self):
        ax = drawn(panel(series("a"), series("b", 2 / X), series("c", 3 / X)))
        for solver, factor in (("a", 1), ("b", 2), ("c", 3)):
            line = lines(ax)[solver]
            np.testing.assert_array_equal(line.get_xdata(), X)
            np.testing.assert_array_equal(line.get_ydata(), factor / X)
            assert line.get_color() == LOOKS[solver].colour
            assert line.get_marker() == LOOKS[solver].marker
            assert line._unscaled_dash_pattern == LOOKS[solver].line
            assert line.get_markeredgewidth() == pytest.approx(0.4 * line.get_linewidth())
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "gap")

    def test_have_a_gap_where_runs_failed(self):
        y = [1, 0.5, math.inf, 0.2, math.nan, 0.1, 0.05, 0.04]
        drawn_y = lines(drawn(panel(series(y=y))))["a"].get_ydata()
        np.testing.assert_array_equal(np.isfinite(drawn_y), np.isfinite(y))

    def test_leave_out_what_has_no_place_on_a_log_axis(self):
        one = Series("a", np.array([0.0, 1.0, 2.0]), np.ones(3), solver="a")
        y = lines(drawn(panel(one)))["a"].get_ydata()
        assert np.isnan(y).tolist() == [True, False, False]
        linear = lines(drawn(panel(one, x=Axis("t", "t", log=False))))["a"].get_ydata()
        assert np.isfinite(linear).all()

    def test_long_ones_and_steps_have_a_marker_at_their_end(self):
        x = np.geomspace(1, 1e4, 200)
        many = [Series(s, x, 1 / x, solver=s) for s in "abc"]
        assert all(line.get_markevery() == [199] for line in lines(drawn(panel(*many))).values())
        assert lines(drawn(panel(stepped=True)))["a"].get_markevery() == [7]
        assert lines(drawn(panel()))["a"].get_markevery() == list(range(8))

    def test_a_panel_without_any_is_an_empty_axis(self):
        for axis in (Axis("t", "t"), Axis("t", "t", log=False)):
            empty = Series("a", np.empty(0), np.empty(0), np.empty(0), np.empty(0), solver="a")
            drawn(Panel(axis, axis, ())).figure.draw_without_rendering()
            drawn(Panel(axis, axis, (empty,))).figure.draw_without_rendering()


class TestBands:
    def test_span_low_to_high_in_the_colour_of_the_line(self):
        ax = drawn(panel(series("b", low=0.5 / X, high=2 / X)))
        (band,) = ax.collections
        assert to_hex(band.get_facecolor()[0]).upper() == LOOKS["b"].colour
        assert (band.get_alpha(), band.get_linewidth()[0]) == (0.13, 0)
        edge = band.get_paths()[0].vertices
        at_end = edge[np.isclose(edge[:, 0], X[-1]), 1]
        assert [at_end.min(), at_end.max()] == pytest.approx([0.5 / X[-1], 2 / X[-1]])

    def test_have_no_place_where_an_end_is_infinite(self):
        high = np.where(X > 100, math.inf, 2 / X)
        (band,) = drawn(panel(series(low=0.5 / X, high=high))).collections
        assert band.get_paths()[0].vertices[:, 0].max() <= 100

    def test_are_those_of_the_three_lines_that_end_lowest(self):
        before = np.arange(len(X)) == len(X) - 2  # where they are in the opposite order
        five = [
            Series(s, X, np.where(before, 6 - i, i) / X, 0.9 * i / X, 1.1 * i / X, solver=s)
            for i, s in zip((3, 1, 5, 2, 4), "abcab", strict=True)
        ]
        bands = [b.get_paths()[0].vertices[:, 1].max() for b in drawn(panel(*five)).collections]
        assert bands == pytest.approx([1.1 * i / X[0] for i in (3, 1, 2)])

    def test_far_above_all_lines_do_not_stretch_the_axis(self):
        ax = drawn(panel(series(low=0.5 / X, high=np.full(8, 1e9))))
        assert ax.get_ylim()[1] < 20
        for high, inside in ((9.9, True), (10.1, False)):  # of lines that reach up to 1
            top = drawn(panel(series(low=0.5 / X, high=np.full(8, high)))).get_ylim()[1]
            assert (top > high) == inside

    def test_of_a_single_point_are_bars(self):
        (bars,) = drawn(panel(series(y=[1], low=np.array([0.5]), high=np.array([2.0])))).collections
        assert bars.get_segments()[0][:, 1].tolist() == [0.5, 2]


class TestCategories:
    AXIS = Axis("step", "step", log=False, categories=("small", "large"))

    def ranks(self, count):
        at = [np.array([float(i)]) for i in range(count)]
        return [Series(s, x, x + 1, x, x + 2, solver=s) for s, x in zip("abc", at, strict=False)]

    def test_are_points_with_bars_above_their_names(self):
        ax = drawn(panel(*self.ranks(2), x=self.AXIS, y=Axis("r", "rank", log=False)))
        assert [t.get_text() for t in ax.get_xticklabels()] == ["small", "large"]
        assert [line.get_xdata().tolist() for line in lines(ax).values()] == [[0], [1]]
        assert all(line.get_linestyle() == "None" for line in lines(ax).values())
        bars = [bar.get_segments()[0].tolist() for bar in ax.collections]
        assert bars == [[[0, 0], [0, 2]], [[1, 1], [1, 3]]]

    def test_of_several_series_stand_side_by_side(self):
        x = np.array([0.0, 1.0])
        two = [Series(s, x, x + 1, solver=s) for s in "ab"]
        found = list(lines(drawn(panel(*two, x=self.AXIS))).values())
        assert found[0].get_xdata() == pytest.approx([-0.15, 0.85])
        assert found[1].get_xdata() == pytest.approx([0.15, 1.15])

    def test_long_names_are_tilted_and_shown_as_they_are(self):
        names = tuple(f"$x_{i}$ with a rather long name" for i in range(6))
        ax = drawn(panel(x=Axis("s", "s", log=False, categories=names)))
        labels = ax.get_xticklabels()
        assert [t.get_text().replace("\n", " ") for t in labels] == list(names)
        assert all(t.get_rotation() == 30 and not t.get_parse_math() for t in labels)
        assert ax.get_xlim() == (-0.5, 5.5)
        wordy = Axis("s", "s", log=False, categories=("word " * 20, "b"))
        long, short = drawn(panel(x=wordy)).get_xticklabels()
        assert (long.get_text(), short.get_text()) == (f"{'word ' * 7}…", "b")

    def test_twelve_names_do_not_run_into_each_other(self):
        names = ("incremental-pca", "riemannian-gradient", "randomized-joint-diagonalization") * 4
        ax = drawn(panel(x=Axis("s", "s", log=False, categories=names)))
        labels = ax.get_xticklabels()
        size, angle = labels[0].get_fontsize() / 72, math.radians(labels[0].get_rotation())
        apart = ax.get_position().width * ax.figure.get_figwidth() / 12 * math.sin(angle)
        lines = max(t.get_text().count("\n") + 1 for t in labels)
        assert apart > lines * size


class TestSigns:
    def test_a_cross_marks_where_a_failed_run_ended(self):
        ax = drawn(panel(series(crosses=((3.0, 0.7), (5.0, 0.0)))))
        crosses = [line for line in ax.lines if line.get_marker() == "x"]
        assert [line.get_xdata()[0] for line in crosses] == [3, 5]
        assert crosses[0].get_ydata()[0] == 0.7
        assert crosses[1].get_ydata()[0] > 0  # on the floor
        line = lines(ax)["a"]
        sizes = [c.get_markersize() / line.get_markersize() for c in crosses]
        assert sizes == pytest.approx([1.15, 1.15])
        assert min(c.get_zorder() for c in crosses) > line.get_zorder()

    def test_a_cross_alone_is_within_the_axis(self):
        empty = Series("a", np.empty(0), np.empty(0), solver="a", crosses=((7.0, 50.0),))
        ax = drawn(panel(empty))
        assert ax.get_xlim()[0] < 7 < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < 50 < ax.get_ylim()[1]

    def test_a_cross_without_a_place_on_a_log_axis_stands_on_the_left(self):
        at_zero = series("b", crosses=((0.0, 0.7),))
        ax = drawn(panel(series(), at_zero))
        (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
        assert 0 < cross.get_xdata()[0] == ax.get_xlim()[0] < X[0]
        ax = drawn(panel(at_zero, x=Axis("t", "t", log=False)))
        (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
        assert cross.get_xdata()[0] == 0
        alone = Series("a", np.empty(0), np.empty(0), solver="a", crosses=((0.0, 0.7),))
        ax = drawn(panel(alone))
        (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
        assert cross.get_xdata()[0] == ax.get_xlim()[0] > 0

    def test_a_ring_marks_the_chosen_point(self):
        ax = drawn(panel(series(chosen=2)))
        (ring,) = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
        assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (X[2], 1 / X[2])
        assert ring.get_markersize() == pytest.approx(2.2 * lines(ax)["a"].get_markersize())
        failed = series(y=[1, math.inf], chosen=1)
        assert len(drawn(panel(failed)).lines) == 1

    def test_rules_stand_where_they_should_and_inside_the_axis(self):
        ax = drawn(panel(rules=(5.0, 4000.0)))
        ruled = [line.get_xdata()[0] for line in ax.lines if line.get_xdata()[0] in (5, 4000)]
        assert ruled == [5, 4000]
        dotted = [line for line in ax.lines if line.get_xdata()[0] in (5, 4000)]
        assert {(r.get_linewidth(), r.get_color()) for r in dotted} == {(0.8, MUTED)}
        assert all(r.is_dashed() for r in dotted)
        assert max(r.get_zorder() for r in dotted) < lines(ax)["a"].get_zorder()
        assert ax.get_xlim()[1] > 4000


class TestFloor:
    def test_zeros_stand_on_the_lower_edge_and_a_note_says_so(self):
        ax = drawn(panel(series("a", np.zeros(8)), series("b")))
        zero, other = (line.get_ydata() for line in lines(ax).values())
        assert set(zero) == {zero[0]}
        assert 0 < zero[0] < min(other)
        assert ax.get_ylim()[0] < zero[0]
        assert [t.get_text() for t in ax.texts] == ["0, or below 1e-16"]
        (note,) = ax.texts
        assert note.xy == (0, zero[0])  # at the left end of its dotted line, a little above it
        assert note.xyann == (5, 3)
        (edge,) = [line for line in ax.lines if len(line.get_xdata()) == 2]
        assert set(edge.get_ydata()) == {zero[0]}
        assert (edge.get_linewidth(), edge.is_dashed()) == (0.8, True)
        assert edge.get_zorder() < lines(ax)["a"].get_zorder()

    def test_no_line_leads_to_it(self):
        y = np.where(X < 20, 1 / X, 0.0)
        ax = drawn(panel(series(y=y)))
        above, below = [line.get_ydata() for line in ax.lines if len(line.get_xdata()) == len(X)]
        np.testing.assert_array_equal(above, np.where(y > 0, y, math.nan))
        np.testing.assert_array_equal(np.isfinite(below), y == 0)
        banded = drawn(panel(series(low=y, high=2 / X)))
        assert len(banded.collections) == 2

    def test_there_is_none_where_nothing_is_zero_or_y_is_linear(self):
        assert not drawn(panel()).texts
        linear = Axis("gap", "gap", log=False)
        ax = drawn(panel(series(y=np.zeros(8)), y=linear))
        assert not ax.texts
        assert lines(ax)["a"].get_ydata().tolist() == [0] * 8

    def test_an_axis_of_mostly_negative_values_is_linear(self):
        ax = drawn(panel(series(y=np.linspace(-3, 1, 8))))
        assert ax.get_yscale() == "linear"
        assert ax.get_ylim()[0] < -3
        assert drawn(panel(series(y=[1, 0.1, -1e-3]))).get_yscale() == "log"

    def test_panels_of_one_y_share_scale_and_floor(self):
        one, other = panel(series(y=np.zeros(8))), panel(series("b", 100 / X))
        apart = panel(series("c", 1e9 * X), y=Axis("flops", "flops"))
        axes = [drawn(p, (one, other, apart)) for p in (one, other, apart)]
        assert axes[0].get_ylim() == axes[1].get_ylim() != axes[2].get_ylim()
        assert len(axes[1].texts) == 1


class TestReferences:
    def test_are_dashed_and_grey_and_the_same_in_all_panels(self):
        x = Axis("x", "x", log=False)
        chance, bound = (Series(n, X, X, solver="") for n in ("chance", "bound"))
        one, other = panel(chance, series(), x=x), panel(bound, chance, x=x)
        first, second = drawn(one, (one, other)), drawn(other, (one, other))
        for line in (lines(first)["chance"], lines(second)["chance"], lines(second)["bound"]):
            assert line.get_color() == MUTED
            assert line.is_dashed()
            assert line.get_linewidth() == pytest.approx(0.72 * lines(first)["a"].get_linewidth())
            assert line.get_zorder() < lines(first)["a"].get_zorder()
        dashes = [line._unscaled_dash_pattern for line in lines(second).values()]
        assert dashes[1] == lines(first)["chance"]._unscaled_dash_pattern != dashes[0]


class TestText:
    def test_labels_are_no_formulas_also_in_a_legend_of_the_users(self):
        odd = "_$x^2$ <b>"
        ax = drawn(panel(series(label=odd), x=Axis("t", "$t$"), y=Axis("gap", "_a$b$")))
        legend = ax.legend()
        (text,) = legend.get_texts()
        assert text.get_text().strip() == r"_\$x^2\$ <b>"  # matplotlib shows \$ as $
        assert text._preprocess_math(text.get_text())[0].strip() == odd
        assert ax.get_xlabel() == "$t$"
        assert not ax.xaxis.label.get_parse_math()
        assert not ax.yaxis.label.get_parse_math()
        ax.figure.draw_without_rendering()

    def test_long_labels_of_axes_are_folded(self):
        ax = drawn(panel(y=Axis("gap", "relative error of the moments of the " * 3)))
        assert ax.get_ylabel().count("\n") >= 1
        box = ax.yaxis.label.get_window_extent()
        assert box.height <= ax.bbox.height * 1.02
