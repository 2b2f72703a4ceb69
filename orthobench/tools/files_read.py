"""The files that this process reads, and whether they still are what they were then.

Python tells a hook of every file that it opens and every folder that it lists; the files of the
modules that were there before are added. What was compiled from a source stands for the source. A
folder has changed where its names have, but for hidden ones and ``__pycache__``, which any process
may make at any time.
"""

from __future__ import annotations

import os
import stat
import sys
import time
import zlib
from collections.abc import Mapping
from importlib.util import source_from_cache
from typing import Any, TypeAlias

State: TypeAlias = "list[int] | None"
"""What differs where a file or folder was changed; None where there is none."""

YOUNG = 60.0
"""Seconds for which a file that was changed may be changed again with nothing to show for it."""

NO_FILES = ("/proc/", "/sys/", "/dev/")

_LISTINGS = ("os.listdir", "os.scandir")


class _Listener:
    """What has been read since `listen`; Python keeps the hook for as long as the process is."""

    def __init__(self) -> None:
        self.read: dict[str, State] = {}
        self.since = 0.0
        self.listens = False
        sys.addaudithook(self._heard)

    def _heard(self, event: str, facts: tuple[Any, ...]) -> None:
        if not self.listens:
            return
        if event == "open" and not facts[2] & (os.O_WRONLY | os.O_RDWR):
            self.note(facts[0])
        elif event in _LISTINGS:
            self.note(facts[0] or ".")
        elif event == "import":  # the file is told of what is no Python
            self.note(facts[1])

    def note(self, path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - faster
        if f"{os.sep}__pycache__{os.sep}" in name and name.endswith(".pyc"):
            name = source_from_cache(name)
        if name in self.read or name.startswith(NO_FILES):
            return
        self.read[name] = None  # to list a folder is to be told of it again
        self.read[name] = state(name)
        if name.endswith(".py"):  # another module may come to be found there
            self.note(name.rpartition(os.sep)[0])


_listener: _Listener | None = None


def listen() -> None:
    """Begin to note what is read."""
    global _listener
    _listener = _listener or _Listener()
    _listener.read, _listener.since, _listener.listens = {}, time.time(), True
    for path in (*sys.path, *(getattr(m, "__file__", None) for m in list(sys.modules.values()))):
        _listener.note(path)


def noted() -> Mapping[str, State]:
    """Return what has been read since `listen`, each as it was before it was read first."""
    return {} if _listener is None else dict(_listener.read)


def stop() -> Mapping[str, State]:
    """Note no more; return what was read, or nothing where some of it changed just before."""
    if _listener is None:
        return {}
    _listener.listens = False
    old = (_listener.since - YOUNG) * 1e9
    young = any(s and max(s[3:], default=0) >= old for s in _listener.read.values())
    return {} if young else noted()


def unchanged(read: Mapping[str, State]) -> bool:
    """Return whether files and folders are what they were when they were read."""
    return all(state(path) == before for path, before in read.items())


def state(path: str) -> State:
    """Return the state of a file or a folder; only that of a file has times, the last two."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a thousand of them
        if stat.S_ISDIR(found.st_mode):
            names = (n for n in os.listdir(path) if n[0] != "." and n != "__pycache__")  # noqa: PTH208
            return [found.st_dev, found.st_ino, zlib.crc32("/".join(sorted(names)).encode())]
    except (OSError, ValueError):
        return None
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
