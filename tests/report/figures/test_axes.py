"""Axes: limits around the values, ticks with labels that have room."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from orthobench.report.figures.axes import label_ticks, scale


def axis(width=4.0, height=3.0):
    return Figure(figsize=(width, height)).add_axes((0, 0, 1, 1))


class TestScale:
    @given(st.floats(1e-15, 1e12), st.floats(1, 1e15), st.sampled_from("xy"), st.floats(1, 8))
    def test_every_log_axis_has_ticks_with_labels_within_its_limits(self, low, ratio, which, size):
        ax = axis(size, size)
        scale(ax, which, [np.array([low, low * ratio])])
        bottom, top = getattr(ax, f"get_{which}lim")()
        assert 0 < bottom < low
        assert top > low * ratio
        own = getattr(ax, f"{which}axis")
        ticks = [t for t in own.get_majorticklocs() if bottom <= t <= top]
        labels = own.get_major_formatter().format_ticks(ticks)
        assert len([text for text in labels if text]) >= 2
        assert len(set(labels)) == len(labels)

    @given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
    def test_every_linear_axis_shows_all_values(self, low, span):
        ax = axis()
        scale(ax, "y", [np.array([low, low + span, np.inf])], log=False)
        bottom, top = ax.get_ylim()
        assert bottom < low <= low + span < top

    @pytest.mark.parametrize("ratio", [3, 7, 11, 40, 90, 1e4, 1e12])
    def test_labels_do_not_overlap_in_a_narrow_panel(self, ratio):
        ax = axis(1.8)
        scale(ax, "x", [np.array([7e7, 7e7 * ratio])])
        ax.figure.draw_without_rendering()
        boxes = [t.get_window_extent() for t in ax.get_xticklabels()]
        seen = sorted((b.x0, b.x1) for b in boxes if 0 < (b.x0 + b.x1) / 2 < ax.bbox.x1)
        assert len(seen) >= 2
        assert all(a[1] < b[0] for a, b in pairwise(seen))

    def test_no_values_is_an_axis_all_the_same(self):
        for log in (True, False):
            scale(axis(), "x", [], log=log)


def test_given_ticks_keep_only_labels_that_have_room():
    ax = axis(2.5)
    ticks = [10_000, 30_000, 50_000, 100_000, 200_000]
    scale(ax, "x", [np.array(ticks)])
    label_ticks(ax, ticks)
    assert ax.get_xticks().tolist() == ticks
    labels = [t.get_text() for t in ax.get_xticklabels()]
    assert labels == ["10,000", "30,000", "", "100,000", ""]
