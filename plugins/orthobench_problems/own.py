"""Files of your own that a problem reads in place of published data."""

from __future__ import annotations

from pathlib import Path

from orthobench.contract import DataError
from orthobench.tools import datasets


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; read once a process while it is unchanged.

    Raises
    ------
    DataError
        Where there is no such file, or it cannot be read.
    """
    try:
        return datasets.checksum(path)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
