"""Reads the IDX format of the MNIST database: a header with type and shape, then the numbers.

Source: the description of the format on the page of the MNIST database (LeCun, Cortes and Burges).
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError
from orthobench.tools.files import opened

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
"""Data types by the third byte of the magic number."""

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

PIECE = 2**20
"""Bytes that are decompressed at once."""


AXES = 32
"""Most dimensions of an array, as in NumPy 1."""

LARGEST = 2**28
"""Most bytes of a file, decompressed: five times those of MNIST."""


def read(path: Path) -> NDArray[np.generic]:
    """Return the array in an IDX file, plain or gzipped.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ndarray
        Of the shape and type in the header, in native byte order.

    Raises
    ------
    DataError
        Where the file is missing, damaged, truncated, too long, or of another format; names the
        file, and the bytes expected and found.
    """
    content = _content(path)
    dtype, shape, offset = _header(path, content)
    expected = offset + math.prod(shape) * dtype.itemsize
    if len(content) != expected:
        what = "truncated" if len(content) < expected else "too long"
        raise DataError(
            f"{path} is {what}: {expected} bytes expected for {dtype.name} of shape {shape!s:.99}, "
            f"{len(content)} found; get it again"
        )
    if math.prod(max(length, 1) for length in shape) > LARGEST:
        raise DataError(f"{path} is empty, and has the shape {shape!s:.99}; get it again")
    numbers = np.frombuffer(content, dtype, offset=offset).reshape(shape)
    return numbers.astype(dtype.newbyteorder("="), copy=False)


def _header(path: Path, content: bytearray) -> tuple[np.dtype[np.generic], tuple[int, ...], int]:
    known = len(content) >= 4 and content[:2] == b"\0\0" and content[2] in TYPES
    if not (known and 0 < content[3] <= AXES):
        raise DataError(
            f"{path} is not an IDX file: it begins with {content[:4].hex(' ') or 'nothing'}, "
            "not with 00 00, a type and a number of dimensions"
        )
    offset = 4 + 4 * content[3]
    if len(content) < offset:
        raise DataError(
            f"{path} is truncated: {offset} bytes expected for its header, {len(content)} found"
        )
    shape = struct.unpack(f">{content[3]}I", content[4:offset])
    return np.dtype(TYPES[content[2]]), shape, offset


def _content(path: Path) -> bytearray:
    """Return all bytes of a file, decompressed; refuse a gzip file that is cut off, or a bomb."""
    content = bytearray()
    try:
        with _unpacked(path) as stream:
            while piece := stream.read(PIECE):
                content += piece
                if len(content) > LARGEST:
                    raise DataError(f"{path} is too long: it has more than {LARGEST} bytes")
    except EOFError:
        found = len(content)
        raise DataError(
            f"{path} is truncated: its gzip stream ends early, after {found} bytes or more; "
            "get it again"
        ) from None
    except (OSError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    return content


def _unpacked(path: Path) -> BinaryIO:
    with opened(path) as stream:
        packed = stream.read(2) == GZIP
    import gzip

    return cast(BinaryIO, gzip.open(path, "rb")) if packed else path.open("rb")
