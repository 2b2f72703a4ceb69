"""Partial cores of full tensors are those that einsum gives, and so are their derivatives."""

import numpy as np
import pytest
from orthobench_tucker._kernels.partial_cores import TensorCores
from orthobench_tucker.sample_moments import monomials

from orthobench.tools.geometry import random_point

LETTERS = "abcdef"
SIZES = {
    2: [(2, 1), (5, 3), (20, 4)],
    3: [(1, 1), (7, 3), (15, 4), (16, 4), (17, 5), (33, 9), (40, 1)],
    4: [(3, 2), (15, 3), (16, 5), (19, 6)],
    5: [(4, 3), (16, 2)],
}
"""Sizes n and ranks by the order of a tensor."""


def contracted(T, factors):
    """T ·(I, A, B, ...) by einsum, a column for each tuple of columns."""
    order = T.ndim
    inner = LETTERS[1:order]
    terms = ",".join(letter + letter.upper() for letter in inner)
    result = np.einsum(f"{LETTERS[:order]},{terms}->a{inner.upper()}", T, *factors, optimize=True)
    return result.reshape(len(T), -1)


def at(T, Q):
    return contracted(T, [Q] * (T.ndim - 1))[:, monomials(Q.shape[1], T.ndim - 1).positions]


def along(T, Q, V):
    places = range(T.ndim - 1)
    total = sum(contracted(T, [V if p == place else Q for p in places]) for place in places)
    return total[:, monomials(Q.shape[1], T.ndim - 1).positions]


def cores_of(T):
    """Return the cores of a tensor, read-only as an oracle has it and kernels are compiled for."""
    T.flags.writeable = False
    return TensorCores(T)


@pytest.mark.parametrize(
    ("order", "n", "r"), [(order, *size) for order, sizes in SIZES.items() for size in sizes]
)
def test_at_and_along_are_einsum(tucker, order, n, r):
    T, rng = tucker.symmetric(n, order), np.random.default_rng(7)
    Q, V = random_point(n, r, rng), rng.standard_normal((n, r))
    cores = cores_of(T)
    scale = np.abs(T).sum() / n
    np.testing.assert_allclose(cores.at(Q), at(T, Q), rtol=0, atol=1e-14 * scale)
    moved = cores.along(Q, V, cores.pairs(Q))
    np.testing.assert_allclose(moved, along(T, Q, V), rtol=0, atol=1e-13 * scale)
    core = cores.core(np.ascontiguousarray(cores.first(Q)), Q)
    np.testing.assert_allclose(core, Q.T @ at(T, Q), rtol=0, atol=1e-14 * scale)
