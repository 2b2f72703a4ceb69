"""Files of published data, and your own files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from orthobench.contract import DataError
from orthobench.tools import datasets
from orthobench.tools.datasets import DataFile
from orthobench.tools.files import opened


def located(path: str | None, published: DataFile) -> tuple[Path, str]:
    """Return the file that a problem reads, and its checksum.

    Without a `path` it is the published file, downloaded if missing.

    Raises
    ------
    DataError
        If there is no such file, it cannot be read or downloaded, or it is not the published one.
    """
    if path is None:
        return datasets.fetch(published), published.sha256
    own = Path(path).expanduser()
    return own, checksum(path, published)


def checksum(path: str | None, published: DataFile) -> str:
    """Return the SHA-256 of the file that a problem reads, the published one without a `path`.

    Raises
    ------
    DataError
        If there is no such file, or it cannot be read.
    """
    if path is None:
        return published.sha256
    own = Path(path).expanduser()
    try:
        return datasets.checksum(own)
    except FileNotFoundError:
        raise DataError(f"there is no file {own}") from None
    except OSError as error:
        raise DataError(f"{own} cannot be read: {error}") from error


@contextmanager
def csv_text(path: Path) -> Iterator[TextIO]:
    """Open a CSV file as text, with or without a byte order mark.

    Raises
    ------
    DataError
        If it cannot be read, is not UTF-8, or is malformed.
    """
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="") as stream:
            yield stream
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read as a CSV file: {error}") from error
