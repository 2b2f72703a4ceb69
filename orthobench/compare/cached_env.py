"""The environments that are kept for the next comparison, in a folder that is only this user's.

Each is built beside its place and renamed when it is complete. A lock keeps two processes from
building the same one, and everybody from removing one that is in use. What was changed since it was
built is built anew. Those that were used least recently go first when there is too much.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orthobench.compare.seal import MACHINE_CODE, Seal
from orthobench.errors import UsageError
from orthobench.tools.files import locked, make_folder

MOST = 2 * 10**9
"""Bytes that the environments may take together."""

DIGESTS = "digests.json"
"""The file in an environment that has the digests of the others."""

ATTEMPTS = 3


@dataclass(frozen=True)
class CachedEnv:
    """An environment that is kept.

    Attributes
    ----------
    folder : Path
    used : float
        When it was used last, in seconds since the epoch.
    size : int
        Bytes.
    """

    folder: Path
    used: float
    size: int


def folder_by_default() -> Path:
    """Return the folder of kept environments in the user's cache, which may not exist yet."""
    import platformdirs

    return platformdirs.user_cache_path("orthobench") / "environments"


def users_folder() -> Path | None:
    """Make the folder in the user's cache, and return it; None where it cannot be written to."""
    folder = folder_by_default()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def own_folder(folder: Path) -> Path:
    """Make the folder of kept environments where it does not exist, and return it.

    Raises
    ------
    UsageError
        Where it cannot be made, or others can write to it: who can, decides what code runs.
    """
    if not folder.exists():
        make_folder(folder, "environments", "name another folder with --environments").chmod(0o700)
    found = folder.stat()
    if os.name == "posix" and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        raise UsageError(
            f"others can write to {folder}, and code that is compared is run from there: "
            "name a folder of your own with --environments"
        )
    return folder


@contextmanager
def acquire(folder: Path, build: Callable[[Path], object]) -> Iterator[Seal]:
    """Give the seal of a kept environment, which is not removed meanwhile.

    Parameters
    ----------
    folder : Path
    build : callable
        Builds it in the folder that it is called with, where there is none or it was changed.
    """
    for attempt in range(ATTEMPTS):
        with locked(_lock(folder), shared=True):
            if seal := _intact(folder):
                if attempt:
                    make_room(folder.parent)
                try:
                    yield seal
                finally:
                    _note_use(folder)
                return
        with locked(_lock(folder)):
            if _intact(folder) is None:
                _make(folder, build)
    raise UsageError(f"{folder} is changed again and again: name another with --environments")


def cached_envs(root: Path) -> list[CachedEnv]:
    """Return the environments that are kept in a folder, the least recently used first."""
    found = []
    for lock in root.glob("*.lock"):
        if (folder := lock.with_suffix("")).is_dir():
            size = lock.read_text(encoding="utf-8")
            found.append(
                CachedEnv(folder, lock.stat().st_mtime, int(size) if size.isdigit() else 0)
            )
    return sorted(found, key=lambda kept: kept.used)


def make_room(root: Path, most: int | None = None) -> None:
    """Remove what broken-off builds left, and what was used least recently until the rest fits."""
    for part in root.glob(".*.*"):
        _remove_unused(root / part.name[1:].rpartition(".")[0], part)
    kept = cached_envs(root)
    excess = sum(one.size for one in kept) - (MOST if most is None else most)
    for one in kept:
        if excess > 0 and _remove_unused(one.folder, one.folder):
            excess -= one.size


def _remove_unused(folder: Path, what: Path) -> bool:
    """Remove something of an environment that nobody uses or builds; return whether it is gone."""
    with locked(_lock(folder), wait=False) as alone:
        if alone:
            shutil.rmtree(what, ignore_errors=True)
        return alone


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _make(folder: Path, build: Callable[[Path], object]) -> None:
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    for old in (folder, *folder.parent.glob(f".{folder.name}.*")):
        shutil.rmtree(old, ignore_errors=True)
    try:
        build(part)
        digests = json.dumps(_digests(part, Seal.of(part)))
        (part / DIGESTS).write_text(digests, encoding="utf-8")
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _note_use(folder)


def _intact(folder: Path) -> Seal | None:
    """Return the seal of a kept environment; None where there is none that is as it was built."""
    try:
        built = json.loads((folder / DIGESTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    seal = Seal.of(folder)
    now = _digests(folder, seal)
    added = {path for path in now if path not in built and path.endswith(".pyc")}
    return seal if {path: now[path] for path in now.keys() - added} == built else None


def _digests(folder: Path, seal: Seal) -> dict[str, str]:
    """Return the digests of all files but these and machine code, by relative path."""
    return {
        os.path.relpath(path, folder): digest
        for path, (_, digest) in seal.files.items()
        if digest != MACHINE_CODE and path != str(folder / DIGESTS)
    }


def _note_use(folder: Path) -> None:
    """Write down how large an environment is; when that was written is when it was used last."""
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    _lock(folder).write_text(str(size), encoding="utf-8")
