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
"""The seconds after which the next finished cell is followed by a plain line."""

SLOW = 10.0
"""The seconds that the slowest cell must take to be named."""

FEW = 5
"""The number of cells after which the time left is estimated."""


class Progress(Observer):
    """Display of the cells as they end: a bar that a terminal redraws, or lines for logs.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    show : callable, optional
        Writes the results of a problem to standard output as soon as all of its cells are there.
    stream : text file, optional
        Standard error by default.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> with Progress(quiet=True) as progress:
    ...     progress.expect(2)
    ...     progress.end("msg on digits k=4, seed 0", failed=False)
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
        self._running: dict[str, tuple[str, float]] = {}
        self._slowest = (0.0, "")
        self._ended: list[float] = []
        self._left = self._failed = 0
        self._began = self._last = math.nan

    def __exit__(self, *error: object) -> None:
        seconds, label = self._slowest
        slowest = f"slowest cell: {clean(label)}, {duration(seconds)}" if seconds >= SLOW else ""
        if self._bar:
            self._update(self._bar, description=slowest)
            self._bar.stop()
        elif not math.isnan(self._began):
            done = len(self._ended)
            stopped = f"stopped after {done} of {done + self._left} cells" if self._left else ""
            for line in filter(None, (slowest, stopped)):
                self._write(line)

    def expect(self, left: int, stored: int = 0) -> None:
        """Take another number of cells as those that are left; the first begins the display.

        Parameters
        ----------
        left : int
            Cells to run.
        stored : int
            Cells that are not run, since they are in the store already.
        """
        self._left = left
        if self._bar:
            self._update(self._bar, total=len(self._ended) + left)
        elif math.isnan(self._began) and left + stored and not self._quiet:
            self._began = self._last = self._clock()
            if left and self._stream.isatty():
                kept = f", {stored} from the store" if stored else ""
                self._bar = _bar(self._stream)
                first = "the first cells compile kernels"
                self._bar.add_task(first, total=left, failed="", stored=kept)
                self._bar.start()
            else:
                more = f" ({stored} more from the store)" if stored else ""
                self._write(f"{left} cells to run{more}")

    def table(self, results: Any) -> None:
        """Have the results of a problem shown, with nothing drawn meanwhile."""
        if self._show:
            with self._hidden():
                self._show(results)

    def begin(self, label: str, worker: str = "1") -> None:
        """Show that a worker, of which some executors have several, begins a cell."""
        self._running[worker] = clean(label), self._clock()
        if self._bar:
            self._update(self._bar, description=self._names())

    def late(self, label: str, said: str) -> None:
        """Write that a cell takes long."""
        if not self._quiet:
            with self._hidden():
                self._write(f"{clean(label)} takes long: {said}")

    def end(self, label: str, failed: bool, worker: str = "1") -> None:
        """Count one cell that has ended."""
        now = self._clock()
        _, since = self._running.pop(worker, ("", now))
        self._slowest = max(self._slowest, (now - since, label))
        self._ended.append(now)
        self._left -= 1
        self._failed += failed
        failures = f", {self._failed} failed" if self._failed else ""
        if self._bar:
            text = self._names() or clean(label)
            self._update(self._bar, advance=1, description=text, failed=failures)
        elif not math.isnan(self._began):
            self._tell(label, failures)

    def _names(self) -> str:
        """Return the cells that the workers run, the one that was begun first in front."""
        if len(self._running) < 2:
            return "".join(label for label, _ in self._running.values())
        return "  ".join(f"[{worker}] {label}" for worker, (label, _) in self._running.items())

    def _tell(self, label: str, failures: str) -> None:
        """Write a line every few seconds and at the end, for logs."""
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
        """Draw nothing inside the block."""
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

    def _update(self, bar: Bar, **changes: Any) -> None:
        bar.update(bar.task_ids[0], **changes)

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


def _bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    name = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return Progress(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("cells[red]{task.fields[failed]}[/red][dim]{task.fields[stored]}"),
        TimeElapsedColumn(),
        TextColumn("[dim]left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False, table_column=name),
        console=Console(file=stream),
        speed_estimate_period=3600,
        expand=True,
    )
