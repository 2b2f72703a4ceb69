"""Arrays in .npy files, which may be larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError
from orthobench.tools.arrays import matrix
from orthobench.tools.files import opened
from orthobench_kit.rows import Rows, borders

PROBES = 64
"""Number of places that `checksum` reads."""

PROBE_BYTES = 2**16
"""Bytes at each place."""


def mapped(path: str) -> NDArray[np.generic]:
    """Return the matrix (samples, features) of a .npy file as a read-only memory map.

    Raises
    ------
    DataError
        If the file is missing, truncated or pickled, or has no matrix of real numbers.
    """
    return matrix(array(path), f"the samples in {_expanded(path)}")


def row_major(path: str) -> NDArray[np.generic]:
    """Return `mapped`, but refuse Fortran order.

    Raises
    ------
    DataError
        If it has no matrix of real numbers in C order.
    """
    rows = mapped(path)
    if not rows.flags.c_contiguous:
        raise DataError(
            f"{_expanded(path)} is in Fortran order, where a sample is scattered over the whole "
            "file; save numpy.ascontiguousarray of it, or copy it by blocks as the guide on your "
            "own data shows, if it is larger than memory"
        )
    return rows


def array(path: str) -> NDArray[np.generic]:
    """Return the array of a .npy file, of any shape and type, as a read-only memory map.

    Raises
    ------
    DataError
        If the file is missing, truncated or pickled.
    """
    file = _expanded(path)
    try:
        opened(file).close()
        found: NDArray[np.generic] = np.lib.format.open_memmap(file, mode="r")
    except Exception as error:  # foreign headers fail in as many ways as there are parsers
        raise unreadable(file, error) from error
    return found


class NpyRows(Rows):
    """The rows of a .npy file, read by blocks; the file is closed between reads.

    Raises
    ------
    DataError
        See `row_major`.
    """

    random: ClassVar[bool] = True
    fresh: ClassVar[bool] = True

    def __init__(self, file: Path) -> None:
        rows = row_major(str(file))
        self.file, self.shape, self.dtype = file, (rows.shape[0], rows.shape[1]), rows.dtype
        self.borders = borders(self.shape, f"the samples in {file}")
        self._begin = rows.offset if isinstance(rows, np.memmap) else 0

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        rows = np.empty((end - begin, self.shape[1]), self.dtype)
        row_bytes = self.shape[1] * self.dtype.itemsize
        try:
            with opened(self.file) as stream:
                stream.seek(self._begin + begin * row_bytes)
                count = stream.readinto(rows.view(np.uint8).data)
        except OSError as error:
            raise unreadable(self.file, error) from error
        if count < rows.nbytes:
            ended = begin + count // row_bytes
            raise DataError(f"{self.file} has become shorter: it ends at row {ended}")
        return rows

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        return np.asarray(row_major(str(self.file))[numbers])

    def place(self, row: int) -> tuple[str, int]:
        return str(self.file), row


def checksum(path: str) -> str:
    """Return a digest of a file's size, modification time, and bytes at 64 places.

    Raises
    ------
    DataError
        If the file is missing or cannot be read.
    """
    import hashlib

    file = _expanded(path)
    try:
        status = file.stat()
        digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
        with opened(file) as stream:
            for probe in range(PROBES):
                stream.seek(probe * max(0, status.st_size - PROBE_BYTES) // (PROBES - 1))
                digest.update(stream.read(PROBE_BYTES))
    except OSError as error:
        raise unreadable(file, error) from error
    return digest.hexdigest()


def _expanded(path: str) -> Path:
    return Path(path).expanduser()


def unreadable(file: Path, error: Exception, kind: str = "a .npy file") -> DataError:
    """Return the error of an unreadable file."""
    if isinstance(error, DataError):
        return error
    if isinstance(error, FileNotFoundError):
        return DataError(f"there is no file {file}")
    if "magic string" in str(error):
        return DataError(
            f"{file} is no .npy file; read it, a text file with numpy.loadtxt, and write it with "
            "numpy.save"
        )
    said = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{file} cannot be read as {kind}: {said:.300}")
