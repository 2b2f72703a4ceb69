"""Layouts: what the styles promise."""

import matplotlib as mpl
import pytest

from orthobench.errors import UsageError
from orthobench.report.figures.figure import LAYOUTS, ONE_COLUMN, SCREEN, TWO_COLUMN, layout_of


def test_papers_have_the_widths_of_columns_and_legible_letters():
    assert set(ONE_COLUMN.widths) == {3.5}
    assert set(TWO_COLUMN.widths) == {7.16}
    for layout in (ONE_COLUMN, TWO_COLUMN):
        assert min(layout.title, layout.text, layout.small) >= 7
        assert not layout.titled
        assert layout.line >= 0.5


def test_rows_are_filled_evenly():
    assert [SCREEN.columns_for(n) for n in range(1, 8)] == [1, 2, 3, 2, 3, 3, 3]
    assert [ONE_COLUMN.columns_for(n) for n in range(1, 4)] == [1, 1, 1]


def test_settings_hold_inside_only_whatever_the_user_has_set():
    with mpl.rc_context({"lines.linewidth": 9, "axes.grid": True, "text.usetex": False}):
        with TWO_COLUMN.applied():
            assert mpl.rcParams["lines.linewidth"] == TWO_COLUMN.line
            assert mpl.rcParams["pdf.fonttype"] == 42
            assert not mpl.rcParams["axes.grid"]
        assert mpl.rcParams["lines.linewidth"] == 9


def test_a_misspelt_style_is_told_what_is_near():
    assert layout_of("one-column") is LAYOUTS["one-column"]
    with pytest.raises(UsageError, match="did you mean 'two-column'"):
        layout_of("two-columns")
