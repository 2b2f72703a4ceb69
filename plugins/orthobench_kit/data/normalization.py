"""Centre and scale of data sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, DataError
from orthobench_kit.rows import Rows
from orthobench_kit.sources import ArraySource

NORMALIZATIONS = ("common", "per-feature")
"""Readings of "unit norm in expectation": see `normalization_of`."""

NORMALIZATION_HELP = "one common factor, or every feature by its standard deviation"


def normalization_of(
    X: NDArray[np.generic] | Rows, normalization: str, centred: bool = True
) -> tuple[Array, Array]:
    """Return the centre and the scale that give rows mean zero and E|x|² = 1.

    Parameters
    ----------
    X : ndarray, shape (n, d), or Rows
        Any real dtype; read twice, block by block.
    normalization : {"common", "per-feature", "none"}
        ``"common"``: one factor for all features, so that E|x|² = 1 over all rows.
        ``"per-feature"``: one factor for each feature, with every variance 1/d; constant features
        become zero.
    centred : bool
        Whether the centre is the mean; otherwise it is zero.

    Returns
    -------
    centre, scale : ndarray, shape (d,)
        Each row x becomes ``(x - centre) * scale``.

    Raises
    ------
    DataError
        If all features are constant, or a row is not finite.
    """
    centre = sum(block.sum(axis=0) for block in ArraySource(X).checked_pass()) / len(X)
    if not centred:
        centre = np.zeros_like(centre)
    if normalization == "none":
        return centre, np.ones_like(centre)
    blocks = ArraySource(X, centre=centre).one_pass()
    variance = sum(np.einsum("ij,ij->j", block, block) for block in blocks) / len(X)
    # the variance of a constant feature may be rounding
    varies = variance > (1e-12 * np.maximum(np.abs(centre), np.sqrt(variance.max()))) ** 2
    if not varies.any():
        if len(X) == 1:
            raise DataError("there is one row only, which has no variance to normalize by")
        equal = "equal" if centred else "zero"
        raise DataError(f"all rows are {equal}: there is no variance to normalize by")
    scale = np.zeros(len(centre))
    if normalization == "common":
        scale[varies] = variance[varies].sum() ** -0.5
    else:
        scale[varies] = (variance[varies] * len(scale)) ** -0.5
    return centre, scale
