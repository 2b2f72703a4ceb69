"""A worker process, seen from its parent: started, asked, listened to, killed."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, cast

from orthobench.harness.executors.worker import Reply, Request, receive, send
from orthobench.harness.stopping import Ending, Stop

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
"""What libraries read once, when they are loaded."""

SAID = 4000
"""Last bytes that are kept of what a process wrote while it had the request that it died of."""

BOOT = (
    "import json, sys; sys.path[:], memory = json.loads(sys.argv[1]); "
    "from orthobench.harness.executors.worker import main; main(memory)"
)


class Child:
    """A worker process.

    Parameters
    ----------
    threads : int
        Threads of the libraries that it loads: set before they are.
    memory : int, optional
        Bytes of memory that it may take.
    tell : callable
        Is told each reply, from a thread of its own, and None when the process is gone.
    """

    def __init__(
        self, threads: int, memory: int | None, tell: Callable[[Child, Reply | None], None]
    ) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", BOOT, json.dumps([sys.path, memory])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
        )
        self._heard = 0
        self._requests = cast(BinaryIO, self._process.stdin)
        self._replies = cast(BinaryIO, self._process.stdout)
        self._listener = threading.Thread(target=self._listen, args=(tell,), daemon=True)
        self._listener.start()

    def ask(self, request: Request) -> None:
        """Send a request; where the process is gone, the listener tells."""
        self._heard = os.fstat(self._said.fileno()).st_size
        with suppress(BrokenPipeError):
            send(self._requests, request)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def ending(self) -> Stop:
        """Return how the process died, with the last that it said."""
        code = self._process.wait()
        size = os.fstat(self._said.fileno()).st_size
        self._said.seek(max(self._heard, size - SAID))
        said = self._said.read().decode(errors="replace").strip()
        if code == -signal.SIGKILL:
            reason = "its process was killed by SIGKILL, as systems do that run out of memory"
        elif code < 0:
            reason = f"its process was killed by {signal.Signals(-code).name}"
        else:
            reason = f"its process ended with exit code {code}"
        return Stop(Ending.CRASHED, reason, said)

    def close(self) -> None:
        """Kill the process, and wait until nothing of it is left."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        with suppress(BrokenPipeError):
            self._requests.close()
        self._replies.close()
        self._said.close()

    def _listen(self, tell: Callable[[Child, Reply | None], None]) -> None:
        while (packed := receive(self._replies)) is not None:
            tell(self, pickle.loads(packed))  # noqa: S301 - from our own process
        tell(self, None)
