"""Files that are written as a whole or not at all, and folders that are made before long work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orthobench.errors import UsageError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give another file to write, which takes the place of `path` once it is complete.

    Where writing fails, `path` stays as it was, and nothing else is left.

    Parameters
    ----------
    path : Path

    Raises
    ------
    UsageError
        Where the file cannot be written.
    """
    part = beside(path)
    try:
        yield part
        os.replace(part, path)  # noqa: PTH105 - pathlib's says the same, atomically as this
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def beside(path: Path) -> Path:
    """Return what a file is called as long as it is not complete."""
    return path.with_name(f".{path.name}.part")


def made(folder: Path, what: str, instead: str = "") -> Path:
    """Make a folder, and what it lies in.

    Parameters
    ----------
    folder : Path
    what : str
        What is to be written there, for the message.
    instead : str
        What to do where that fails, for the message.

    Raises
    ------
    UsageError
        Where it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{error.strerror or error}; {instead}" if instead else error.strerror or error
        raise UsageError(f"cannot write {what} to {folder}: {why}") from None
    return folder
