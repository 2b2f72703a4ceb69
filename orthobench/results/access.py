"""Whether the files of a store can be used, before SQLite opens any of them.

SQLite makes files beside a database before it finds that it may not write into it. They belong to
the user who tried, and keep the owner of the store from it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from orthobench.errors import StoreError
from orthobench.tools.files import refuse_link

BESIDE = ("-wal", "-shm", "-journal", "-lock")
"""What the names of the files beside a store end with: those of SQLite, and ours."""

LONGEST = {"name": 255, "path": 512}
"""The maximum length in bytes of the name of a file, on most systems, and of a path in SQLite."""


def refuse_unwritable(path: Path) -> None:
    """Refuse a store that this process cannot write into, or make.

    Raises
    ------
    UsageError
        If it, or a file beside it, is a link.
    StoreError
        If one of them is no regular file, belongs to somebody else or is on a read-only file
        system; if the name leaves no room for the names of the others.
    """
    for kind, text in (("name", path.name), ("path", path.absolute())):
        room = LONGEST[kind] - max(map(len, BESIDE))
        if (size := len(os.fsencode(text))) > room:
            raise StoreError(
                f"the {kind} of the store has {size} bytes, and SQLite makes files beside it whose "
                f"{kind} is longer: take one of at most {room} bytes"
            )
    for file in (path, *(path.with_name(f"{path.name}{end}") for end in BESIDE)):
        refuse_link(file)
        if file.exists():
            if not file.is_file():
                raise StoreError(f"{file} is not a regular file: remove it, or name another store")
            if not os.access(file, os.W_OK) and not file.name.endswith("-lock"):
                raise _not_writable(path, file)
    folder = next(folder for folder in path.absolute().parents if folder.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _not_writable(path, folder)


def _not_writable(path: Path, at: Path) -> StoreError:
    read_only = hasattr(os, "statvfs") and os.statvfs(at).f_flag & os.ST_RDONLY
    why = "its file system is read-only" if read_only else f"you have no permission to write {at}"
    return StoreError(f"cannot write the store {path}: {why}; copy it, or name another one")


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Give the path to read a store at: of a copy, if SQLite would have to write beside it.

    A process that was killed leaves a log, which SQLite reads through an index in a file beside it.
    """
    log, index = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
    if not has_log(path) or index.exists() or os.access(path, os.W_OK):
        yield path
        return
    with TemporaryDirectory(prefix="orthobench-") as folder:
        copy = Path(folder) / "results.sqlite"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        yield copy


def has_log(path: Path) -> bool:
    """Return whether a log beside a store has changes that are not in its file yet."""
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0
