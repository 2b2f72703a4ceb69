"""Arrays of numbers in MAT-files of version 5 to 7, read without code that a file can end.

`scipy.io.loadmat` follows sizes in a damaged file outside of its memory, which ends the process.

Source: MathWorks, "MAT-File Format", R2024a, chapter 1.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.files import opened

HEADER_BYTES = 128
"""Bytes of text and version before the first element of a file."""

MATRIX, COMPRESSED = 14, 15
"""The types of elements that hold others: an array, and the same in the format of zlib."""

STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
"""The types of elements that hold numbers, by the number of each."""

CLASSES = range(6, 16)
"""The classes of arrays of numbers; those below are text, cells and structures."""

COMPLEX = 0x800
"""The flag of an array with an imaginary part."""

LARGEST = 2**32
"""The maximum number of bytes of an array that a compressed element may become."""


def arrays_in(path: Path) -> dict[str, NDArray[Any]]:
    """Return the real arrays of numbers in a file by name, as they are stored there.

    Other variables are left out. MATLAB stores numbers in the smallest type that holds them.

    Raises
    ------
    OSError, ValueError, zlib.error
        If it cannot be read, or is no such file.
    NotImplementedError
        If it is of version 7.3, which is HDF5.
    """
    with opened(path) as file:
        content = file.read()
    version, order = content[124:126], content[126:128]
    if order not in (b"IM", b"MI"):
        raise ValueError("it has no header of a MAT-file of version 5 to 7")
    byte_order = "<" if order == b"IM" else ">"
    if int.from_bytes(version, "little" if byte_order == "<" else "big") != 0x100:
        raise NotImplementedError
    found = {}
    for kind, data in _elements(content[HEADER_BYTES:], byte_order):
        if kind == COMPRESSED:
            inflated = zlib.decompressobj().decompress(data, LARGEST)
            kind, data = next(_elements(inflated, byte_order))
        if kind == MATRIX:
            found.update(_array(data, byte_order))
    return found


def _elements(content: bytes, byte_order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the types and the bytes of elements, each with those within it."""
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
    """Return an array by its name; nothing if it is not one of real numbers."""
    elements = _elements(content, byte_order)
    flags = _numbers(*next(elements), byte_order)
    shape = [int(n) for n in _numbers(*next(elements), byte_order)]
    name = next(elements)[1].decode("ascii")
    if int(flags[0]) & 0xFF not in CLASSES or int(flags[0]) & COMPLEX:
        return {}
    values = _numbers(*next(elements), byte_order)
    return {name: values.astype(values.dtype.newbyteorder("=")).reshape(shape, order="F")}


def _numbers(kind: int, data: bytes, byte_order: str) -> NDArray[Any]:
    if kind not in STORED:
        raise ValueError(f"it has an element of type {kind} in place of numbers")
    return np.frombuffer(data, f"{byte_order}{STORED[kind]}")
