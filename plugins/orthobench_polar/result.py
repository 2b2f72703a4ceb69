"""The result of polar decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Result, Solution


@dataclass(frozen=True, repr=False, eq=False)
class PolarResult(Result):
    """The polar factor of a matrix, or of a batch.

    Attributes
    ----------
    factor : ndarray, of the shape of A
        UV' for A = U S V': orthonormal columns, or rows if A has fewer rows. Zero for a matrix of
        zeros in a batch.
    """

    factor: Annotated[Array, "of the shape of A, orthonormal columns (rows if A is wide)"]


def polar_factor(
    shape: tuple[int, ...], there: NDArray[np.bool_], solution: Solution
) -> PolarResult:
    """Return a point's factor in the shape of A; `there` marks nonzero matrices of a batch."""
    *batch, rows, columns = shape
    factor = np.zeros((*batch, max(rows, columns), min(rows, columns)))
    factor[there] = solution.point.reshape(-1, *factor.shape[-2:])
    return PolarResult(factor if rows >= columns else factor.swapaxes(-1, -2))
