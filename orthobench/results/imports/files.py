"""The files of an experiment: in a folder, in a .zip or .tar archive, or one by itself.

Nothing is unpacked to the disk, and no name in an archive leads anywhere.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from orthobench.errors import DataError
from orthobench.tools.files import opened

LARGEST = 2**31
"""Maximum bytes of all files of an experiment together."""

ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".info", ".dat")
"""The endings of the files that readers ask for."""

ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
"""The endings of archives."""


def contents(path: Path) -> Mapping[str, bytes]:
    """Return what the files at a path hold, by their names below it.

    Raises
    ------
    DataError
        If there is nothing, an archive is damaged, or there are more than `LARGEST` bytes.
    """
    found, left = dict[str, bytes](), LARGEST
    try:
        for name, content in _files(path):
            found[name], left = content, left - len(content)
            if left < 0:
                raise DataError(f"{path} has more than {LARGEST >> 30} GiB of data: import parts")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise DataError(f"{path} is a damaged archive ({error}): fetch it again") from None
    if not found:
        raise DataError(f"{path} has no file that ends in {', '.join(ENDINGS)}")
    return found


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.name.endswith(ENDINGS) and file.is_file() and not file.is_symlink():
                yield file.relative_to(path).as_posix(), _read(file)
    elif path.name.endswith(ARCHIVES):
        yield from _members(path)
    elif path.name.endswith(ENDINGS):
        yield path.name, _read(path)


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(_read(path))) as packed:
            for one in packed.infolist():
                if one.filename.endswith(ENDINGS):
                    with packed.open(one) as member:
                        yield one.filename, member.read(LARGEST + 1)
    else:
        with tarfile.open(fileobj=io.BytesIO(_read(path))) as archive:
            for entry in archive:
                if entry.name.endswith(ENDINGS) and (part := archive.extractfile(entry)):
                    yield entry.name, part.read(LARGEST + 1)


def _read(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(LARGEST + 1)
