"""Watching of a run: its page is written again as its store grows, and served meanwhile."""

from __future__ import annotations

import base64
import hashlib
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

from orthobench.errors import StoreError, UsageError
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus
from orthobench.report.live.server import Served, serving
from orthobench.report.page import write_page
from orthobench.report.page.write import environment
from orthobench.results.results import Results, store_at
from orthobench.results.runs import Run, run_label
from orthobench.tools import toml
from orthobench.tools.collections import grouped
from orthobench.tools.files import exclusive_lock, is_held, make_folder
from orthobench.tools.formatting import assignments, clean, duration

PAUSE = 1.0
"""Seconds between two looks at the store."""

AT_LEAST = 10.0
"""Seconds between two pages of a run under way."""

SHARE = 20.0
"""So many times what reading or writing took is waited before the next: runs are being timed."""

PATIENCE = 3
"""So many times in a row a store may be unreadable, since it changes while it is read."""

INSIDE = "frame-ancestors 'self'"
"""The policy of the page, beside its own: nobody else shows it in a frame."""


FEW = 5
"""The runs that have to finish while they are watched before the time left is estimated."""

FAILURES = 50
"""The most failures that are told, the latest first."""


def watch(
    store: Path, folder: Path, suite: str | None, port: int,
    told: Callable[[str], None],
) -> None:  # fmt: skip
    """Serve the page about a store and keep it up to date, until an interruption.

    Parameters
    ----------
    store : Path
    folder : Path
        Of the page, which is left there.
    suite : str, optional
    port : int
        0 for a free one.
    told : callable
        Called with the address, once it answers.

    Raises
    ------
    StoreError
        Where the store cannot be read, any more.
    UsageError
        Where the port or the folder cannot be used, or somebody watches with this folder already.
    """
    Results.read(store, suite)  # nothing is made where there is nothing to watch
    make_folder(folder, "the page", "name another with --out")
    busy = UsageError(f"another process watches {store} for {folder}: name a folder with --out")
    with exclusive_lock(folder / "index.html", busy):
        watched = Watched(store_at(store), folder, suite)
        watched.look()
        with serving(watched.served, port) as address:
            told(address)
            try:
                while True:
                    time.sleep(watched.pause)
                    watched.look()
            except KeyboardInterrupt:
                watched.finish()
                raise


class Watched:
    """A store that is watched.

    Parameters
    ----------
    store : Path
    folder : Path
    suite : str, optional
    clock : callable
        Returns seconds.

    Attributes
    ----------
    served : Served
        What is served of it.
    pause : float
        Seconds until the next look.
    pages : int
        So many pages were written.
    """

    def __init__(
        self, store: Path, folder: Path, suite: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._store, self._folder, self._suite = store, folder, suite
        self._clock, self._progress = clock, Progress(clock)
        self._seen: Any = None
        self._told: dict[str, Any] = {}
        self._next, self._stale, self._failed = 0.0, True, 0
        self.served, self.pause, self.pages = Served(), PAUSE, 0

    def look(self) -> None:
        """Read the store where it changed, tell how far it is, and write the page if it is time."""
        seen = self._state()
        if seen == self._seen and not self._stale:
            return
        begin = self._clock()
        results = self._read()
        if results is None:
            return
        before = self._told.get("state")
        self._told = self._progress.look(results, is_held(self._store))
        self._stale = self._stale or seen != self._seen
        self._seen = seen
        self.pause = max(PAUSE, SHARE * (self._clock() - begin))
        if self._clock() >= self._next or self._told["state"] != before:
            self._write(results)
        self.served.tell("/status", {**self._told, "page": self.pages})

    def finish(self) -> None:
        """Write the page of what there is now, where it is not written yet."""
        if self._stale and (results := self._read()):
            self._write(results)

    def _write(self, results: Results) -> None:
        begin = self._clock()
        path = write_page(results, self._folder)
        self._stale, self.pages = False, self.pages + 1
        now = self._clock()
        self._next = now + max(AT_LEAST, SHARE * (now - begin))
        self.served.show("/page", path.read_text(encoding="utf-8"), INSIDE)
        if self.pages == 1:
            self.served.show("/", *_frame(self._told["suite"]))

    def _read(self) -> Results | None:
        """Return the results; None where the store was unreadable and may be readable soon."""
        try:
            results = Results.read(self._store, self._suite).without_home()
            results.session()
        except StoreError:
            self._failed += 1
            if not self.pages or self._failed >= PATIENCE or not self._store.exists():
                raise
            return None
        self._failed = 0
        return results

    def _state(self) -> Any:
        """Return what changes when the store does, or when a run of it begins or ends."""
        found: list[Any] = [is_held(self._store)]
        for suffix in ("", "-wal"):
            with suppress(OSError):
                status = self._store.with_name(f"{self._store.name}{suffix}").stat()
                found.append((suffix, status.st_mtime_ns, status.st_size))
        return found


def _frame(suite: str) -> tuple[str, str]:
    """Return the page around the page, and its policy."""
    files = resources.files(__package__)
    script = files.joinpath("live.js").read_text(encoding="utf-8")
    template = environment().from_string(files.joinpath("live.html").read_text(encoding="utf-8"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    )
    return template.render(suite=suite, script=script), policy


class Progress:
    """How far a run is, as often as somebody looks.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin: tuple[float, int] | None = None
        self._failures: dict[str, str] = {}

    def look(self, results: Results, running: bool) -> dict[str, Any]:
        """Return how far the run is, as plain values.

        Parameters
        ----------
        results : Results
            As the store has them now.
        running : bool
            Whether a process writes the store.
        """
        session, records = results.session(), results.records
        finished = len(records) - len(results.missing)
        to_come = len(results.missing) + chosen_to_come(session["text"], records)
        for record in results.failures:
            self._failures.setdefault(record.key, failure(record))
        latest = [*self._failures.values()][: -FAILURES - 1 : -1]
        ended = session["ended"] is not None or not to_come
        return {
            "suite": clean(results.suite),
            "state": "running" if running and not ended else "ended" if ended else "cut off",
            "finished": finished,
            "planned": finished + to_come,
            "failed": len(results.failures),
            "left": self._left(finished, to_come) if running and not ended else "",
            "failures": latest,
        }

    def _left(self, finished: int, to_come: int) -> str:
        """Return the time left as text; empty as long as too few runs were seen to finish."""
        now = self._clock()
        begin, before = self._begin = self._begin or (now, finished)
        seen = finished - before
        return duration((now - begin) / seen * to_come) if seen >= FEW else ""


def chosen_to_come(suite: str, records: Sequence[Run]) -> int:
    """Return how many runs follow from trials that are still to be chosen, and so not planned yet.

    Parameters
    ----------
    suite : str
        Its TOML.
    records : sequence of Run
    """
    seeds, tuning = _seeds(suite)
    pairs = grouped(records, lambda record: (record.problem.label, record.solver.label))
    undecided = sum(
        len({canonical(record.solver.tuned) for record in own}) > 1
        and len({record.seed for record in own}) <= tuning
        for own in pairs.values()
    )
    return undecided * (seeds - tuning) if 0 < tuning < seeds else 0


def _seeds(suite: str) -> tuple[int, int]:
    """Return how many seeds a suite has, and on how many of them its trials are compared."""
    try:
        table: Mapping[str, Any] = toml.loads(suite)
    except tomllib.TOMLDecodeError:
        return 0, 0
    tuning = table.get("tuning")
    counts = (table.get("seeds", 10), tuning.get("seeds") if isinstance(tuning, dict) else None)
    seeds, tried = (len(count) if isinstance(count, list) else count for count in counts)
    return (seeds, tried) if isinstance(seeds, int) and isinstance(tried, int) else (0, 0)


def failure(record: Run) -> str:
    """Return a failed run as a line of text."""
    tuned = f" {assignments(record.solver.tuned)}" if record.solver.tuned else ""
    who = run_label(f"{record.solver.label}{tuned}", record.problem.label, record.seed)
    ending: RunStatus = record.stop.status
    return clean(f"{who}: {ending.value}: {record.stop.reason}")[:400]
