"""A side's worker process, seen from the installation that compares."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from orthobench.compare import remote
from orthobench.compare.comparison import Side
from orthobench.compare.curves import Curve
from orthobench.errors import OrthobenchError
from orthobench.tools.processes import Process, ProcessError, Program

REMOTE = Path(remote.__file__).parent


class SideError(OrthobenchError):
    """A side that could not do what it was asked: its code raised, died or hung."""


def program_of(python: Path, module: str, **arguments: Any) -> Program:
    """Return the program of a module of `orthobench.compare.remote`, for another interpreter."""
    return Program(f"orthobench_remote.{module}", arguments, "json", python, REMOTE)


class SideProcess(AbstractContextManager["SideProcess"]):
    """A worker of one side.

    Parameters
    ----------
    side : Side
        A live one.
    clock : {"cpu", "wall"}
    threads : int
        Threads of the libraries that it loads.
    patience : float
        Seconds that one request may take; the process is killed then.
    """

    def __init__(self, side: Side, clock: str, threads: int, patience: float) -> None:
        if side.python is None:
            raise SideError(f"{side} has no interpreter")
        self._process = Process(program_of(side.python, "worker", clock=clock), threads)
        self._patience = patience

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request, and return its reply.

        Raises
        ------
        SideError
            Where the side raised, died, or was killed for taking too long.
        """
        self.send(do, **request)
        return self.receive()

    def send(self, do: str, **request: Any) -> None:
        """Send a request; `receive` returns the reply."""
        self._process.send({"do": do, **request})

    def receive(self) -> dict[str, Any]:
        """Return the reply to the oldest request that has none yet.

        Raises
        ------
        SideError
            Where the side raised, died, or was killed for taking too long.
        """
        try:
            reply: dict[str, Any] = self._process.receive(self._patience)
        except (ProcessError, TimeoutError) as error:
            raise SideError(str(error)) from None
        if "error" in reply:
            raise SideError(reply["error"])
        if reply.get("ended"):
            raise SideError(str(ProcessError(reply["ended"], self._process.last_words)))
        return reply

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.alive

    def close(self) -> None:
        """Kill the process."""
        self._process.close()


class Runner(AbstractContextManager["Runner"]):
    """A worker that runs one cell after another; where a cell kills it, it is replaced.

    Parameters
    ----------
    side : Side
        A live one.
    suite : mapping
        The arguments of the request ``plan``.
    clock : {"cpu", "wall"}
    threads : int
    patience : float
        Seconds that one request may take.
    """

    def __init__(
        self, side: Side, suite: Mapping[str, Any], clock: str, threads: int, patience: float
    ) -> None:
        self._side, self._suite = side, suite
        self._start = partial(SideProcess, side, clock, threads, patience)
        self._process = self._started()

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def plan(self) -> dict[str, Any]:
        """Return the cells that the side has; to be called once, before anything else.

        Raises
        ------
        SideError
            Where the side cannot plan anything at all.
        """
        try:
            return self._process.receive()
        except SideError as error:
            raise SideError(f"{self._side.name} cannot be compared: {error}") from None

    def start(self, key: str, ratio: float) -> None:
        """Let the worker run a cell with checkpoints `ratio` apart; `curve` waits for its curve."""
        if not self._process.alive:
            self._process.close()
            self._process = self._started()
            self.plan()
        self._process.send("run", key=key, ratio=ratio)

    def curve(self) -> Curve:
        """Return the curve of the cell that was started; a failed one where the worker died."""
        try:
            return Curve.of_reply(self._process.receive())
        except SideError as error:
            return Curve.without(str(error))

    def _started(self) -> SideProcess:
        process = self._start()
        process.send("plan", **self._suite)
        return process
