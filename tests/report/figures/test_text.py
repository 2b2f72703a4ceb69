"""Text: as wide as allowed, numbers as ticks show them, names never read as formulas."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text

from orthobench.report.figures.text import balanced, fitted, legend_text, plain, power, width
from orthobench.tools.formatting import clean

WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1, max_size=30)


@given(st.lists(WORDS, max_size=8), st.floats(0.3, 3))
@example(["hoevd_steps=500"], 0.5)
def test_lines_are_no_wider_than_allowed_and_keep_all_letters(words, inches):
    lines = fitted(" ".join(words), inches, 7)
    assert all(width(line, 7) <= inches for line in lines)
    assert "".join("".join(lines).split()) == "".join(words)


def test_long_words_are_broken_where_their_parts_end():
    assert fitted("hoevd_steps=500", width("hoevd_steps=50", 7), 7) == ["hoevd_steps=", "500"]


def test_too_many_lines_end_in_an_ellipsis():
    lines = fitted("one two three four five six", 0.5, 9, 2)
    assert len(lines) == 2
    assert lines[-1].endswith(" …")
    assert all(width(line, 9) <= 0.5 for line in lines)


def test_balanced_lines_leave_no_word_alone():
    text = "share of instances solved to 10 %"
    room = width(text, 8) * 0.97
    assert fitted(text, room, 8)[-1] == "%"
    first, second = balanced(text, room, 8)
    assert min(map(len, (first, second))) > 10


@given(st.text())
@example("$x^2$")
@example(r"\$a$")
@example("_hidden")
def test_a_label_is_no_formula_and_no_secret(text):
    label = legend_text(clean(text))
    assert not label.startswith("_")
    drawn, math = label, is_math_text(label)
    assert not math
    assert drawn.replace(r"\$", "$").strip() == clean(text)


@pytest.mark.parametrize(("value", "most", "text"), [
    (0, 1, "0"), (0.05, 1, "0.05"), (20_000, 5e4, "20,000"), (-0.5, 1, "−0.5"),
    (3e8, 5e8, "3×10⁸"), (1e8, 5e8, "10⁸"), (2e-6, 1e-5, "2×10⁻⁶"),
    (200_000, 5e5, "200,000"), (200_000, 2e6, "2×10⁵"),
])  # fmt: skip
def test_numbers_of_ticks(value, most, text):
    assert plain(value, most) == text


def test_powers_of_ticks():
    assert [power(10.0**n) for n in (-12, 0, 3)] == ["10⁻¹²", "10⁰", "10³"]
