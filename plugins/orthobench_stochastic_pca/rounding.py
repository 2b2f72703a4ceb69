"""Rounding: from a feasible matrix of the relaxation to a subspace."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, complete

NOTHING = 1e-12
"""A weight this small is rounding: the corner before takes it over."""


def corners(values: Array, k: int) -> Iterator[tuple[float, NDArray[np.intp]]]:
    """Yield a convex combination of rank-k projections that a spectrum is: weights and corners.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues in [0, 1] with sum k.
    k : int

    Yields
    ------
    float
        A weight; all of them sum to one.
    ndarray of int, shape (k,)
        Which eigenvectors span the subspace; all corners, weighted, sum to `values`.

    Notes
    -----
    At most n corners, since each weight takes one value to zero or makes one equal to the
    weight left, and so it stays. O(n log n) each. Lemma 3.1 of Arora, Cotter and Srebro 2013;
    Algorithm 2 of Warmuth and Kuzmin 2008.
    """
    left, total = np.clip(values, 0.0, 1.0), 1.0
    while total > 0.0:
        order = np.argsort(-left, kind="stable")
        chosen, others = order[:k], order[k:]
        largest = left[others[0]] if len(others) else 0.0
        weight = min(left[chosen[-1]], total - largest)
        if weight <= NOTHING or total - weight <= NOTHING:
            weight = total
        yield float(weight), chosen
        left[chosen] = np.maximum(left[chosen] - weight, 0.0)
        total -= weight


def sampled(values: Array, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a corner of `values`, drawn with its weight: the expected projection is the matrix."""
    threshold = rng.random()
    chosen = np.arange(k)
    for weight, chosen in corners(values, k):  # noqa: B007 - the last one is used
        threshold -= weight
        if threshold < 0.0:
            break
    return chosen


def filled(vectors: Array, values: Array, floor: float, start: Array) -> tuple[Array, Array]:
    """Return a matrix of trace k in all its directions that matter, ready for `sampled`.

    Parameters
    ----------
    vectors : ndarray, shape (d, m)
        Eigenvectors.
    values : ndarray, shape (m,)
        Eigenvalues, descending.
    floor : float
        The eigenvalue of all other directions; where positive, those get eigenvectors too.
    start : ndarray, shape (d, k)
        Where the trace is below k yet, what lacks is spread, by the shift of Lemma 3.2, over
        the eigenvectors and the directions of `start`.

    Returns
    -------
    ndarray, shape (d, n), and ndarray, shape (n,)
    """
    from orthobench_stochastic_pca.projection import shift

    (d, m), k = vectors.shape, start.shape[1]
    if floor > 0.0 and m < d:
        basis, _ = np.linalg.qr(vectors, mode="complete")
        return np.hstack([vectors, basis[:, m:]]), np.append(values, np.full(d - m, floor))
    if values.sum() >= k - NOTHING:
        return vectors, values
    n = min(m + k, d)
    spread = np.append(values, np.zeros(n - m))
    change = shift(np.ascontiguousarray(spread[::-1]), np.ones(n), float(k))
    return complete(vectors, start, n), np.clip(spread + change, 0.0, 1.0)
