"""Runs cells of one side in a worker process; one that dies costs its own cell and no other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from orthobench.compare.comparison import Side
from orthobench.compare.curves import Curve
from orthobench.compare.timing.process import Process, SideError


class Runner:
    """A side's cells, to be run one after the other.

    Parameters
    ----------
    side : Side
        A live one.
    request : mapping
        What plans its cells in a worker.
    clock : str
    threads : int
    patience : float
        Seconds that one request may take.
    """

    def __init__(
        self, side: Side, request: Mapping[str, Any], clock: str, threads: int, patience: float
    ) -> None:
        self._side, self._request = side, request
        self._settings = (clock, threads, patience)
        self._stack = ExitStack()

    def __enter__(self) -> Runner:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._stack.close()

    def plan(self) -> dict[str, Any]:
        """Return the worker's plan; a process is to be asked for it before all else.

        Raises
        ------
        SideError
            Where the side cannot plan anything at all.
        """
        try:
            return self._process.receive()
        except SideError as error:
            raise SideError(f"{self._side.name} cannot be compared: {error}") from None

    def ask(self, name: str, ratio: float) -> None:
        """Let the worker run a cell; `curve` has what it gave."""
        if not self._process.alive:
            self._stack.close()
            self._start()
            self.plan()
        self._process.send("run", key=name, ratio=ratio)

    def curve(self) -> Curve:
        """Return the curve of the cell that was asked for, failed where the process died of it."""
        try:
            return Curve.of_reply(self._process.receive())
        except SideError as error:
            return Curve.without(str(error))

    def _start(self) -> None:
        self._process = self._stack.enter_context(Process(self._side, *self._settings))
        self._process.send("plan", **self._request)
