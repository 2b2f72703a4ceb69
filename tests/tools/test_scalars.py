"""Numbers of Python, and arrays of shape () in their place."""

import math

import array_api_strict as strict
import numpy as np
import pytest

from orthobench.tools import scalars

A = np.random.default_rng(0).standard_normal((4, 3))
B = np.random.default_rng(1).standard_normal((4, 3))


def elsewhere(value):
    return strict.asarray(value)


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (scalars.root, (2.0,)),
        (scalars.least, (2.0, 3.0)),
        (scalars.least, (3.0, 2.0)),
        (scalars.greatest, (2.0, 3.0)),
        (scalars.not_finite, (math.nan,)),
        (scalars.not_finite, (1.0,)),
        (lambda x, y: scalars.ratio(x, y, 7.0), (1.0, 4.0)),
        (lambda x, y: scalars.ratio(x, y, 7.0), (1.0, 0.0)),
        (lambda x, y: scalars.chosen(x < y, x + 1, 5), (1.0, 4.0)),
        (lambda x, y: scalars.chosen(x > y, x + 1, 5), (1.0, 4.0)),
        (lambda x, y: scalars.chosen(x < y, 3, 0), (1.0, 4.0)),
    ],
)
def test_numbers_and_arrays_give_the_same(function, numbers):
    ours = function(*numbers)
    assert isinstance(ours, (float, int))
    theirs = function(*map(elsewhere, numbers))
    assert theirs.shape == ()
    assert float(theirs) == ours


def test_products_and_lengths_are_numbers_with_numpy_only():
    for ours, theirs in (
        (scalars.inner(A, B), scalars.inner(elsewhere(A), elsewhere(B))),
        (scalars.length(A), scalars.length(elsewhere(A))),
    ):
        assert type(ours) is float
        assert float(theirs) == pytest.approx(ours, rel=1e-14)
    assert scalars.numbers(elsewhere(1.5), elsewhere(2.0)) == scalars.numbers(1.5, 2.0) == [1.5, 2]
