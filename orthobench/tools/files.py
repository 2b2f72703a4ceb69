"""Files that are written completely or not at all, and folders to write them to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orthobench.errors import UsageError


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
