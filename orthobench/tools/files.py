"""Files that are written completely or not at all, and folders to write them to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from orthobench.errors import UsageError

if sys.platform == "win32":
    import errno
    import msvcrt

    def _lock(file: IO[bytes], shared: bool, wait: bool) -> None:
        while not shared:  # which it does not have; nor does it remove files that are open
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                break
            except OSError as error:
                if not wait or error.errno != errno.EDEADLK:  # raised after ten seconds
                    raise
else:
    import fcntl

    def _lock(file: IO[bytes], shared: bool, wait: bool) -> None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file, which replaces `path` once the body has written it.

    Where that fails, `path` stays as it was, and the temporary file is removed.

    Parameters
    ----------
    path : Path

    Raises
    ------
    UsageError
        Where the file cannot be written.
    """
    part = partial_path(path)
    try:
        yield part
        os.replace(part, path)  # noqa: PTH105 - pathlib's says the same, atomically as this
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def partial_path(path: Path) -> Path:
    """Return the path of a file as long as it is not complete."""
    return path.with_name(f".{path.name}.part")


def make_folder(folder: Path, what: str, instead: str = "") -> Path:
    """Make a folder and its parents where they do not exist, and return it.

    Parameters
    ----------
    folder : Path
    what : str
        What is to be written there, for the message of an error.
    instead : str
        What to do about the error, for its message.

    Raises
    ------
    UsageError
        Where the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{error.strerror or error}; {instead}" if instead else error.strerror or error
        raise UsageError(f"cannot write {what} to {folder}: {why}") from None
    return folder


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = True) -> Iterator[bool]:
    """Keep other processes out, until they have their turn; a process that dies lets go.

    Where the file cannot be written or its file system has no locks, nobody waits. Gives whether
    the lock is held.

    Parameters
    ----------
    path : Path
        A file, which is made where it is not there, and stays.
    shared : bool
        Whether others that share it may come in.
    wait : bool
        Whether to wait for those who are in.
    """
    with ExitStack() as held:
        alone = False
        with suppress(OSError):
            _lock(held.enter_context(path.open("ab")), shared, wait)
            alone = True
        yield alone
