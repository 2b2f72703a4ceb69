"""Partial cores of moments of samples agree with those of the tensor, entry by entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker._kernels.partial_cores import SampleCores, TensorCores
from orthobench_tucker.sample_moments import moment_tensor, monomials, partial_core

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
    close(samples.along(Q, V), tensor.along(Q, V, tensor.pairs(Q)), full * np.abs(V).max())


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
