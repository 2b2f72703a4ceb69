"""A side's worker process, seen from the comparison."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import IO, Any, cast

from orthobench.compare.comparison import Side
from orthobench.errors import OrthobenchError
from orthobench.tools.processes import THREAD_VARIABLES

WORKER = Path(__file__).with_name("worker.py")

SAID = 2000
"""Characters that are kept of what a process wrote before it died."""


class SideError(OrthobenchError):
    """A side that could not do what it was asked: its code raised, died or hung."""


class Process:
    """A worker of one side; a context manager that leaves nothing running.

    Parameters
    ----------
    side : Side
        A live one.
    clock : str
        ``"cpu"`` or ``"wall"``.
    threads : int
        Threads of the libraries that it loads.
    patience : float
        Seconds that one request may take; the process is killed then.
    """

    def __init__(self, side: Side, clock: str, threads: int, patience: float) -> None:
        self._side, self._patience = side, patience
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [str(side.python), "-I", str(WORKER), clock],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
            start_new_session=True,
        )
        self._requests = cast("IO[str]", self._process.stdin)
        self._replies = cast("IO[str]", self._process.stdout)
        self._late = False

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._kill()
        self._process.wait()
        with suppress(BrokenPipeError):
            self._requests.close()
        self._replies.close()
        self._said.close()

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request, and return its reply.

        Raises
        ------
        SideError
            Where it raised, or the process died or was killed for taking too long.
        """
        self.send(do, **request)
        return self.receive()

    def send(self, do: str, **request: Any) -> None:
        """Send a request; `receive` has its reply."""
        with suppress(BrokenPipeError):
            self._requests.write(json.dumps({"do": do, **request}) + "\n")
            self._requests.flush()

    def receive(self) -> dict[str, Any]:
        """Return the reply to the oldest request.

        Raises
        ------
        SideError
            Where it raised, or the process died or was killed for taking too long.
        """
        timer = Timer(self._patience, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            line = self._replies.readline()
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            raise SideError(self._ending())
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise SideError(reply["error"])
        if reply.get("ended"):
            raise SideError(f"its process ended ({_how(reply['ended'])})")
        return reply

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def _give_up(self) -> None:
        self._late = True
        self._kill()

    def _kill(self) -> None:
        """Kill the process and its copies, which are a session of their own."""
        if os.name != "posix":
            self._process.kill()
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _ending(self) -> str:
        code = self._process.wait()
        if self._late:
            return f"took longer than {self._patience:g} s, and was killed"
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()[-SAID:]
        return f"its process ended ({_how(code)})" + (f": {said}" if said else "")


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
