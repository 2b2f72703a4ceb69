"""The closed formulae against operations counted one by one."""

from __future__ import annotations

import itertools

import pytest

from orthobench.tools import flops


def test_gemm_counts_a_product_and_an_addition_for_each_triple():
    for m, n, k in ((1, 1, 1), (3, 4, 5), (7, 2, 9)):
        counted = sum(2 for _ in itertools.product(range(m), range(n), range(k)))
        assert flops.gemm(m, n, k) == counted, (m, n, k)


def test_qr_is_the_leading_term_of_householder():
    # reflector j acts on columns j.. of R, then on columns j.. of Q, both from row j on:
    # an inner product and an update, 4 flops an entry
    for m, n in ((400, 100), (300, 300), (5000, 20)):
        counted = 2 * sum(4 * (m - j) * (n - j) for j in range(n))
        assert flops.qr(m, n) == pytest.approx(counted, rel=0.06), (m, n)


def test_a_rotation_takes_four_products_and_two_additions_a_row():
    assert flops.givens(1) == 6
    assert flops.givens(1000) == 6000


def test_an_svd_costs_the_same_of_the_transpose_and_dominates_a_qr():
    assert flops.svd(30, 70) == flops.svd(70, 30)
    assert flops.svd(70, 30) > flops.qr(70, 30) > 0
