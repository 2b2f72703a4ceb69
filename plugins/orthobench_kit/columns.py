"""Warning about constant columns."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray


def warn_of_constant(constant: NDArray[np.bool_], what: str) -> None:
    """Warn of constant columns of the matrix `what`."""
    numbers = np.flatnonzero(constant)
    if len(numbers):
        others = f", nor do {len(numbers) - 1} others" if len(numbers) > 1 else ""
        warnings.warn(
            f"column {numbers[0]} (counted from 0) of {what} does not vary{others}: a column "
            "without variance has loadings 0",
            stacklevel=4,
        )
