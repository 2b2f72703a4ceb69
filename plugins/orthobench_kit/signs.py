"""The sign of a vector that is known up to it."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array


def signs(V: Array) -> Array:
    """Return the factors, 1 or -1, that make the largest entry of each column positive.

    The largest is that of largest absolute value, and of equal ones the first.

    Parameters
    ----------
    V : ndarray, shape (n, k)

    Returns
    -------
    ndarray, shape (k,)
    """
    largest = np.take_along_axis(V, np.abs(V).argmax(axis=0)[None], axis=0)[0]
    return np.where(largest < 0, -1.0, 1.0).astype(V.dtype)
