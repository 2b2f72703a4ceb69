"""The span of a basis and a block: coordinates, orthonormality, causality, writing back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orthobench_stochastic_pca._kernels.span import (
    MAX_DRIFT,
    MAX_IMPLICIT_DRIFT,
    expand,
    workspace,
    write_basis,
)

from orthobench.tools.geometry import drift, random_point


def basis(rng, d, m):
    return np.ascontiguousarray(random_point(d, m, rng).T) if m else np.empty((0, d))


def gaussian(rng, U, count):
    return rng.standard_normal((count, U.shape[1]))


def unit_vectors(rng, U, count):
    return np.eye(U.shape[1])[rng.integers(0, U.shape[1], count)]


def duplicated(rng, U, count):
    X = rng.standard_normal((count, U.shape[1]))
    return X[rng.integers(0, 1 + count // 2, count)] * rng.choice([0.0, 1.0, -3.0], (count, 1))


def almost_inside(rng, U, count):
    X = rng.standard_normal((count, U.shape[1]))
    return X @ U.T @ U + 10.0 ** rng.uniform(-12, 0) * X


def almost_equal(rng, U, count):
    X = rng.standard_normal((count, U.shape[1]))
    return X[0] + 10.0 ** rng.uniform(-9, 0) * X


def scaled(rng, U, count):
    return gaussian(rng, U, count) * 10.0 ** rng.uniform(-200, 140, (count, 1))


KINDS = [gaussian, unit_vectors, duplicated, almost_inside, almost_equal, scaled]

blocks = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 8), st.integers(1, 16),
    st.sampled_from(KINDS),
)  # fmt: skip


def opened(block):
    seed, d, m, count, kind = block
    rng, m = np.random.default_rng(seed), min(m, d)
    U = basis(rng, d, m)
    return U, kind(rng, U, count)


def expanded(U, X, defect=0.0):
    V, work = np.vstack([U, X]), workspace(len(U) + len(X), len(X), U.shape[1])
    span = expand(V, len(U), len(X), defect, work)
    return V, span, work


def orthonormal_basis(U, X):
    """The rows [U; Q], found by writing back the identity."""
    V, span, work = expanded(U, X)
    n = span.m + span.q
    new = np.empty_like(V)
    write_basis(V, span, np.eye(n), new, work)
    return new[:n], work.coords[:, :n], work.extent


@settings(max_examples=60)
@given(blocks)
def test_samples_are_their_coordinates(block):
    U, X = opened(block)
    B, coords, extent = orthonormal_basis(U, X)
    norms = np.linalg.norm(X, axis=1)
    assert np.all(np.linalg.norm(coords @ B - X, axis=1) <= 2e-10 * norms + 1e-140)
    assert np.abs(B @ B.T - np.eye(len(B))).max(initial=0.0) <= 1e-12
    np.testing.assert_allclose(B[: len(U)], U, rtol=0, atol=1e-12)
    for row, end in zip(coords, extent, strict=True):
        assert not row[end:].any()


@given(blocks)
def test_coordinates_depend_on_earlier_samples_only(block):
    U, X = opened(block)
    _, whole, extent = orthonormal_basis(U, X)
    half = 1 + len(X) // 2
    _, part, part_extent = orthonormal_basis(U, X[:half])
    np.testing.assert_array_equal(extent[:half], part_extent)
    scale = np.linalg.norm(X[:half], axis=1)[:, None]
    assert np.all(np.abs(whole[:half, : part.shape[1]] - part) <= 1e-9 * scale + 1e-140)


@pytest.mark.parametrize("kind", [gaussian, almost_inside])
@pytest.mark.parametrize("d", [60, 4000])
def test_any_rotation_of_the_basis_is_written_back(kind, d):
    rng = np.random.default_rng(5)
    U = basis(rng, d, 7)
    X = kind(rng, U, 16)
    B, _, _ = orthonormal_basis(U, X)
    V, span, work = expanded(U, X)
    W = np.ascontiguousarray(random_point(span.m + span.q, 5, rng).T)
    new = np.empty_like(V)
    write_basis(V, span, W.copy(), new, work)
    np.testing.assert_allclose(new[:5], W @ B, rtol=0, atol=1e-12)


def test_no_direction_from_zero_tiny_repeated_or_inner_samples():
    rng = np.random.default_rng(7)
    U = basis(rng, 30, 4)
    x, inside = rng.standard_normal(30), rng.standard_normal(4) @ U
    X = np.array([x, 0 * x, 1e-200 * rng.standard_normal(30), -2 * x, inside, inside + 1e-11 * x])
    _, span, work = expanded(U, X)
    assert span.q == 1
    assert work.extent.tolist() == [5] * 6
    assert np.isfinite(work.coords).all()


def test_a_defect_of_the_basis_is_not_amplified():
    rng = np.random.default_rng(9)
    U = basis(rng, 50, 5) + 1e-13 * rng.standard_normal((5, 50))
    X = almost_inside(rng, U, 16)
    V, span, work = expanded(U, X, defect=1e-12)
    assert not span.implicit
    new = np.empty_like(V)
    assert write_basis(V, span, np.eye(span.m + span.q), new, work) < MAX_DRIFT < MAX_IMPLICIT_DRIFT
    assert drift(new[: span.m + span.q].T) <= 1e-14
