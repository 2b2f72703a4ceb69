"""How far a run has come, on standard error: live in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

from orthobench.report.words import clean, duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

SHARE = 0.1
"""A plain line is written at least each time this share of the cells is done ..."""

SECONDS = 10.0
"""... and with the next cell once this many seconds have passed since the last line."""


FEW = 5
"""Cells after which the time left is estimated."""


class Progress:
    """Shows the cells as they finish.

    Parameters
    ----------
    total : int
        Cells to run.
    quiet : bool
        Show nothing.
    skipped : int
        Cells taken from the store, which `total` does not count.
    stream : text file, optional
        Standard error by default.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> with Progress(2, quiet=True) as progress:
    ...     progress.advance("msg on digits k=4, seed 0", failed=False)
    """

    def __init__(
        self,
        total: int,
        quiet: bool = False,
        skipped: int = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        stream = stream or sys.stderr
        self._display: _Display
        if quiet or total + skipped == 0:
            self._display = _Silent()
        elif stream.isatty() and total:
            self._display = _Live(total, skipped, stream)
        else:
            self._display = _Lines(total, skipped, stream, clock)

    def __enter__(self) -> Progress:
        self._display.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._display.end()

    def advance(self, label: str, failed: bool) -> None:
        """Count one finished cell.

        Parameters
        ----------
        label : str
            What people call the cell.
        failed : bool
        """
        self._display.advance(label, failed)


class _Display(Protocol):
    def begin(self) -> None: ...

    def advance(self, label: str, failed: bool) -> None: ...

    def end(self) -> None: ...


class _Silent:
    def begin(self) -> None:
        """Show nothing."""

    def advance(self, label: str, failed: bool) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


class _Live:
    """A bar that a terminal redraws; what remains of it is one line."""

    def __init__(self, total: int, skipped: int, stream: TextIO) -> None:
        self.total, self.skipped, self.stream = total, skipped, stream
        self.failed = 0
        self.bar: Bar
        self.task: TaskID

    def begin(self) -> None:
        self.bar = _bar(self.stream)
        stored = f", {self.skipped} from the store" if self.skipped else ""
        first = "the first cells compile kernels"
        self.task = self.bar.add_task(first, total=self.total, failed="", stored=stored)
        self.bar.start()

    def advance(self, label: str, failed: bool) -> None:
        self.failed += failed
        told = f", {self.failed} failed" if self.failed else ""
        self.bar.update(self.task, advance=1, description=clean(label), failed=told)

    def end(self) -> None:
        self.bar.update(self.task, description="")
        self.bar.stop()


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


class _Lines:
    """A line about every tenth of the cells, for logs."""

    def __init__(
        self, total: int, skipped: int, stream: TextIO, clock: Callable[[], float]
    ) -> None:
        self.total, self.skipped, self.stream, self.clock = total, skipped, stream, clock
        self.done = self.failed = 0
        self.told = 0

    def begin(self) -> None:
        self.start = self.last = self.first = self.clock()
        stored = f" ({self.skipped} more from the store)" if self.skipped else ""
        self._write(f"{self.total} cells to run{stored}")

    def advance(self, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = self.clock()
        if self.done == 1:
            self.first = now
        much = self.done - self.told >= SHARE * self.total
        if much or now - self.last >= SECONDS or self.done == self.total:
            self.told, self.last = self.done, now
            self._write(self._line(label, now))

    def end(self) -> None:
        if self.done < self.total:
            self._write(f"stopped after {self.done} of {self.total} cells")

    def _line(self, label: str, now: float) -> str:
        """Return a line; the time left leaves out the first cell, which compiles kernels."""
        elapsed = now - self.start
        failed = f", {self.failed} failed" if self.failed else ""
        times = f"{duration(elapsed)} elapsed"
        if FEW < self.done < self.total:
            left = (now - self.first) / (self.done - 1) * (self.total - self.done)
            times += f", {duration(left)} left"
        return f"{self.done}/{self.total} cells{failed}, {times}: {clean(label)}"

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()
