"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.tools.formatting import (
    assignments,
    budget_text,
    clean,
    duration,
    listed,
    number,
    short,
    si,
)


def test_numbers():
    for value, text in (
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (0.5, "0.500"), (0.01234, "0.0123"),
        (1.234e-3, "1.23e-3"), (2e-17, "2.00e-17"), (123.4, "123"), (12.34, "12.3"),
        (1.5e7, "1.50e7"), (-0.25, "-0.250"), (math.inf, "inf"), (math.nan, "-"),
        (-math.inf, "-inf"), (0.01, "0.0100"), (0.00999, "9.99e-3"), (99999.5, "100000"),
        (1e5, "1.00e5"), (-1e5, "-1.00e5"), (1000.0, "1000"), (1234.5, "1234"), (10.0, "10"),
        (9.0, "9"), (99.5, "99.5"), (1e-100, "1.00e-100"), (-0.01, "-0.0100"),
    ):  # fmt: skip
        assert number(value) == text, value


@given(st.floats(-1e300, 1e300))
def test_numbers_keep_three_digits(value):
    assert float(number(value)) == pytest.approx(value, rel=0.0051, abs=1e-320)


def test_durations():
    for seconds, text in (
        (2e-8, "0.02 µs"), (1.24e-4, "124 µs"), (0.0123, "12.3 ms"), (0.9999, "1.00 s"),
        (9.999, "10.0 s"), (99.9, "99.9 s"), (99.96, "1 min 40 s"), (3725, "1 h 2 min"),
        (math.nan, "-"), (0.0, "0.00 µs"), (9.994, "9.99 s"), (9.996, "10.0 s"),
        (99.94, "99.9 s"), (99.95, "1 min 40 s"), (0.9994, "999 ms"), (9.994e-4, "999 µs"),
        (9.996e-4, "1.00 ms"), (119.6, "2 min 0 s"), (3599.4, "59 min 59 s"),
        (3599.6, "1 h 0 min"), (7322, "2 h 2 min"), (1e-6, "1.00 µs"), (0.9995, "1.00 s"),
        (9.995, "10.0 s"),
    ):  # fmt: skip
        assert duration(seconds) == text, seconds


def test_prefixes():
    for value, text in (
        (0, "0"), (999, "999"), (1240, "1.24 k"), (1.2e9, "1.20 G"), (3e16, "30.0 P"),
        (999_990, "1.00 M"), (999.6, "1.00 k"), (99_960, "100 k"), (2.5e12, "2.50 T"),
        (math.nan, "-"),
    ):  # fmt: skip
        assert si(value) == text, value


def test_values_of_parameters():
    assert [short(value) for value in (2.0, 2, 0.1, True)] == ["2", "2", "0.1", "True"]
    assert assignments({"step": 2.0, "K": 9}) == "step=2, K=9"
    assert assignments({"step": 2.0, "name": "a\nb"}, " ") == "step=2 name=a b"


def test_budgets():
    for budget, text in (
        ({}, ""), ({"samples": 2000}, "budget 2,000 samples"), ({"seconds": 0.5}, "budget 500 ms"),
        ({"flops": 2e9, "steps": 10.0}, "budget 2.00 G flops, 10 steps"),
        ({"steps": 1}, "budget 1 step"),
    ):  # fmt: skip
        assert budget_text(budget) == text, budget


def test_clean_text_is_one_printable_line():
    assert clean("".join(map(chr, range(0x3100)))).isprintable()


def test_lists():
    for names, text in (
        ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcdef", "a, b, c, d, e and f"),
        ("abcdefg", "a, b, c, d, e and 2 others"),
    ):  # fmt: skip
        assert listed(list(names)) == text, names
