"""Reads hyperspectral scenes with known anomalies from MATLAB files, and whitens them.

Own code reads MAT-files of version 5 to 7 (MathWorks, "MAT-File Format", R2024a, chapter 1), since
a damaged file can crash `scipy.io.loadmat` and the process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, DataError
from orthobench.tools.files import opened

HEADER_BYTES = 128
"""Size of text and version at the beginning of a file, in bytes."""

MATRIX, COMPRESSED = 14, 15
"""Types of elements that contain others: an array, and a compressed one."""

TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""NumPy's types of numbers, by the type of an element."""

CLASSES = range(6, 16)
"""The classes of arrays of numbers."""

COMPLEX = 0x800
"""The flag of an array with an imaginary part."""

LARGEST = 2**32
"""Maximum size of a compressed array, in bytes."""


@dataclass(frozen=True, eq=False)
class Scene:
    """An image of many bands (height, width, bands), and which of its pixels are anomalous."""

    data: NDArray[np.generic]
    anomalies: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.anomalies.shape
        return height, width

    @property
    def pixels(self) -> Array:
        """The pixels row by row of the image, (height * width, bands)."""
        return self.data.reshape(-1, self.data.shape[2]).astype(np.float64)


def read_scene(path: Path) -> Scene:
    """Return the scene in a MATLAB file, in the form of the Airport-Beach-Urban data sets.

    The file has ``data`` (height, width, bands) and ``map`` (height, width), one for anomalous
    pixels and zero for others.

    Raises
    ------
    DataError
        If the file is damaged or of another format, or lacks a valid variable.
    """
    try:
        found = arrays_in(path)
    except Exception as error:  # a file that is damaged or no MAT-file may raise anything
        said = str(error) or "it is damaged"
        raise DataError(f"{path} cannot be read as a MAT-file: {said}") from error
    for name in ("data", "map"):
        if name not in found:
            have = ", ".join(found) or "nothing"
            raise DataError(f"{path} has no variable {name!r} of real numbers: it holds {have}")
    data, marks = _checked(path, found["data"]), found["map"]
    if np.shape(marks) != data.shape[:2]:
        raise DataError(
            f"{path}: map has shape {np.shape(marks)}, data {data.shape}: "
            "map must have the height and the width of data"
        )
    return Scene(data, _anomalies(path, marks))


def whitened_pixels(X: Array) -> Array:
    """Return pixels X (p, n) centred and whitened by principal components, leading ones first.

    Z = (X - mean) U diag(v)^(-1/2) with the eigenpairs (v, U) of the covariance, those with v <= n
    eps max(v) left out: Z is (p, rank). 4pn² + 9n³ flops.

    Raises
    ------
    DataError
        If all pixels are equal.
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


def _checked(path: Path, found: NDArray[Any]) -> NDArray[Any]:
    if found.ndim != 3 or 0 in found.shape:
        raise DataError(f"{path}: data must be (height, width, bands), not of shape {found.shape}")
    if not np.isfinite(found).all():
        row, column, band = (int(i) for i in np.argwhere(~np.isfinite(found))[0])
        raise DataError(
            f"{path}: data at row {row}, column {column}, band {band} (counted from 0) is "
            f"{found[row, column, band]}; drop the band, or clean the data"
        )
    return found


def _anomalies(path: Path, marks: NDArray[Any]) -> NDArray[np.bool_]:
    if not np.isin(marks, (0, 1)).all():
        raise DataError(f"{path}: map must be one where a pixel is anomalous and zero elsewhere")
    anomalies: NDArray[np.bool_] = marks.astype(bool)
    if anomalies.all() or not anomalies.any():
        which = "every" if anomalies.all() else "no"
        raise DataError(f"{path}: map says that {which} pixel is anomalous: nothing to detect")
    return anomalies


def arrays_in(path: Path) -> dict[str, NDArray[Any]]:
    """Return the real arrays of numbers in a file by name, in their stored types.

    Raises
    ------
    OSError, ValueError, zlib.error
        If it cannot be read, is no such file, or of version 7.3, which is HDF5.
    """
    with opened(path) as file:
        content = file.read()
    version, order = content[124:126], content[126:128]
    if order not in (b"IM", b"MI"):
        raise ValueError("it has no header of a MAT-file of version 5 to 7")
    byte_order = "<" if order == b"IM" else ">"
    if int.from_bytes(version, "little" if byte_order == "<" else "big") != 0x100:
        raise ValueError("it is of version 7.3; save it with the option -v7")
    found = {}
    for kind, data in _elements(content[HEADER_BYTES:], byte_order):
        if kind == COMPRESSED:
            inflated = zlib.decompressobj().decompress(data, LARGEST)
            kind, data = next(_elements(inflated, byte_order))
        if kind == MATRIX:
            found.update(_array(data, byte_order))
    return found


def _elements(content: bytes, byte_order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while len(content) - at >= 8:
        kind, size = (int(n) for n in np.frombuffer(content, f"{byte_order}u4", 2, at))
        if kind >> 16:  # a small one: its size, and its bytes, are in place of the size
            kind, size, begin, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            begin = at + 8
            end = begin + size + (-size % 8 if kind != COMPRESSED else 0)
        if begin + size > len(content) or size > end - begin:
            raise ValueError("it ends before its last variable does")
        yield kind, content[begin : begin + size]
        at = end


def _array(content: bytes, byte_order: str) -> dict[str, NDArray[Any]]:
    """Return an array of real numbers by its name, or nothing."""
    elements = _elements(content, byte_order)
    flags = _numbers(*next(elements), byte_order)
    shape = [int(n) for n in _numbers(*next(elements), byte_order)]
    name = next(elements)[1].decode("ascii")
    if int(flags[0]) & 0xFF not in CLASSES or int(flags[0]) & COMPLEX:
        return {}
    values = _numbers(*next(elements), byte_order)
    return {name: values.astype(values.dtype.newbyteorder("=")).reshape(shape, order="F")}


def _numbers(kind: int, data: bytes, byte_order: str) -> NDArray[Any]:
    if kind not in TYPES:
        raise ValueError(f"it has an element of type {kind} in place of numbers")
    return np.frombuffer(data, f"{byte_order}{TYPES[kind]}")
