"""Sheets: what stands where, that nothing overlaps, how wide and how small it is."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.text import Text

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.errors import UsageError
from orthobench.report.figures.figure import (
    LAYOUTS,
    ONE_COLUMN,
    SCREEN,
    TWO_COLUMN,
    draw_figure,
    layout_of,
    metadata,
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
    fig = draw_figure(one, solver_styles("ab"), layout)
    with layout.applied():
        fig.canvas.draw()
    assert fig.get_figwidth() in layout.widths
    sizes = {text.get_fontsize() for text in fig.findobj(Text) if text.get_text().strip()}
    assert min(sizes) == layout.small >= 7
    assert fig.axes[0].lines[0].get_linewidth() == layout.line


@pytest.mark.wide
def test_panels_stand_side_by_side_where_they_fit_and_else_are_stacked():
    three = plot([toy()] * 3)
    for layout, columns in ((SCREEN, 3), (TWO_COLUMN, 3), (ONE_COLUMN, 1)):
        fig = sheet(three, layout)
        assert len({ax.get_subplotspec().colspan.start for ax in fig.axes}) == columns


def test_the_screen_has_a_title_and_small_print_and_papers_have_none(runs):
    one = convergence(choose(runs("a", 0.1)))
    fig = draw_figure(one, solver_styles("a"))
    assert fig.get_suptitle() == "digits k=4"
    small = " ".join(fig.get_supxlabel().split())
    assert all(part in small for part in one.about)
    paper = draw_figure(one, solver_styles("a"), TWO_COLUMN)
    assert (paper.get_suptitle(), paper.get_supxlabel()) == ("", "")


def test_titles_of_panels_stand_on_paper_where_there_are_several():
    roc = toy(title="ROC")
    screen, paper = sheet(plot([roc])), sheet(plot([roc]), ONE_COLUMN)
    stacked = sheet(plot([roc, toy()]), ONE_COLUMN)
    assert [ax.get_title() for ax in screen.axes] == ["ROC"]
    assert [ax.get_title() for ax in paper.axes] == [""]
    assert [ax.get_title() for ax in stacked.axes] == ["ROC", ""]
    assert [ax.get_ylabel() for ax in stacked.axes] == ["gap", "gap"]
    # on the screen title and small print are a line each, with half a line around them
    sizes = [fig.get_size_inches().tolist() for fig in (screen, paper, stacked)]
    assert sizes[0] == pytest.approx([8, 3.6 + 2 * 1.25 * (14 + 9.5) / 72])
    assert sizes[1:] == [[3.5, 2.1], [3.5, 4.2]]


def test_names_titles_and_small_print_are_folded_to_the_width_of_the_figure():
    words = "word " * 50
    fig = sheet(plot([toy(("a", words))], name=words, about=(words,)))
    (name, _), title, small = fig.axes[0].get_legend().get_texts(), fig._suptitle, fig._supxlabel
    assert title.get_position()[0] == small.get_position()[0] == 0.01
    # letters are 0.6 of their size wide; names take three tenths of the width
    for text, share, size in ((name, 0.3, 9.5), (title, 1.0, 1.1 * 14), (small, 1.0, 9.5)):
        letters = int(72 * 8 * share / (0.6 * size))
        assert letters - 5 <= max(map(len, text.get_text().split("\n"))) <= letters
    lines = [text.get_text().count("\n") + 2 for text in (title, small)]
    assert fig.get_figheight() == pytest.approx(3.6 + 1.25 * (lines[0] * 14 + lines[1] * 9.5) / 72)


def test_work_and_time_stand_on_one_scale_with_one_label(runs):
    fig = draw_figure(convergence(choose(runs("a", 0.1))), solver_styles("a"))
    left, right = fig.axes
    assert left.get_ylim() == right.get_ylim()
    assert (left.get_ylabel(), right.get_ylabel()) == ("gap", "")
    assert (left.get_xlabel(), right.get_xlabel()) == ("samples", "time (s), clock + reading")
    assert fig.get_figwidth() == 12


class TestLegends:
    def legends(self, fig):
        found = [ax.get_legend() for ax in fig.axes]
        return [[t.get_text() for t in one.get_texts()] if one else [] for one in found]

    def test_stand_beside_the_last_panel_and_beside_those_with_other_names(self):
        same = plot([toy(), toy()])
        assert self.legends(sheet(same)) == [[], ["b", "a"]]
        other = plot([toy(), toy(("a", "c"))])
        assert self.legends(sheet(other)) == [["b", "a"], ["c", "a"]]

    def test_names_are_in_the_order_of_the_ends_of_lines_which_lead_there(self):
        fig = sheet(plot([toy(tuple("abcdefghijklm"))]))
        assert self.legends(fig) == [list("mlkjihgfedcba")]
        leads = [np.array(line.get_xydata()) for line in fig.artists]
        assert len(leads) == 13
        for ends in np.array(leads).transpose(1, 0, 2):
            assert (np.diff(ends[:, 1]) < 0).all()  # none crosses another
        (ax,), inside = fig.axes, fig.transFigure.inverted().transform
        legend = ax.get_legend()
        box = legend.get_window_extent().transformed(ax.transAxes.inverted())
        assert (box.x0, box.y1) == pytest.approx((1.06, 1), abs=1e-3)
        assert not legend.get_frame_on()
        last = 20.0
        ends = inside(ax.transData.transform([(last, i / last) for i in range(13, 0, -1)]))
        texts = [text.get_window_extent() for text in legend.get_texts()]
        places = [(legend.get_window_extent().x0, (t.y0 + t.y1) / 2) for t in texts]
        np.testing.assert_allclose([lead[0] for lead in leads], ends)
        np.testing.assert_allclose([lead[1] for lead in leads], inside(places))
        assert {line.get_linewidth() for line in fig.artists} == {0.5}
        drawn = {line.get_label(): line.get_color() for line in ax.lines}
        assert [line.get_color() for line in fig.artists] == [drawn[s] for s in "mlkjihgfedcba"]

    def test_names_of_lines_that_are_nowhere_come_last(self):
        x = np.array([1.0, 2.0])
        dead = Series("dead", x, np.full(2, np.inf), solver="dead")
        one = toy()
        panel = Panel(one.x, one.y, (dead, *one.series))
        fig = sheet(plot([panel]))
        assert self.legends(fig) == [["b", "a", "dead"]]
        assert len(fig.artists) == 2

    def test_show_names_as_they_are(self):
        fig = sheet(plot([toy(("_c", "a_b$c^$"))]))
        assert self.legends(fig) == [["a_b$c^$", "_c"]]
        assert not any(t.get_parse_math() for t in fig.axes[0].get_legend().get_texts())


def test_rows_are_filled_evenly():
    for panels, columns in ((1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (7, 3), (10, 3)):
        assert SCREEN.columns_for(panels) == columns
        assert ONE_COLUMN.columns_for(panels) == 1


def test_metadata_have_title_and_caption_and_no_date():
    one = plot([toy()], name="a\nname", about=("b", "c"))
    assert metadata(one, "png") == {"Title": "a name", "Description": "b · c"}
    assert metadata(one, "svg") == {"Title": "a name", "Description": "b · c", "Date": None}
    assert metadata(one, "pdf") == {"Title": "a name", "Subject": "b · c", "CreationDate": None}


def test_an_unknown_style_suggests_the_nearest():
    assert layout_of("screen") is SCREEN
    with pytest.raises(UsageError, match="unknown style 'sreen'; did you mean 'screen'"):
        layout_of("sreen")
