"""Files: written completely or not at all, locks, CSV without formulas, paths of strangers."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import secrets
import stat
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any, BinaryIO

from orthobench.errors import DataError, UsageError, quoted

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes], wait: bool) -> None:
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                break
            except OSError as error:
                if not wait or error.errno != errno.EDEADLK:  # raised after ten seconds
                    raise
else:
    import fcntl

    def _lock(file: IO[bytes], wait: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK
"""Flags of a temporary file, which must be new."""

TRIES = 20
"""Number of attempts at a lock."""

PAUSE = 0.05
"""Seconds between two attempts."""

HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""Errors for a lock that another process holds."""

LOCK = os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_LINK | getattr(os, "O_NONBLOCK", 0)
"""Flags of the file of a lock; a pipe of its name does not block."""


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` at the end; refuse links and unwritable paths."""
    with _temporary(path) as (part, file):
        yield file
        file.close()
        os.replace(part, path)  # noqa: PTH105 - atomic


def refuse_unwritable(path: Path) -> None:
    """Raise a `UsageError` for a file that `atomic_write` could not write."""
    if path.exists() and not path.is_file():
        raise UsageError(f"cannot write {path}: not a regular file")
    with _temporary(path):
        pass


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Open a new file beside `path`, under a random name, and remove it at the end."""
    refuse_link(path)
    part = path.with_name(f".orthobench-{secrets.token_hex(8)}.part")
    try:
        with os.fdopen(os.open(part, NEW, 0o666), "w+b") as file:
            yield part, file
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def opened(path: Path) -> BufferedReader:
    """Open a regular file to read it; raise an `OSError` for pipes and devices."""
    wait_for_nobody = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, os.O_RDONLY | wait_for_nobody)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(number, "rb")


def file_state(path: Path, offset: int = 0) -> tuple[str, str, int, int, int] | None:
    """Return path, size and time of change of a file, with a position in it; None if absent."""
    if not path.is_file():
        return None
    state = path.stat()
    return "file", str(path), offset, state.st_size, state.st_mtime_ns


def refuse_link(path: Path) -> None:
    """Raise a `UsageError` for a link, whose author chose the file that would be written."""
    if path.is_symlink():
        raise UsageError(f"nothing is written through links, and {path} is one: remove it")


def safe_join(folder: Path, *parts: str) -> Path:
    """Return a path below a folder; raise a `UsageError` for links on the way."""
    for part in parts:
        folder = folder / part
        refuse_link(folder)
    return folder


def make_folder(folder: Path, what: str, instead: str = "") -> Path:
    """Make a folder and its parents, and return it.

    `what` names its contents and `instead` the remedy in a `UsageError`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{error.strerror or error}; {instead}" if instead else error.strerror or error
        raise UsageError(f"cannot write {what} to {folder}: {why}") from None
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made and stays, until the end of the context or process.

    Without a writable file on a file system with locks, nothing is locked.
    """
    with ExitStack() as held:
        with suppress(OSError):
            file = held.enter_context(os.fdopen(os.open(path, LOCK, 0o666), "ab"))
            _lock(file, wait=True)
        yield


@contextmanager
def exclusive_lock(path: Path, otherwise: Exception) -> Iterator[None]:
    """Hold the lock of a file, in a file beside it; raise `otherwise` if another process has it.

    Without a writable file on a file system with locks, nothing is locked.
    """
    lock = path.with_name(f"{path.name}-lock")
    for _ in range(TRIES):
        with ExitStack() as held:
            try:
                file = held.enter_context(os.fdopen(os.open(lock, LOCK, 0o666), "ab"))
            except OSError:
                yield
                return
            if not _is_locked(file) and _is_at(file, lock):
                held.callback(_remove, lock)
                yield
                return
        time.sleep(PAUSE)
    raise otherwise


def _is_locked(file: IO[bytes]) -> bool:
    """Lock a file, or return that another process holds it."""
    try:
        _lock(file, wait=False)
    except OSError as error:
        return error.errno in HELD
    return False


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Return whether an open file is the one at a path; a former holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _remove(lock: Path) -> None:
    with suppress(OSError):
        lock.unlink()


FORMULA = ("=", "+", "-", "@")
"""Beginnings of formulas; a spreadsheet ignores white space before them, and their width."""


def write_csv(rows: Iterable[Iterable[Any]], file: BinaryIO, newline: str = "\r\n") -> None:
    """Write rows as CSV, in UTF-8; no cell is a formula."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        writer = csv.writer(text, lineterminator=newline)
        writer.writerows([_cell(value) for value in row] for row in rows)
    finally:
        text.detach()


def _cell(value: Any) -> Any:
    if not isinstance(value, str) or not _begins_formula(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def _begins_formula(text: str) -> bool:
    begins = next((c for c in text if c.isprintable() and not c.isspace()), "")
    return text.startswith(("\t", "\r")) or unicodedata.normalize("NFKC", begins) in FORMULA


def hide_home(text: str) -> str:
    """Return a text in UTF-8 in which the user's home folder is ``~``."""
    text = text.encode(errors="backslashreplace").decode()  # names of files may be other bytes
    home = str(Path("~").expanduser())
    if len(home) < 2:  # there is none, or it is the root
        return text
    return re.sub(rf"(?<![\w.~/\\-]){re.escape(home)}(?![\w.-])", "~", text)


def refuse_files(parameters: Mapping[str, Any], folders: Sequence[Path] = ()) -> None:
    """Raise a `DataError` for parameters that may name a file outside of some folders."""
    allowed = [folder.resolve() for folder in folders]
    for name, value in parameters.items():
        if isinstance(value, str) and names_file(name, value):
            where = Path(value).expanduser().resolve()
            if not any(where.is_relative_to(folder) for folder in allowed):
                raise DataError(f"it reads the file {quoted(value)}: name its folder with --data")


def names_file(parameter: str, value: str) -> bool:
    """Return whether a text may be the name of a file."""
    absolute = any(kind(value).is_absolute() for kind in (PurePosixPath, PureWindowsPath))
    if parameter == "path" or absolute or value.startswith(("~", "..")):
        return True
    try:
        return Path(value).exists()
    except (OSError, ValueError):  # too long, or with a NUL
        return False
