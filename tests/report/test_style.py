"""Styles: distinct, stable, never by colour alone."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from orthobench.report.style import COLOURS, LINES, MARKERS, solver_styles


@given(st.sets(st.text(), max_size=60))
def test_no_two_solvers_share_a_style(names):
    assert len(set(solver_styles(names).values())) == len(names)


@given(st.lists(st.text(), max_size=20), st.randoms())
def test_depend_on_the_set_of_names_alone(names, rnd):
    shuffled = [*names, *names]
    rnd.shuffle(shuffled)
    assert solver_styles(names) == solver_styles(shuffled)


def test_neighbours_differ_in_colour_line_and_marker():
    found = list(solver_styles(map(str, range(9))).values())
    for a, b in pairwise(found):
        assert a.colour != b.colour
        assert a.line != b.line
        assert a.marker != b.marker


def test_up_to_nine_solvers_have_markers_of_their_own():
    assert len({style.marker for style in solver_styles(map(str, range(9))).values()}) == 9


def test_252_solvers_differ():
    assert len(set(solver_styles(map(str, range(252))).values())) == 252


def test_colours_contrast_with_white():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    assert all(1.05 / (luminance(colour) + 0.05) > 2.1 for colour in COLOURS)
    assert len(set(LINES)) == 4
    assert len(set(MARKERS)) == 9
