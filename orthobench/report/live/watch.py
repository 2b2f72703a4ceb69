"""Watching of a run: its page is written again as its store grows, and served meanwhile."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

from orthobench.errors import StoreError, UsageError
from orthobench.report.live.progress import Progress
from orthobench.report.live.server import Served, serving
from orthobench.report.page import write_page
from orthobench.report.page.write import environment
from orthobench.results.results import Results, store_at
from orthobench.tools.files import exclusive_lock, is_held, make_folder

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
