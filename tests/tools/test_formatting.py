"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.tools.formatting import (
    clean,
    count,
    duration,
    listed,
    metric_text,
    number,
    plural,
    si,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (0.5, "0.500"), (0.01234, "0.0123"),
        (1.234e-3, "1.23e-3"), (2e-17, "2.00e-17"), (123.4, "123"), (12.34, "12.3"),
        (1.5e7, "1.50e7"), (-0.25, "-0.250"), (math.inf, "inf"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gap", 2.5e6, "2.50e6"), ("peak_bytes", 2.5 * 2**20, "2.5 MiB"),
        ("transfer_seconds", 0.0123, "12.3 ms"), ("peak_bytes", math.nan, "-"),
    ],
)  # fmt: skip
def test_metrics_have_the_unit_of_their_name(name, value, text):
    assert metric_text(name, value) == text


@given(st.floats(-1e300, 1e300))
def test_numbers_keep_three_digits(value):
    assert float(number(value)) == pytest.approx(value, rel=0.0051, abs=1e-320)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2e-8, "0.02 µs"), (1.24e-4, "124 µs"), (0.0123, "12.3 ms"), (0.9999, "1.00 s"),
        (9.999, "10.0 s"), (99.9, "99.9 s"), (99.96, "1 min 40 s"), (3725, "1 h 2 min"),
        (math.nan, "-"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1240, "1.24 k"),
        (1.2e9, "1.20 G"),
        (3e16, "30.0 P"),
        (999_990, "1.00 M"),
    ],
)
def test_prefixes(value, text):
    assert si(value) == text


def test_counts():
    assert count(20_000.0) == "20,000"


def test_clean_text_is_one_printable_line():
    assert clean("".join(map(chr, range(0x3100)))).isprintable()


def test_clean_takes_the_escape_out():
    assert clean("a\x1b[31m\n  b") == "a [31m b"


def test_counts_with_nouns():
    assert plural(1, "seed") == "1 seed"
    assert plural(0, "seed") == "0 seeds"
    assert plural(1200, "run") == "1,200 runs"


@pytest.mark.parametrize(
    ("names", "text"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcdef", "a, b, c, d, e and f"),
     ("abcdefg", "a, b, c, d, e and 2 others")],
)  # fmt: skip
def test_lists(names, text):
    assert listed(list(names)) == text
