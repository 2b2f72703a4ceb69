"""The files of a side as they were when it was built, so that a change of them is noticed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from orthobench.errors import OrthobenchError

State: TypeAlias = tuple[int, int, int, int, int]
"""Inode, mode, size, and the times at which contents and inode were changed last."""


MACHINE_CODE = "machine code"
"""The digest of all machine code, which is not read: numba may write it whenever code runs."""


class ChangedError(OrthobenchError):
    """A side that is not what was built any more."""


@dataclass(frozen=True)
class Seal:
    """The state and the digest of every file in some folders.

    Attributes
    ----------
    roots : tuple of Path
        Folders, or single files.
    files : mapping
        State and SHA-256 of each file, by its path.
    """

    roots: tuple[Path, ...]
    files: Mapping[str, tuple[State, str]]

    @classmethod
    def of(cls, *roots: Path) -> Seal:
        """Return the seal of folders and files as they are now."""
        found = {path: (state, _digest(path, state)) for path, state in _states(roots)}
        return cls(roots, found)

    def changed(self, strict: bool = False) -> list[str]:
        """Return the paths of files that were changed, added or removed.

        Contents are only read where the state differs: without an administrator's rights nobody
        can set the time at which an inode was changed.

        Parameters
        ----------
        strict : bool
            Whether what Python and numba add while code runs counts too: new bytecode, and machine
            code.
        """
        now = dict(_states(self.roots))
        paths = [path for path, (state, _) in self.files.items() if now.get(path) != state]
        paths += [path for path in now if path not in self.files]
        return [
            path
            for path in paths
            if (strict or not self._is_cached(path)) and self._differs(path, now.get(path))
        ]

    def check(self, side: object, strict: bool = False) -> None:
        """Refuse a side of which a file was changed.

        Raises
        ------
        ChangedError
            With the file's name.
        """
        if paths := self.changed(strict):
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            raise ChangedError(
                f"{side} is not what was built any more: {paths[0]}{more} changed during the "
                "comparison; find out what writes there, and compare again"
            )

    def _differs(self, path: str, state: State | None) -> bool:
        return (
            state is None or path not in self.files or _digest(path, state) != self.files[path][1]
        )

    def _is_cached(self, path: str) -> bool:
        """Return whether a path is machine code, or bytecode that was not there."""
        return _is_machine_code(path) or (path.endswith(".pyc") and path not in self.files)


def _is_machine_code(path: str) -> bool:
    return not path.endswith(".pyc") and "__pycache__" in Path(path).parts


def _states(roots: tuple[Path, ...]) -> Iterator[tuple[str, State]]:
    """Yield every file and link with its state; links are not followed."""
    for root in roots:
        if root.is_file():
            yield str(root), _state(str(root))
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                path = os.path.join(folder, name)  # noqa: PTH118 - there are thousands
                state = _state(path)
                if not stat.S_ISDIR(state[1]):
                    yield path, state


def _state(path: str) -> State:
    try:
        found = os.lstat(path)
    except FileNotFoundError:  # a temporary file that is gone already
        return (0, 0, 0, 0, 0)
    return (found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _digest(path: str, state: State) -> str:
    if _is_machine_code(path):
        return MACHINE_CODE
    try:
        if stat.S_ISLNK(state[1]):
            return os.readlink(path)  # noqa: PTH115 - as above
        if stat.S_ISREG(state[1]):
            with open(path, "rb") as file:  # noqa: PTH123
                return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return "no regular file"
