"""The child's end of a worker process; the parent's end is `orthobench.tools.processes`.

The parent runs this file as a script, possibly in an interpreter without orthobench, so the file
imports the standard library only.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import sys
from functools import partial
from importlib import util
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable

CODECS: dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    "pickle": (partial(pickle.dumps, protocol=pickle.HIGHEST_PROTOCOL), pickle.loads),
    "json": (lambda message: json.dumps(message).encode(), json.loads),
}
"""Writers and readers of messages. Unpickling runs code: only read trusted bytes."""

LENGTH = struct.Struct("<q")


class Channel:
    """Messages to and from another process, each written after its length.

    Parameters
    ----------
    incoming, outgoing : binary file
    codec : {"pickle", "json"}
    loads : callable, optional
        Reads messages; by default the codec's reader.
    """

    def __init__(
        self,
        incoming: BinaryIO,
        outgoing: BinaryIO,
        codec: str,
        loads: Callable[[bytes], Any] | None = None,
    ) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._dumps, own_loads = CODECS[codec]
        self._loads = loads or own_loads

    def send(self, message: Any) -> None:
        """Write a message, which may be anything but None."""
        data = self._dumps(message)
        self._outgoing.write(LENGTH.pack(len(data)) + data)
        self._outgoing.flush()

    def receive(self) -> Any:
        """Wait for the next message; return None if the other process has closed its end."""
        length = self._incoming.read(LENGTH.size)
        if len(length) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack(length)
        data = self._incoming.read(size)
        return self._loads(data) if len(data) == size else None

    def close(self) -> None:
        """Close both files."""
        try:
            self._outgoing.close()
        finally:
            self._incoming.close()


def main(settings: dict[str, Any]) -> None:
    """Call ``main(channel, **arguments)`` of the module that the parent names."""
    channel = _channel(settings["codec"])
    _die_with(settings["parent"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    if settings["path"] is not None:
        sys.path[:] = search_path(settings["path"])
    if settings["package"] is not None:
        _load_package(settings["module"].partition(".")[0], settings["package"])
    # not an import statement, which the digest of a run's source code would follow
    __import__(settings["module"])
    sys.modules[settings["module"]].main(channel, **settings["arguments"])


def search_path(path: list[str]) -> list[str]:
    """Return the parent's ``sys.path`` with the current folder last, so that it hides no module.

    The folder keeps its position if this interpreter has it too, from PYTHONPATH or an editable
    installation.
    """
    try:
        here = os.path.realpath(os.curdir)
        if here in map(os.path.realpath, sys.path):
            return path
        return sorted(path, key=lambda folder: os.path.realpath(folder) == here)
    except FileNotFoundError:  # the current folder was removed
        return [folder for folder in path if folder]


def _channel(codec: str) -> Channel:
    """Return a channel over the true standard streams; prints of solvers go to standard error."""
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"), codec)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


def _die_with(parent: int) -> None:
    """Ask Linux to kill this process with its parent, and to make orphans its children."""
    if sys.platform == "linux":
        import ctypes

        set_death_signal, set_child_subreaper = 1, 36
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
        ctypes.CDLL(None).prctl(set_child_subreaper, 1)
        if os.getppid() != parent:  # another process is in between, or the parent died
            try:
                os.kill(parent, 0)
            except ProcessLookupError:
                sys.exit("the process that started this one is gone")


def _load_package(name: str, folder: str) -> None:
    """Import a package that is not installed, from its folder."""
    file = os.path.join(folder, "__init__.py")  # noqa: PTH118 - pathlib takes time to import
    spec = util.spec_from_file_location(name, file, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {folder}")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
