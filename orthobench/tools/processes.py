"""The parent's end of worker processes; the child's end is `orthobench.tools.child`.

A worker never imports from the current folder in place of installed packages. It is killed with all
copies of itself (not on Windows), and on Linux together with its parent.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any, BinaryIO, Self, TypeAlias, cast

from orthobench.errors import OrthobenchError
from orthobench.tools import child
from orthobench.tools.child import Channel
from orthobench.tools.machine import descendants, out_of_memory

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
"""Environment variables that libraries read when they are loaded."""

LAST_BYTES = 4000
"""Maximum number of bytes of standard error in an error message."""


Replies: TypeAlias = "SimpleQueue[tuple[Process, Any]]"
"""Messages with their process; None for the end of a process."""


class ProcessError(OrthobenchError):
    """A worker process that ended before it replied: a clause, and the end of standard error."""

    def __init__(self, reason: str, stderr: str = "") -> None:
        super().__init__(f"{reason}: {stderr}" if stderr else reason)
        self.reason, self.stderr = reason, stderr


def kill_all(processes: Iterable[int]) -> None:
    """Kill processes by their ids, on POSIX systems; one may be gone."""
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def reason_of(code: int, out_of_memory: bool = False) -> str:
    """Return how a process ended, as a clause.

    `out_of_memory` says that the system killed one for want of memory during its life.
    """
    if code == -9 and out_of_memory:
        return "its process was killed by SIGKILL, and the system killed for want of memory"
    if code < 0:
        return f"its process was killed by {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"


class Alarm(AbstractContextManager["Alarm"]):
    """Calls a function in another thread after some seconds; the end of the context cancels it.

    `rang` says whether the function was called since the time was set.
    """

    rang: bool = False

    def __init__(self, call: Callable[[], object], seconds: float = math.inf) -> None:
        self._call, self._changed = call, threading.Condition()
        self._at = self._wakes = time.monotonic() + seconds
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        """Cancel it, after a call that has begun."""
        with self._changed:
            self._at = -math.inf
            self._changed.notify()
        self._thread.join()

    def set(self, seconds: float) -> None:
        """Set the time to some seconds from now."""
        with self._changed:
            self._at, self.rang = time.monotonic() + seconds, False
            if self._at < self._wakes:  # otherwise it wakes up in time
                self._changed.notify()

    def _wait(self) -> None:
        with self._changed:
            while self._at != -math.inf:
                left = self._at - time.monotonic()
                if left <= 0:
                    self._at, self.rang = math.inf, True
                    self._call()
                    continue
                self._wakes = self._at
                self._changed.wait(None if left == math.inf else min(left, threading.TIMEOUT_MAX))


class Process:
    """A worker process, which runs the function ``main(channel, **arguments)`` of a module.

    Parameters
    ----------
    module : str
    arguments : mapping
        JSON values.
    threads : int
        Threads of its libraries.
    replies : SimpleQueue, optional
        Takes each message with the process, and None at the end; otherwise use `receive`.
    loads : callable, optional
        Reads messages of a process that is not trusted.
    codec : {"pickle", "json"}
        ``"json"`` for code that is not ours.
    python, package : Path, optional
        The interpreter of another environment, and the folder of the module's package if it is not
        installed there.
    """

    def __init__(
        self,
        module: str,
        arguments: Mapping[str, Any] = MappingProxyType({}),
        threads: int = 1,
        replies: Replies | None = None,
        *,
        loads: Callable[[bytes], Any] | None = None,
        codec: str = "pickle",
        python: Path | None = None,
        package: Path | None = None,
    ) -> None:
        settings = {
            "module": module,
            "arguments": dict(arguments),
            "codec": codec,
            "parent": os.getpid(),
            "path": None if python else sys.path,
            "package": package and str(package),
        }
        start = [str(python), "-I"] if python else [sys.executable, "-P"]
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._written = 0
        self._memory = out_of_memory()
        self._unreadable: Exception | None = None
        try:
            self._process = subprocess.Popen(
                [*start, child.__file__, json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
                start_new_session=True,
            )
        except OSError:
            self._stderr.close()
            raise
        incoming = cast(BinaryIO, self._process.stdout)
        outgoing = cast(BinaryIO, self._process.stdin)
        self._channel = Channel(incoming, outgoing, codec, loads)
        self._listener = None
        if replies is not None:
            self._listener = threading.Thread(target=self._listen, args=[replies], daemon=True)
            self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: Any) -> None:
        """Send a message; `receive` raises the error if the process is gone."""
        self._written = self._stderr_size()
        with suppress(OSError):  # a broken pipe, which Windows calls an invalid argument
            self._channel.send(message)

    def receive(self, timeout: float | None = None) -> Any:
        """Return the next message from the process.

        Raises
        ------
        ProcessError
            If the process ended.
        TimeoutError
            After `timeout` seconds, when the process is killed.
        """
        message = self._next() if timeout is None else self._next_within(timeout)
        if message is None:
            raise self.death()
        return message

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def last_words(self) -> str:
        """The end of standard error since the last message was sent."""
        begin = max(self._written, self._stderr_size() - LAST_BYTES)
        self._stderr.seek(begin)
        return self._stderr.read().decode(errors="replace").strip()

    def death(self) -> ProcessError:
        """Wait for the process to end; return how it did."""
        code = self._process.wait()
        if self._unreadable is None:
            return ProcessError(reason_of(code, out_of_memory() > self._memory), self.last_words)
        why = str(self._unreadable) or repr(self._unreadable)
        return ProcessError(f"its process sent what is no message: {why}")

    def kill(self) -> None:
        """Kill the process and its session, on Linux with all descendants."""
        family = descendants(self._process.pid)
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):  # the session is empty
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        kill_all(family)

    def close(self) -> None:
        """Kill the process, and free its resources."""
        self.kill()
        if self._listener is not None:
            self._listener.join()
        with suppress(OSError):
            self._channel.close()
        self._stderr.close()

    def _listen(self, replies: Replies) -> None:
        while (message := self._next()) is not None:
            replies.put((self, message))
        replies.put((self, None))

    def _next(self) -> Any:
        """Wait for the next message; return None at the end."""
        if self._unreadable is not None:
            return None
        try:
            return self._channel.receive()
        except Exception as error:  # the following ones cannot be read either
            self._unreadable = error
            self.kill()
            return None

    def _next_within(self, seconds: float) -> Any:
        with Alarm(self.kill, seconds) as alarm:
            message = self._next()
        if message is None and alarm.rang:
            raise TimeoutError(f"took longer than {seconds:g} s, and was killed")
        return message

    def _stderr_size(self) -> int:
        return os.fstat(self._stderr.fileno()).st_size
