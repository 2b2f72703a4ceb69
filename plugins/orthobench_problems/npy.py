"""Your own arrays in .npy files, which may be larger than memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError, matrix

PROBES = 64
PROBE_BYTES = 2**16


def mapped(path: Path) -> NDArray[np.generic]:
    """Return the matrix (samples, features) in a .npy file as a read-only memory map.

    Raises
    ------
    DataError
        Where the file is missing, truncated, pickled, or no matrix of real numbers.
    """
    return matrix(array(path), f"the samples in {path}")


def ordered(path: Path) -> NDArray[np.generic]:
    """Return the matrix (samples, features) in a .npy file, as `mapped`; refuse Fortran order.

    Raises
    ------
    DataError
        Where it is no matrix of real numbers that can be read, or not in C order.
    """
    rows = mapped(path)
    if not rows.flags.c_contiguous:
        raise DataError(
            f"{path} is in Fortran order, where a sample is scattered over the whole file; "
            "save numpy.ascontiguousarray of it"
        )
    return rows


def array(path: Path) -> NDArray[np.generic]:
    """Return the array in a .npy file, of any shape and type, as a read-only memory map.

    Raises
    ------
    DataError
        Where the file is missing, truncated or pickled.
    """
    try:
        found: NDArray[np.generic] = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error) from error
    return found


def checksum(path: Path) -> str:
    """Return a digest of a file's size, time of change, and bytes at 64 places of it.

    Not of every byte, which would take as long as a run on a large file: a change counts
    as one where it moves the time of change, as every ordinary write does.

    Raises
    ------
    DataError
        Where the file is missing or cannot be read.
    """
    import hashlib

    try:
        status = path.stat()
        digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
        with path.open("rb") as stream:
            for probe in range(PROBES):
                stream.seek(probe * max(0, status.st_size - PROBE_BYTES) // (PROBES - 1))
                digest.update(stream.read(PROBE_BYTES))
    except OSError as error:
        raise _unreadable(path, error) from error
    return digest.hexdigest()


def _unreadable(path: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"there is no file {path}")
    return DataError(f"{path} cannot be read as a .npy file: {error}")
