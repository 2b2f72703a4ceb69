"""Arrays of your own in .npy files, which may be larger than memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError, matrix
from orthobench.tools.files import opened

PROBES = 64
"""Places of a file whose bytes `checksum` reads."""

PROBE_BYTES = 2**16
"""Bytes that `checksum` reads at each place."""


def mapped(path: str) -> NDArray[np.generic]:
    """Return the matrix (samples, features) in a .npy file as a read-only memory map.

    Parameters
    ----------
    path : str
        ``~`` stands for the home folder.

    Raises
    ------
    DataError
        Where the file is missing, truncated or pickled, or holds no matrix of real numbers.
    """
    return matrix(array(path), f"the samples in {_expanded(path)}")


def row_major(path: str) -> NDArray[np.generic]:
    """Return the matrix (samples, features) in a .npy file, as `mapped`; refuse Fortran order.

    Raises
    ------
    DataError
        Where it holds no matrix of real numbers, or one that is not in C order.
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
    """Return the array in a .npy file, of any shape and type, as a read-only memory map.

    Raises
    ------
    DataError
        Where the file is missing, truncated or pickled.
    """
    file = _expanded(path)
    try:
        opened(file).close()
        found: NDArray[np.generic] = np.lib.format.open_memmap(file, mode="r")
    except Exception as error:  # foreign headers fail in as many ways as there are parsers
        raise _unreadable(file, error) from error
    return found


def checksum(path: str) -> str:
    """Return a digest of a file's size, its time of change, and its bytes at 64 places.

    Reading every byte would take as long as a run on a large file. A change is noticed because it
    moves the time of change, as every ordinary write does.

    Raises
    ------
    DataError
        Where the file is missing or cannot be read.
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
        raise _unreadable(file, error) from error
    return digest.hexdigest()


def _expanded(path: str) -> Path:
    return Path(path).expanduser()


def _unreadable(file: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"there is no file {file}")
    if "magic string" in str(error):
        return DataError(
            f"{file} is no .npy file; read it, a text file with numpy.loadtxt, and write it with "
            "numpy.save"
        )
    said = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{file} cannot be read as a .npy file: {said:.300}")
