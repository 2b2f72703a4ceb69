"""Sentences about comparisons: how intervals read."""

import math
from dataclasses import replace

import pytest

from orthobench.report.sentences import interval_text
from orthobench.stats.paired import compare_to_best


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        ((1.1, 1.9), "1.10 to 1.90"),
        ((1.0, 1.0), "1 to 1"),
        ((1.0, 1e7), "1 to more than a million"),
        ((2e6, 1e7), "more than a million"),
        ((2e6, math.inf), "more than a million to ∞"),
        ((math.inf, math.inf), "∞"),
    ],
)
def test_an_interval_of_factors_above_a_million_says_so_once(interval, text):
    (found,) = compare_to_best({"a": [1.0], "b": [2.0]}, "a")
    assert interval_text(replace(found, interval=interval)) == text
