"""Contractions of tensors of order 3 and 4 against their definition."""

from itertools import product

import numpy as np
import pytest
from orthobench_orthogonal_tensor.problems.odeco import symmetric_gaussian
from orthobench_orthogonal_tensor.solvers.randomized_joint_diagonalization import (
    images,
    images_flops,
    random_matrix,
)

from orthobench.testing import counted, counting

BY_DEFINITION = {3: "abc,bk,ck->ak", 4: "abcd,bk,ck,dk->ak"}


def test_images_are_those_of_the_definition():
    for case in product([1, 2, 6], [3, 4]):
        n, order = case
        rng = np.random.default_rng([order, n])
        T, U = symmetric_gaussian(n, rng, order), rng.standard_normal((n, 4))
        expected = np.einsum(BY_DEFINITION[order], T, *[U] * (order - 1))
        np.testing.assert_allclose(images(T, U), expected, atol=1e-12, err_msg=f"{case}")


@pytest.mark.parametrize("order", [3, 4])
def test_the_flops_of_images_are_those_done(order):
    rng = np.random.default_rng(0)
    T, U = symmetric_gaussian(8, rng, order), rng.standard_normal((8, 5))
    with counting() as tally:
        images(counted(T), counted(U))
    assert images_flops(8, 5, order) == pytest.approx(tally.flops, rel=0.01)


def test_a_random_matrix_is_a_contraction_with_one_vector():
    T = symmetric_gaussian(5, np.random.default_rng(0), 4)
    mu = np.random.default_rng(1).standard_normal(5)
    expected = np.einsum("abcd,c,d->ab", T, mu, mu)
    np.testing.assert_allclose(random_matrix(T, np.random.default_rng(1)), expected, atol=1e-13)
