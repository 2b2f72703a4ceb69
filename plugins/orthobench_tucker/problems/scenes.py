"""Reads hyperspectral scenes with known anomalies from MATLAB files, and whitens them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, DataError
from orthobench_tucker.problems.mat_files import arrays_in


@dataclass(frozen=True, eq=False)
class Scene:
    """An image of many bands, and its anomalous pixels.

    Attributes
    ----------
    data : ndarray, shape (height, width, bands)
        Finite real numbers.
    anomalies : ndarray of bool, shape (height, width)
        True where a pixel is anomalous: at some pixels, and not at all.
    """

    data: NDArray[np.generic]
    anomalies: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.anomalies.shape
        return height, width

    @property
    def pixels(self) -> Array:
        """The pixels row by row of the image, shape (height * width, bands)."""
        return self.data.reshape(-1, self.data.shape[2]).astype(np.float64)


def read_scene(path: Path) -> Scene:
    """Return the scene in a MATLAB file, in the form of the Airport-Beach-Urban data sets.

    Parameters
    ----------
    path : Path
        A MAT-file of version 5 to 7 with ``data`` (height, width, bands) and ``map``
        (height, width), one where a pixel is anomalous and zero elsewhere.

    Raises
    ------
    DataError
        Where the file is damaged or of another format, lacks one of the two variables, or has one
        of a wrong shape or with invalid numbers; says which.
    """
    found = _variables(path)
    for name in ("data", "map"):
        if name not in found:
            have = ", ".join(found) or "nothing"
            raise DataError(f"{path} has no variable {name!r} of real numbers: it holds {have}")
    data, marks = _data(path, found["data"]), found["map"]
    if np.shape(marks) != data.shape[:2]:
        raise DataError(
            f"{path}: map has shape {np.shape(marks)}, data {data.shape}: "
            "map must have the height and the width of data"
        )
    return Scene(data, _anomalies(path, marks))


def whitened_pixels(X: Array) -> Array:
    """Return pixels centred and whitened by principal components, leading components first.

    Z = (X - mean) U diag(v)^(-1/2) with the eigenpairs (v, U) of the covariance, so that
    Z'Z / p = I. The first r coordinates are those of principal component analysis. Directions
    without variance, v <= n eps max(v), are left out: a band that is constant, or a combination
    of others, takes a column of Z away.

    Parameters
    ----------
    X : ndarray, shape (p, n)

    Returns
    -------
    ndarray, shape (p, rank)
        C order.

    Raises
    ------
    DataError
        Where all pixels are equal.

    Notes
    -----
    4pn² + 9n³ flops.
    """
    centred = X - X.mean(axis=0)
    largest = float(np.abs(centred).max())
    if largest <= np.finfo(float).eps * float(np.abs(X).max()):
        raise DataError("all pixels are equal: there is nothing to whiten")
    centred /= largest
    ascending, axes = np.linalg.eigh(centred.T @ centred / len(X))
    variances, axes = ascending[::-1], axes[:, ::-1]
    kept = variances > len(variances) * np.finfo(float).eps * variances[0]
    return np.ascontiguousarray(centred @ (axes[:, kept] / np.sqrt(variances[kept])))


def _variables(path: Path) -> dict[str, NDArray[Any]]:
    try:
        return arrays_in(path)
    except NotImplementedError:
        raise DataError(
            f"{path} is a MAT-file of version 7.3; save it with the option -v7"
        ) from None
    except Exception as error:  # a file that is damaged or no MAT-file may raise anything
        said = str(error) or "it is damaged"
        raise DataError(f"{path} cannot be read as a MAT-file: {said}") from error


def _data(path: Path, data: Any) -> NDArray[np.generic]:
    found: NDArray[Any] = np.asarray(data)
    if found.ndim != 3 or 0 in found.shape:
        raise DataError(f"{path}: data must be (height, width, bands), not of shape {found.shape}")
    if found.dtype.kind not in "fiu":
        raise DataError(f"{path}: data must be real numbers, not of dtype {found.dtype}")
    if not np.isfinite(found).all():
        row, column, band = (int(i) for i in np.argwhere(~np.isfinite(found))[0])
        raise DataError(
            f"{path}: data at row {row}, column {column}, band {band} (counted from 0) is "
            f"{found[row, column, band]}; drop the band, or clean the data"
        )
    return found


def _anomalies(path: Path, marks: Any) -> NDArray[np.bool_]:
    found: NDArray[Any] = np.asarray(marks)
    if not np.isin(found, (0, 1)).all():
        raise DataError(f"{path}: map must be one where a pixel is anomalous and zero elsewhere")
    anomalies: NDArray[np.bool_] = found.astype(bool)
    if anomalies.all() or not anomalies.any():
        which = "every" if anomalies.all() else "no"
        raise DataError(f"{path}: map says that {which} pixel is anomalous: nothing to detect")
    return anomalies
