"""The handwritten digits that come with scikit-learn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError

CHECKSUM = "8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3"
"""SHA-256 of the 1,797 x 64 pixels as unsigned bytes."""


def pixels() -> NDArray[np.uint8]:
    """Return the 1,797 digits of 8 x 8 pixels, one in each row.

    The test part of the UCI data set "Optical Recognition of Handwritten Digits" (Alpaydin and
    Kaynak 1998).

    Raises
    ------
    DataError
        Where the installed scikit-learn has other digits.
    """
    import hashlib

    from sklearn.datasets import load_digits

    pixels: NDArray[np.uint8] = load_digits().data.astype(np.uint8)
    found = hashlib.sha256(pixels.tobytes()).hexdigest()
    if found != CHECKSUM:
        raise DataError(
            f"the digits of the installed scikit-learn are not those expected: the SHA-256 of "
            f"their pixels is {found}, not {CHECKSUM}"
        )
    return pixels
