"""Partial cores of moments of samples agree with those of the tensor, entry by entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker._kernels.monomial_products import monomial_products
from orthobench_tucker._kernels.sample_cores import SampleCores, block_rows
from orthobench_tucker._kernels.tensor_cores import TensorCores
from orthobench_tucker.full_tensors import moment_tensor
from orthobench_tucker.sample_moments import (
    core_norm_squared,
    gradient,
    monomials,
    partial_core,
)

SIZES = st.tuples(
    st.integers(1, 6), st.integers(1, 40), st.integers(2, 5), st.integers(0, 2**31)
).flatmap(lambda s: st.tuples(*map(st.just, s), st.integers(1, s[0])))


def drawn(n, p, seed, r):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((p, n)),
        np.linalg.qr(rng.standard_normal((n, r)))[0],
        rng.standard_normal((n, r)),
    )


def close(A, B, scale=None):
    """Agree relative to the size of the terms that are summed."""
    np.testing.assert_allclose(
        A, B, rtol=1e-11, atol=1e-12 * np.abs(B if scale is None else scale).max()
    )


@given(SIZES)
def test_at_and_along_agree_with_the_tensor(sizes):
    n, p, order, seed, r = sizes
    X, Q, V = drawn(n, p, seed, r)
    T = moment_tensor(X, order)
    full = np.abs(np.linalg.norm(X, axis=1) ** order).mean()
    samples, tensor = SampleCores(X, order), TensorCores(T)
    assert samples.at(Q).shape == (n, monomials(r, order - 1).size)
    close(samples.at(Q), tensor.at(Q), full)
    close(samples.along(Q, V), tensor.along(Q, V), full * np.abs(V).max())


@pytest.mark.parametrize(
    ("n", "p", "order", "r"),
    [(60, 300, 3, 5), (7, 1001, 4, 3), (40, 500, 2, 40), (12, 2000, 5, 2), (50, 250, 3, 30)],
)
def test_many_blocks_agree_with_one(n, p, order, r):
    X, Q, V = drawn(n, p, 1, r)
    close(SampleCores(X, order).at(Q), partial_core(X, Q, order))
    step = 1e-5
    around = [partial_core(X, Q + s * V, order) for s in (step, -step)]
    change = (around[0] - around[1]) / (2 * step)
    np.testing.assert_allclose(
        SampleCores(X, order).along(Q, V), change, atol=1e-6 * np.abs(change).max()
    )


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_the_gradient_is_that_of_finite_differences(order):
    X, Q, V = drawn(6, 30, order, 3)
    cores = SampleCores(X, order)

    def objective(Q):
        return core_norm_squared(Q.T @ cores.at(Q), order)

    W = cores.at(Q)
    exact = np.vdot(gradient(W, Q.T @ W, order), V)
    step = 1e-5
    differences = (objective(Q + step * V) - objective(Q - step * V)) / (2 * step)
    assert exact == pytest.approx(differences, rel=1e-6)


def test_any_memory_order_gives_the_same_bits():
    X, Q, _ = drawn(20, 100, 0, 4)
    cores = SampleCores(X, 3)
    np.testing.assert_array_equal(cores.at(Q), cores.at(np.asfortranarray(Q)))
    frozen = Q.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(cores.at(Q), cores.at(frozen))


@pytest.mark.parametrize(("variables", "degree"), [(1, 4), (3, 1), (4, 3), (2, 4)])
def test_the_products_make_the_monomials_in_their_order(variables, degree):
    made = monomial_products(variables, degree)
    Z = np.random.default_rng(0).standard_normal((variables, 5))
    rows = list(Z)
    for parent, last in zip(made.parents[variables:], made.last[variables:], strict=True):
        rows.append(rows[parent] * rows[last])
    np.testing.assert_allclose(rows[-made.size :], monomials(variables, degree).of(Z))


@given(st.integers(1, 10**4), st.integers(1, 100), st.integers(1, 10**4))
def test_blocks_are_of_a_sensible_size(n, rank, size):
    assert 32 <= block_rows(n, rank, size) <= 240


def test_flops_are_those_of_its_products(tucker):
    X, *_ = drawn(11, 13, 0, 4)
    cores, N = SampleCores(X, 4), monomials(4, 3).size
    products = 2 * 13 * 11 * 4 + 2 * 13 * 11 * N + 13 * N
    assert cores.at_flops(4) == products
    assert cores.along_flops(4) == products + 2 * 13 * 11 * 4 + 2 * 13 * N
