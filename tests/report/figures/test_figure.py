"""Figures: places of panels and legends, overlaps, widths and sizes of letters."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.text import Text

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.figures.save import (
    LAYOUTS,
    ONE_COLUMN,
    SCREEN,
    TWO_COLUMN,
    draw_figure,
    sheet_panels,
)
from orthobench.report.plots.problems import convergence
from orthobench.report.style import solver_styles
from orthobench.results.tuning import choose

LONG = "a-rather-long-solver-name {} batch=100 hoevd_steps=500 start=projection"


def plot(panels, name="a plot", about=()):
    keys = [str(i) for i in range(len(panels))]
    by_key = dict(zip(keys, panels, strict=True))
    return Plot(
        name, "toy", {"which": keys}, lambda key: by_key[key[0]], [(k,) for k in keys], about
    )


def toy(solvers=("a", "b"), **more):
    x = np.geomspace(0.03, 20, 9)
    lines = tuple(Series(s, x, (i + 1) / x, solver=s) for i, s in enumerate(solvers))
    return Panel(more.pop("x", Axis("t", "time (s)")), Axis("gap", "gap"), lines, **more)


def sheet(one, layout=SCREEN):
    panels = sheet_panels(one)
    names = {line.solver for panel in panels for line in panel.series}
    return draw_figure(one, panels, solver_styles(names), layout)


def boxes(fig, layout):
    """Return the boxes of all texts, and of axes with their labels and names, in pixels."""
    with layout.applied():
        fig.canvas.draw()
        found = [text.get_window_extent() for text in fig.texts]
        return found + [ax.get_tightbbox() for ax in fig.axes]


CASES = [
    ("plain", 4, "screen"), ("plain", 5, "screen"), ("categories", 3, "two-column"),
    ("long names", 1, "one-column"),
    *(
        pytest.param(*case, marks=pytest.mark.wide)
        for case in (
            ("long names", 2, "screen"), ("titles", 1, "screen"), ("titles", 2, "one-column"),
            ("long names", 3, "two-column"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "panels", "style"), CASES)
@pytest.mark.wide
def test_nothing_overlaps_or_leaves_the_figure(style, panels, kind):
    layout = LAYOUTS[style]
    solvers = [LONG.format(i) for i in range(9)] if kind == "long names" else ["a", "b"]
    names = tuple(f"a-rather-long-name-{i}" for i in range(9))
    x = Axis("t", "a long label " * 9, log=False, categories=names)
    more = {"x": x} if kind == "categories" else {"title": "ROC"} if kind == "titles" else {}
    many = [toy(solvers, **more) for _ in range(panels)]
    fig = sheet(plot(many, "a title " * 30, ("what one must know",) * 12), layout)
    found = boxes(fig, layout)
    for box in found:
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= fig.bbox.width + 1
        assert box.y1 <= fig.bbox.height + 1
    for a, b in combinations(found, 2):
        assert min(a.x1, b.x1) - max(a.x0, b.x0) < 1 or min(a.y1, b.y1) - max(a.y0, b.y0) < 1


@pytest.mark.parametrize("style", LAYOUTS)
@pytest.mark.wide
def test_widths_and_smallest_letters_are_those_of_the_style(style, runs):
    layout = LAYOUTS[style]
    one = convergence(choose(runs("a", 0.0) + runs("b", 0.1)))
    fig = sheet(one, layout)
    with layout.applied():
        fig.canvas.draw()
    assert fig.get_figwidth() in layout.widths
    sizes = {text.get_fontsize() for text in fig.findobj(Text) if text.get_text().strip()}
    assert min(sizes) == layout.small >= 7
    assert fig.axes[0].lines[0].get_linewidth() == layout.line


@pytest.mark.wide
def test_panels_are_side_by_side_if_they_fit_else_stacked():
    three = plot([toy()] * 3)
    for layout, columns in ((SCREEN, 3), (TWO_COLUMN, 3), (ONE_COLUMN, 1)):
        fig = sheet(three, layout)
        assert len({ax.get_subplotspec().colspan.start for ax in fig.axes}) == columns


def test_only_screen_figures_have_title_and_caption(runs):
    one = convergence(choose(runs("a", 0.1)))
    fig = sheet(one)
    assert fig.get_suptitle() == "digits k=4"
    small = " ".join(fig.get_supxlabel().split())
    assert all(part in small for part in one.about)
    paper = sheet(one, TWO_COLUMN)
    assert (paper.get_suptitle(), paper.get_supxlabel()) == ("", "")


def test_work_and_time_share_a_scale_and_its_label(runs):
    fig = sheet(convergence(choose(runs("a", 0.1))))
    left, right = fig.axes
    assert left.get_ylim() == right.get_ylim()
    assert (left.get_ylabel(), right.get_ylabel()) == ("gap", "")
    assert (left.get_xlabel(), right.get_xlabel()) == ("samples", "time (s), clock + reading")
    assert fig.get_figwidth() == 12


def legends(fig):
    found = [ax.get_legend() for ax in fig.axes]
    return [[t.get_text() for t in one.get_texts()] if one else [] for one in found]


def test_legend_is_beside_last_panel_and_those_of_other_names():
    assert legends(sheet(plot([toy(), toy()]))) == [[], ["b", "a"]]
    assert legends(sheet(plot([toy(), toy(("a", "c"))]))) == [["b", "a"], ["c", "a"]]


def test_legend_takes_a_free_place_and_no_room_of_panels():
    fig = sheet(plot([toy()] * 5))
    widths = [ax.get_position().width for ax in fig.axes]
    assert max(widths) < 1.02 * min(widths)
    left = fig.axes[-1].get_legend().get_window_extent().x0
    assert left > fig.axes[-1].bbox.x1


def test_legend_has_the_order_of_the_ends_of_lines():
    x = np.array([1.0, 2.0])
    dead = Series("dead", x, np.full(2, np.inf), solver="dead")
    one = toy(("_c", "a_b$c^$"))
    fig = sheet(plot([Panel(one.x, one.y, (dead, *one.series))]))
    assert legends(fig) == [["a_b$c^$", "_c", "dead"]]
    assert not any(t.get_parse_math() for t in fig.axes[0].get_legend().get_texts())
