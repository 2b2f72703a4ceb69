"""The handwritten digits of scikit-learn."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError

CHECKSUM = "8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3"
"""SHA-256 of the 1,797 x 64 pixels as unsigned bytes."""


def pixels() -> NDArray[np.uint8]:
    """Return the 1,797 digits of 8 x 8 pixels, one in each row.

    Raises
    ------
    DataError
        If the installed scikit-learn has other digits.
    """
    import hashlib

    pixels = np.ascontiguousarray(_read()[:, :-1])
    found = hashlib.sha256(pixels.tobytes()).hexdigest()
    if found != CHECKSUM:
        raise DataError(
            f"the digits of the installed scikit-learn are not those expected: the SHA-256 of "
            f"their pixels is {found}, not {CHECKSUM}"
        )
    return pixels


def labels() -> NDArray[np.intp]:
    """Return the number that each digit shows."""
    return _read()[:, -1].astype(np.intp)


def _read() -> NDArray[np.uint8]:
    spec = find_spec("sklearn")
    folders = (spec and spec.submodule_search_locations) or ()
    files = (Path(folder, "datasets", "data", "digits.csv.gz") for folder in folders)
    for file in filter(Path.exists, files):
        return np.loadtxt(file, np.uint8, delimiter=",")
    from sklearn.datasets import load_digits

    loaded = load_digits()
    return np.column_stack([loaded.data, loaded.target]).astype(np.uint8)
