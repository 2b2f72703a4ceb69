"""Progress of a run on standard error: a live bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from orthobench.harness.executors import Observer
from orthobench.tools.formatting import clean, duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

SHARE = 0.1
"""The fraction of the cells after which another plain line is written."""

SECONDS = 10.0
"""The seconds after which the next finished cell is followed by a plain line in any case."""

SLOW = 10.0
"""The seconds that the slowest cell must take to be named."""

FEW = 5
"""The number of cells after which the time left is estimated."""

LONG = 120.0
"""The seconds beyond which a prediction of the whole is written."""


class Progress(Observer):
    """Display of the cells as they end.

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
        self._since: dict[str, float] = {}
        self._slowest = (0.0, "")
        self._display = _Display()
        self._ended: list[float] = []
        self._left = 0
        self._predicted = quiet

    def __exit__(self, *error: object) -> None:
        seconds, label = self._slowest
        slow = seconds >= SLOW
        self._display.end(f"slowest cell: {clean(label)}, {duration(seconds)}" if slow else "")

    def expect(self, left: int, stored: int = 0) -> None:
        """Take another number of cells as those that are left; the first begins the display.

        Parameters
        ----------
        left : int
        stored : int
            Cells taken from the store, which `left` does not count.
        """
        self._left = left
        if type(self._display) is not _Display:
            self._display.expect(left)
        elif not self._quiet and left + stored:
            live = self._stream.isatty() and left
            self._display = (
                _Live(left, stored, self._stream)
                if live
                else _Lines(left, stored, self._stream, self._clock)
            )
            self._display.start()

    def table(self, results: Any) -> None:
        """Have the results of a problem shown, with nothing drawn meanwhile."""
        if self._show:
            with self._display.hidden():
                self._show(results)

    def begin(self, label: str, worker: str = "1") -> None:
        """Show that a worker begins a cell.

        Parameters
        ----------
        label : str
            The name of the cell.
        worker : str
        """
        self._since[worker] = self._clock()
        self._display.begin(worker, label)

    def end(self, label: str, failed: bool, worker: str = "1") -> None:
        """Count one cell that has ended.

        Parameters
        ----------
        label : str
            The name of the cell.
        failed : bool
        worker : str
        """
        now = self._clock()
        self._slowest = max(self._slowest, (now - self._since.get(worker, now), label))
        self._display.advance(worker, label, failed)
        self._ended.append(now)
        self._left -= 1
        if not self._predicted:
            self._predict()

    def _predict(self) -> None:
        """Write once how long the whole takes, where that is long, without the first cell."""
        done, elapsed = len(self._ended), self._ended[-1] - self._ended[0]
        if elapsed < (SECONDS if done > FEW else LONG / 4):
            return
        total = elapsed / (done - 1) * (done + self._left)
        if total > LONG:
            self._predicted = True
            with self._display.hidden():
                text = f"about {duration(total)} in all, judged by the first {done} cells"
                self._stream.write(f"{text}; what is finished when it is stopped is kept\n")
                self._stream.flush()


class _Display:
    """A display of progress; this one shows nothing."""

    def start(self) -> None:
        """Show the number of cells."""

    def expect(self, left: int) -> None:
        """Take another number of cells as those that are left."""

    def hidden(self) -> AbstractContextManager[None]:
        """Return a context in which nothing is drawn."""
        return nullcontext()

    def begin(self, worker: str, label: str) -> None:
        """Show that a worker begins a cell."""

    def advance(self, worker: str, label: str, failed: bool) -> None:
        """Show that a worker has finished a cell."""

    def end(self, slowest: str) -> None:
        """Show the slowest cell."""


class _Live(_Display):
    """A bar that the terminal redraws, with the cell of each worker; one line is left of it."""

    def __init__(self, total: int, skipped: int, stream: TextIO) -> None:
        self.total, self.skipped, self.stream = total, skipped, stream
        self.failed = 0
        self.bar: Bar
        self.task: TaskID
        self.workers: dict[str, str] = {}

    def start(self) -> None:
        self.bar = _bar(self.stream)
        stored = f", {self.skipped} from the store" if self.skipped else ""
        first = "the first cells compile kernels"
        self.task = self.bar.add_task(first, total=self.total, failed="", stored=stored)
        self.bar.start()

    def expect(self, left: int) -> None:
        self.bar.update(self.task, total=self.bar.tasks[self.task].completed + left)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        self.bar.live.transient = True
        self.bar.stop()
        self.bar.live.transient = False
        try:
            yield
        finally:
            self.bar.start()

    def begin(self, worker: str, label: str) -> None:
        self.workers[worker] = clean(label)
        self.bar.update(self.task, description=self._running())

    def advance(self, worker: str, label: str, failed: bool) -> None:
        self.failed += failed
        failures = f", {self.failed} failed" if self.failed else ""
        self.workers.pop(worker, None)
        description = self._running() or clean(label)
        self.bar.update(self.task, advance=1, description=description, failed=failures)

    def end(self, slowest: str) -> None:
        self.bar.update(self.task, description=slowest)
        self.bar.stop()

    def _running(self) -> str:
        """Return the cells that the workers run, the one that was begun first in front."""
        if len(self.workers) < 2:
            return "".join(self.workers.values())
        return "  ".join(f"[{worker}] {label}" for worker, label in self.workers.items())


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


class _Lines(_Display):
    """A line after about every tenth of the cells, for logs."""

    def __init__(
        self, total: int, skipped: int, stream: TextIO, clock: Callable[[], float]
    ) -> None:
        self.total, self.skipped, self.stream, self.clock = total, skipped, stream, clock
        self.done = self.failed = self.written = 0

    def start(self) -> None:
        self.began = self.last = self.first = self.clock()
        stored = f" ({self.skipped} more from the store)" if self.skipped else ""
        self._write(f"{self.total} cells to run{stored}")

    def expect(self, left: int) -> None:
        self.total = self.done + left

    def advance(self, worker: str, label: str, failed: bool) -> None:
        del worker
        self.done += 1
        self.failed += failed
        now = self.clock()
        if self.done == 1:
            self.first = now
        many = self.done - self.written >= SHARE * self.total
        if many or now - self.last >= SECONDS or self.done == self.total:
            self.written, self.last = self.done, now
            self._write(self._line(label, now))

    def end(self, slowest: str) -> None:
        if slowest:
            self._write(slowest)
        if self.done < self.total:
            self._write(f"stopped after {self.done} of {self.total} cells")

    def _line(self, label: str, now: float) -> str:
        """Return a line; its time left ignores the first cell, which compiles kernels."""
        elapsed = now - self.began
        failed = f", {self.failed} failed" if self.failed else ""
        times = f"{duration(elapsed)} elapsed"
        if FEW < self.done < self.total:
            left = (now - self.first) / (self.done - 1) * (self.total - self.done)
            times += f", {duration(left)} left"
        return f"{self.done}/{self.total} cells{failed}, {times}: {clean(label)}"

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()
