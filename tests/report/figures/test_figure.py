"""Sheets: what stands where, that nothing overlaps, how wide and how small it is."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.text import Text

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.figures.figure import (
    LAYOUTS,
    ONE_COLUMN,
    SCREEN,
    TWO_COLUMN,
    draw_figure,
    sheet_panels,
)
from orthobench.report.plots.convergence import convergence
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
    names = {line.solver for panel in panels.values() for line in panel.series}
    return draw_figure(one, solver_styles(names), layout)


def boxes(fig, layout):
    """Where all texts above and axes with their labels and names are, in pixels."""
    with layout.applied():
        fig.canvas.draw()
        found = [text.get_window_extent() for text in fig.texts]
        return found + [ax.get_tightbbox() for ax in fig.axes]


CASES = [
    ("plain", 4, "screen"), ("categories", 3, "two-column"), ("long names", 1, "one-column"),
    *(
        pytest.param(*case, marks=pytest.mark.wide)
        for case in (
            ("long names", 2, "screen"), ("titles", 1, "screen"), ("titles", 2, "one-column"),
            ("long names", 3, "two-column"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "panels", "style"), CASES)
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
def test_widths_and_smallest_letters_are_those_of_the_style(style, runs):
    layout = LAYOUTS[style]
    one = convergence(choose(runs("a", 0.0) + runs("b", 0.1)))
    fig = draw_figure(one, solver_styles("ab"), layout)
    with layout.applied():
        fig.canvas.draw()
    assert fig.get_figwidth() in layout.widths
    sizes = {text.get_fontsize() for text in fig.findobj(Text) if text.get_text().strip()}
    assert min(sizes) == layout.small >= 7
    assert fig.axes[0].lines[0].get_linewidth() == layout.line


def test_panels_stand_side_by_side_where_they_fit_and_else_are_stacked():
    three = plot([toy()] * 3)
    for layout, columns in ((SCREEN, 3), (TWO_COLUMN, 3), (ONE_COLUMN, 1)):
        fig = sheet(three, layout)
        assert len({ax.get_position().x0 for ax in fig.axes}) == columns
        heights = [ax.get_position().height * fig.get_figheight() for ax in fig.axes]
        assert heights == pytest.approx([layout.height] * 3)


def test_the_screen_has_a_title_and_small_print_and_papers_have_none(runs):
    one = convergence(choose(runs("a", 0.1)))
    title, about = (text.get_text() for text in draw_figure(one, solver_styles("a")).texts)
    assert title == "digits k=4"
    assert about == (
        "PCA · median over 5 seeds, band: 25 to 75 % · | where all runs of a solver ended before "
        "their budget: data used up"
    )
    assert not draw_figure(one, solver_styles("a"), TWO_COLUMN).texts


def test_titles_of_panels_stand_on_paper_where_there_are_several():
    roc = toy(title="ROC")
    assert [ax.get_title() for ax in sheet(plot([roc])).axes] == ["ROC"]
    assert [ax.get_title() for ax in sheet(plot([roc]), ONE_COLUMN).axes] == [""]
    assert [ax.get_title() for ax in sheet(plot([roc, toy()]), ONE_COLUMN).axes] == ["ROC", ""]


def test_work_and_time_stand_on_one_scale_with_one_label(runs):
    fig = draw_figure(convergence(choose(runs("a", 0.1))), solver_styles("a"))
    left, right = fig.axes
    assert left.get_ylim() == right.get_ylim()
    assert (left.get_ylabel(), right.get_ylabel()) == ("gap", "")
    assert (left.get_xlabel(), right.get_xlabel()) == ("samples", "time (s), clock + reading")


class TestNames:
    def names(self, ax):
        return [text for text in ax.texts if text.get_position()[0] > 1]

    def test_stand_in_the_order_of_the_ends_of_lines_and_do_not_overlap(self):
        x = np.arange(1.0, 9)
        levels = {"c": 1.02, "a": 1.0, "d": 50.0, "b": 1.01, "bound": 0.9}
        lines = [Series(s, x, y / x, solver=s * (s != "bound")) for s, y in levels.items()]
        fig = sheet(plot([Panel(Axis("x", "x"), Axis("y", "y"), tuple(lines))]))
        found = self.names(fig.axes[0])
        assert [t.get_text() for t in found] == ["bound", "a", "b", "c", "d"]
        boxes = [Text.get_window_extent(text) for text in found]  # without its leader
        assert all(a.y1 <= b.y0 + 1 for a, b in pairwise(boxes))

    @pytest.mark.parametrize(("style", "named"), [("screen", [2, 2]), ("two-column", [2, 2])])
    def test_stand_beside_each_panel_that_stays_as_wide_as_high(self, style, named):
        fig = sheet(plot([toy(), toy()]), LAYOUTS[style])
        assert [len(self.names(ax)) for ax in fig.axes] == named
        wide = sheet(plot([toy(("a", "a-long-name-of-a-solver"))] * 3), LAYOUTS[style])
        assert [len(self.names(ax)) for ax in wide.axes] == [0, 0, 2]

    def test_make_panels_as_high_as_they_need(self):
        many = [f"solver-{i:02}" for i in range(40)]
        found = self.names(sheet(plot([toy(many)])).axes[0])
        boxes = [Text.get_window_extent(text) for text in found]  # without its leader
        assert all(a.y1 <= b.y0 + 1 for a, b in pairwise(boxes))

    def test_are_shown_as_they_are(self):
        found = self.names(sheet(plot([toy(("_c", "a_b$c^$"))])).axes[0])
        assert sorted(t.get_text() for t in found) == ["_c", "a_b$c^$"]
        assert not any(t.get_parse_math() for t in found)

    def test_of_what_has_no_point_have_no_leader(self):
        nothing = Series("b", np.ones(2), np.full(2, np.inf), solver="b")
        one = Panel(Axis("x", "x"), Axis("y", "y"), (*toy(("a",)).series, nothing))
        found = {t.get_text(): t.arrow_patch for t in self.names(sheet(plot([one])).axes[0])}
        assert found["a"] is not None
        assert found["b"] is None


def test_bands_of_some_are_named():
    x = np.geomspace(1, 9, 5)
    lines = tuple(Series(s, x, 1 / x, 0.5 / x, 2 / x, solver=s) for s in "abcd")
    one = plot([Panel(Axis("x", "x"), Axis("y", "y"), lines)])
    fig = draw_figure(one, solver_styles("abcd"), banded=["a", "c"])
    assert len(fig.axes[0].collections) == 2
    assert fig.texts[-1].get_text() == "bands of a and c alone"
    assert len(draw_figure(one, solver_styles("abcd")).axes[0].collections) == 4


def test_a_plot_without_a_sheet_shows_its_first_panel():
    one = Plot("p", "toy", {"y": ("a", "b")}, lambda key: toy(title=key[0]))
    assert list(sheet_panels(one)) == [("a",)]
    assert len(sheet(one).axes) == 1
