"""Progress of a run on standard error: a live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from orthobench.harness.executors import Observer
from orthobench.tools.formatting import clean, duration

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

SECONDS = 10.0
"""Minimum time between two plain lines, in seconds."""

FEW = 5
"""The number of cells after which the rest is estimated."""


class Progress(Observer):
    """Display of the cells as they end: a line that a terminal redraws, or lines for logs.

    `clock` returns seconds.
    """

    def __init__(
        self,
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._quiet, self._clock = quiet, clock
        self._stream = stream or sys.stderr
        self._status: Status | None = None
        self._label = self._kept = ""
        self._ended: list[float] = []
        self._left = self._failed = 0
        self._began = self._last = math.nan

    def __exit__(self, *error: object) -> None:
        if self._status:
            self._status.stop()
        if self._left and not math.isnan(self._began):
            done = len(self._ended)
            self._write(f"stopped after {done} of {done + self._left} cells")
        elif self._status:
            self._write(self._line())

    def __rich__(self) -> Text:
        """Return the line of the display, which a terminal draws anew all the time."""
        from rich.text import Text

        return Text(self._line(), no_wrap=True, overflow="ellipsis")

    def expect(self, left: int, stored: int = 0) -> None:
        """Set the number of cells that are left; the first call begins the display."""
        self._left = left
        if self._quiet or not math.isnan(self._began) or not left + stored:
            return
        self._began = self._last = self._clock()
        self._kept = f", {stored} from the store" if stored else ""
        if left and self._stream.isatty():
            from rich.console import Console

            self._status = Console(file=self._stream).status(self)
            self._status.start()
        else:
            self._write(f"{left} cells to run{self._kept}")

    def begin(self, label: str, worker: str = "1") -> None:  # noqa: ARG002 - one line for all
        """Show that a worker begins a cell."""
        self._label = clean(label)

    def late(self, label: str, said: str) -> None:
        """Write that a cell takes long."""
        if not self._quiet:
            self._write(f"{clean(label)} takes long: {said}")

    def end(self, label: str, failed: bool, worker: str = "1") -> None:  # noqa: ARG002 - as above
        """Count one cell that has ended."""
        now = self._clock()
        self._ended.append(now)
        self._label = clean(label)
        self._left -= 1
        self._failed += failed
        shown = self._status or math.isnan(self._began)
        if not shown and (not self._left or now - self._last >= SECONDS):
            self._last = now
            self._write(self._line())

    def _line(self) -> str:
        done = len(self._ended)
        failures = f", {self._failed} failed" if self._failed else ""
        times = f"{duration(self._clock() - self._began)} elapsed"
        if done > FEW and self._left:
            # without the first cell, which compiles kernels
            left = (self._ended[-1] - self._ended[0]) / (done - 1) * self._left
            times += f", {duration(left)} left"
        counts = f"{done}/{done + self._left} cells{failures}{self._kept}"
        return f"{counts}, {times}: {self._label}{'' if done else ' (compiles kernels)'}"

    def _write(self, line: str) -> None:
        if self._status:
            self._status.console.print(line, markup=False, highlight=False, soft_wrap=True)
            return
        self._stream.write(line + "\n")
        self._stream.flush()
