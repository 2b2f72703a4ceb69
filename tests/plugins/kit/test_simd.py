import numpy as np
import pytest
from orthobench_kit.compiled import kernel
from orthobench_kit.simd import (
    bits,
    count_bits,
    every,
    largest,
    load,
    lowest_bit,
    magnitude,
    root,
    store,
    total,
    where,
)

N = 16
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal(N + 5), RNG.standard_normal(N + 5)


@kernel
def arithmetic(x, y):
    return (x + 2.0 * y) / (3.0 - x) - y * 0.5 + 1.0 / y


@kernel
def chosen(x, y):
    both, either = (x < y) & (x <= 0.5), (x > y) | (y >= 0.5)
    return where(both, x, where(either, root(magnitude(y)), -1.0))


@kernel
def in_lanes(x, y, first, out):
    a, b = load(x, first), load(y, first)
    store(out[0], first, arithmetic(a, b))
    store(out[1], first, chosen(a, b))
    return total(a), largest(a), every(a < 9.0), every(a == a + 0.0 * b), every(a > b)


def test_lanes_calculate_as_numpy_does():
    for first in (0, 5):
        out = np.zeros((2, N + 5))
        sum_, most, below, same, above = in_lanes(X, Y, first, out)
        x, y = X[first : first + N], Y[first : first + N]
        at, others = slice(first, first + N), np.r_[:first, first + N : N + 5]
        expected = (x + 2 * y) / (3 - x) - y / 2 + 1 / y
        np.testing.assert_allclose(out[0, at], expected, rtol=1e-13)
        both, either = (x < y) & (x <= 0.5), (x > y) | (y >= 0.5)
        np.testing.assert_allclose(
            out[1, at], np.where(both, x, np.where(either, np.sqrt(np.abs(y)), -1)), rtol=1e-15
        )
        assert not out[:, others].any(), first
        assert sum_ == pytest.approx(x.sum(), rel=1e-13), first
        assert most == x.max(), first
        assert (below, same, above) == (True, True, False), first


@kernel
def comparing_with_nan(x):
    return every(load(x, 0) < 9.0), every(load(x, 0) == load(x, 0))


def test_nan_compares_as_false():
    x = X[:N].copy()
    x[3] = np.nan
    assert comparing_with_nan(x) == (False, False)


@kernel
def as_integer(x, bound):
    word = bits(load(x, 0) < bound)
    return word, lowest_bit(word), count_bits(word)


def test_masks_become_integers():
    for bound in (-9.0, -1.0, 0.0, 9.0):
        expected = sum(1 << lane for lane in range(N) if X[lane] < bound)
        word, first, ones = as_integer(X, bound)
        assert word == expected, bound
        assert ones == expected.bit_count(), bound
        assert first == ((expected & -expected).bit_length() - 1 if expected else 64), bound


@kernel
def of_an_integer(word):
    return lowest_bit(word), count_bits(word)


def test_bits_of_negative_integers():
    assert of_an_integer(-(2**63)) == (63, 1)
    assert of_an_integer(-1) == (0, 64)
