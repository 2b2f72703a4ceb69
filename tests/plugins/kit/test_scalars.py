"""Numbers of Python, and arrays of shape () in their place."""

import math

import array_api_strict as strict
from orthobench_kit import arrays
from orthobench_kit.arrays import where


def elsewhere(value):
    return strict.asarray(value)


def test_numbers_and_arrays_give_the_same():
    for function, numbers in (
        (arrays.sqrt, (2.0,)),
        (arrays.minimum, (2.0, 3.0)),
        (arrays.minimum, (3.0, 2.0)),
        (arrays.maximum, (2.0, 3.0)),
        (arrays.not_finite, (math.nan,)),
        (arrays.not_finite, (1.0,)),
        (lambda x, y: arrays.ratio(x, y, 7.0), (1.0, 4.0)),
        (lambda x, y: arrays.ratio(x, y, 7.0), (1.0, 0.0)),
        (lambda x, y: where(x < y, x + 1, 5), (1.0, 4.0)),
        (lambda x, y: where(x > y, x + 1, 5), (1.0, 4.0)),
        (lambda x, y: where(x < y, 3, 0), (1.0, 4.0)),
    ):
        ours = function(*numbers)
        assert isinstance(ours, (float, int)), numbers
        theirs = function(*map(elsewhere, numbers))
        assert theirs.shape == (), numbers
        assert float(theirs) == ours, numbers
