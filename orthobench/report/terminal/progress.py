"""Progress of a run on standard error: a live bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from orthobench.harness.executors import Observer
from orthobench.tools.formatting import clean, duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

SECONDS = 10.0
"""Minimum time between two plain lines, in seconds."""

FEW = 5
"""The number of cells after which the time left is estimated."""


class Progress(Observer):
    """Display of the cells as they end: a bar that a terminal redraws, or lines for logs.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    show : callable, optional
        Writes the results of a problem as soon as all of its cells have ended.
    stream : text file, optional
        Standard error by default.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        quiet: bool = False,
        show: Callable[[Any], None] | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._quiet, self._show, self._clock = quiet, show, clock
        self._stream = stream or sys.stderr
        self._bar: Bar | None = None
        self._task: Any = None
        self._ended: list[float] = []
        self._left = self._failed = 0
        self._began = self._last = math.nan

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.update(self._task, description="")
            self._bar.stop()
        elif self._left and not math.isnan(self._began):
            done = len(self._ended)
            self._write(f"stopped after {done} of {done + self._left} cells")

    def expect(self, left: int, stored: int = 0) -> None:
        """Set the number of cells that are left; the first call begins the display."""
        self._left = left
        if self._bar:
            self._bar.update(self._task, total=len(self._ended) + left)
        elif math.isnan(self._began) and left + stored and not self._quiet:
            self._began = self._last = self._clock()
            if left and self._stream.isatty():
                kept = f", {stored} from the store" if stored else ""
                self._bar = _bar(self._stream)
                first = "the first cells compile kernels"
                self._task = self._bar.add_task(first, total=left, failed="", stored=kept)
                self._bar.start()
            else:
                more = f" ({stored} more from the store)" if stored else ""
                self._write(f"{left} cells to run{more}")

    def table(self, results: Any) -> None:
        """Show the results of a problem, above the bar."""
        if self._show:
            with self._hidden():
                self._show(results)

    def begin(self, label: str, worker: str = "1") -> None:  # noqa: ARG002 - one bar for all
        """Show that a worker begins a cell."""
        if self._bar:
            self._bar.update(self._task, description=clean(label))

    def late(self, label: str, said: str) -> None:
        """Write that a cell takes long."""
        if not self._quiet:
            with self._hidden():
                self._write(f"{clean(label)} takes long: {said}")

    def end(self, label: str, failed: bool, worker: str = "1") -> None:  # noqa: ARG002 - as above
        """Count one cell that has ended."""
        self._ended.append(self._clock())
        self._left -= 1
        self._failed += failed
        failures = f", {self._failed} failed" if self._failed else ""
        if self._bar:
            self._bar.update(self._task, advance=1, description=clean(label), failed=failures)
        elif not math.isnan(self._began):
            self._log(label, failures)

    def _log(self, label: str, failures: str) -> None:
        now, done = self._ended[-1], len(self._ended)
        if self._left and now - self._last < SECONDS:
            return
        self._last = now
        times = f"{duration(now - self._began)} elapsed"
        if done > FEW and self._left:
            # without the first cell, which compiles kernels
            left = (now - self._ended[0]) / (done - 1) * self._left
            times += f", {duration(left)} left"
        self._write(f"{done}/{done + self._left} cells{failures}, {times}: {clean(label)}")

    @contextmanager
    def _hidden(self) -> Iterator[None]:
        if not self._bar:
            yield
            return
        self._bar.live.transient = True
        self._bar.stop()
        self._bar.live.transient = False
        try:
            yield
        finally:
            self._bar.start()

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


def _bar(stream: TextIO) -> Bar:
    from rich import progress
    from rich.console import Console
    from rich.table import Column

    name = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return progress.Progress(
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TextColumn("cells[red]{task.fields[failed]}[/red][dim]{task.fields[stored]}"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("[dim]left"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.description}", markup=False, table_column=name),
        console=Console(file=stream), speed_estimate_period=3600, expand=True,
    )  # fmt: skip
