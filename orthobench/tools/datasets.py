"""Files of data sets: found in the data folder or downloaded, and checked.

The data folder is ``$ORTHOBENCH_DATA``, or else the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orthobench.errors import DataError
from orthobench.tools.files import opened

VARIABLE = "ORTHOBENCH_DATA"
"""The environment variable that names the data folder."""


@dataclass(frozen=True)
class DataFile:
    """A file of a data set, as its source publishes it.

    Attributes
    ----------
    name, sha256 : str
        Its name in the data folder, and its checksum in hexadecimal.
    urls : tuple of str
        Addresses to download it from, in order of preference.
    source : str
        The publisher and the licence.
    repackaged : tuple of str
        Checksums of other compressions of the same contents.
    """

    name: str
    sha256: str
    urls: tuple[str, ...]
    source: str
    repackaged: tuple[str, ...] = ()


def data_folder() -> Path:
    """Return the folder of data files, which may not exist yet."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("orthobench")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; an unchanged file is read once."""
    status = path.stat()
    return _checksum(path, status.st_mtime_ns, status.st_size)


_downloading = ContextVar("downloading", default=True)


@contextmanager
def offline() -> Iterator[None]:
    """Make `fetch` raise in this context if it would download a file."""
    before = _downloading.set(False)
    try:
        yield
    finally:
        _downloading.reset(before)


def find(file: DataFile) -> Path | None:
    """Return the path of a file in the data folder, or None if it is absent.

    Raises
    ------
    DataError
        If it has a wrong checksum, or cannot be read.
    """
    path = data_folder() / file.name
    try:
        if not path.exists():
            return None
        actual = checksum(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if actual not in (file.sha256, *file.repackaged):
        raise DataError(
            f"{path} is not the file expected: its SHA-256 is {actual}, not {file.sha256}; "
            f"delete it to have it downloaded again, or put the right one there ({file.source})"
        )
    return path


def fetch(file: DataFile) -> Path:
    """Return the path of a file in the data folder, which is downloaded if it is absent.

    Raises
    ------
    DataError
        As `find`, or if it cannot be downloaded.
    """
    return find(file) or _download(file)


def _download(file: DataFile) -> Path:
    import pooch

    folder, failures = data_folder(), list[str]()
    for url in file.urls if _downloading.get() else ():
        try:
            return Path(pooch.retrieve(url, f"sha256:{file.sha256}", file.name, folder))
        except OSError as error:
            failures.append(f"{url}: {error.strerror or type(error).__name__}")
        except ValueError as error:
            failures.append(f"{url}: {error}")
    tried = "; ".join(failures) or "no address is known to download it from"
    tried = tried if _downloading.get() else "nothing is downloaded here"
    raise DataError(
        f"{file.name} is not in the data folder {folder} and could not be downloaded ({tried}). "
        f"Put it there by hand, or name its folder by {VARIABLE}. "
        f"It comes from {file.source}; its SHA-256 is {file.sha256}."
    )


@lru_cache(maxsize=2**16)  # a folder may have many files
def _checksum(path: Path, _modified: int, _size: int) -> str:
    with opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
