"""Rounding: from a feasible matrix of the relaxation to a subspace of dimension k."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, complete

ROUNDING = 1e-12
"""Weights and differences of the trace up to this are rounding."""


def corners(values: Array, k: int) -> Iterator[tuple[float, NDArray[np.intp]]]:
    """Decompose a feasible matrix into a convex combination of projections of rank k.

    These are the corners, or extreme points, of the feasible set.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues in [0, 1] with sum k.
    k : int

    Yields
    ------
    weight : float
        All weights sum to one.
    chosen : ndarray of int, shape (k,)
        The eigenvectors that span the corner. The indicators of all `chosen`, weighted, sum to
        `values`.

    Notes
    -----
    At most n corners: each weight takes one value to zero, or makes one equal to the remaining
    weight, and there it stays. O(n log n) operations each.

    References
    ----------
    Warmuth and Kuzmin 2008, Algorithm 2; Arora, Cotter and Srebro 2013, Lemma 3.1.
    """
    left, total = np.clip(values, 0.0, 1.0), 1.0
    while total > 0.0:
        order = np.argsort(-left, kind="stable")
        chosen, others = order[:k], order[k:]
        largest = left[others[0]] if len(others) else 0.0
        weight = min(left[chosen[-1]], total - largest)
        if weight <= ROUNDING or total - weight <= ROUNDING:
            weight = total
        yield float(weight), chosen
        left[chosen] = np.maximum(left[chosen] - weight, 0.0)
        total -= weight


def sampled(values: Array, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a corner with its weight as probability: its expectation is the matrix.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues in [0, 1] with sum k.
    k : int
    rng : numpy.random.Generator
        Takes one draw.

    Returns
    -------
    ndarray of int, shape (k,)
        The eigenvectors that span the corner.

    Notes
    -----
    At most n corners of O(n log n) operations (`corners`).

    References
    ----------
    Arora, Cotter and Srebro 2013, Lemma 3.1.
    """
    threshold = rng.random()
    chosen = np.arange(k)
    for weight, chosen in corners(values, k):  # noqa: B007 - the last one is used
        threshold -= weight
        if threshold < 0.0:
            break
    return chosen


def fill_trace(vectors: Array, values: Array, floor: float, start: Array) -> tuple[Array, Array]:
    """Return the eigendecomposition of a matrix of trace k, from which `sampled` can draw.

    Parameters
    ----------
    vectors : ndarray, shape (d, m)
        Eigenvectors.
    values : ndarray, shape (m,)
        Eigenvalues, descending.
    floor : float
        The eigenvalue of all other directions; if positive, these get eigenvectors too.
    start : ndarray, shape (d, k)
        Orthonormal columns. If the trace is below k, the eigenvalues of the eigenvectors and of
        the directions of `start` are raised by one shift, clipped to [0, 1].

    Returns
    -------
    vectors : ndarray, shape (d, n)
    values : ndarray, shape (n,)
        Eigenvalues in [0, 1] with sum k.

    References
    ----------
    Arora, Cotter and Srebro 2013, Lemma 3.2.
    """
    from orthobench_stochastic_pca._kernels.projection import shift

    (d, m), k = vectors.shape, start.shape[1]
    if floor > 0.0 and m < d:
        basis, _ = np.linalg.qr(vectors, mode="complete")
        return np.hstack([vectors, basis[:, m:]]), np.append(values, np.full(d - m, floor))
    if values.sum() >= k - ROUNDING:
        return vectors, values
    n = min(m + k, d)
    spread = np.append(values, np.zeros(n - m))
    change = shift(np.ascontiguousarray(spread[::-1]), np.ones(n), float(k))
    return complete(vectors, start, n), np.clip(spread + change, 0.0, 1.0)
