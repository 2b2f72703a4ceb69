"""The store: every finished cell, once, for ever, in one SQLite file.

A cell is written in one transaction as soon as it is finished, so a run that is killed loses
at most the cells in flight. What a suite planned is kept too, so that missing runs are seen.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from orthobench.contract.exhibits import Exhibit
from orthobench.errors import StoreError
from orthobench.harness.cell import Cell
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Outcome
from orthobench.results import checks, exhibit_rows, merging, rows, schema
from orthobench.results.reported import Reported, reported
from orthobench.results.runs import Run
from orthobench.tools.files import exclusive_lock, refuse_link

FILE = "results.sqlite"
"""The default file name of a store."""

T = TypeVar("T")

PARTS = ("exhibit", "trace", "result")
"""The tables of what a cell gave."""


class Store:
    """A store, open; use it as a context manager.

    Parameters
    ----------
    path : Path
        The file.
    write : bool
        Whether to write into it: it is made, with its folder, where it is not there. To be read, a
        file is not touched.

    Raises
    ------
    StoreError
        Where the file is missing, no store, damaged, of another version, or not writable.
    """

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        fresh = not schema.exists(path)
        if fresh and not write:
            raise StoreError(f"there is no store {path}; `orthobench run` makes one")
        if write:
            for suffix in ("", "-wal", "-shm", "-journal", "-lock"):  # SQLite's files, and ours
                refuse_link(path.with_name(f"{path.name}{suffix}"))
        if not fresh:
            schema.recognise(path)
        with ExitStack() as opened, self._reported():
            if fresh:
                path.parent.mkdir(parents=True, exist_ok=True)
            if write:
                opened.enter_context(exclusive_lock(path, _written(path)))
            self._connection = schema.opened(path, write)
            opened.callback(lambda: self._connection.close())
            self._prepare(fresh, write)
            self._opened = opened.pop_all()
        self._texts = rows.Texts(self._connection)

    def _prepare(self, fresh: bool, write: bool) -> None:
        connection = self._connection
        if fresh:
            schema.create(connection)
        else:
            schema.check(connection, self.path)
            schema.check_types(connection)
        if write:
            connection.execute("PRAGMA journal_mode = WAL")
            # with NORMAL a power cut takes what is in the WAL since its last checkpoint
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it is a single file then."""
        self._opened.close()

    def begin(self, suite: Suite, planned: Sequence[Cell], command: str, environment: Any) -> int:
        """Record that a session of a suite begins, and what it plans; return the session's id."""
        with self._transaction() as connection:
            session = connection.execute(
                "INSERT INTO session (suite, text, command, environment, started)"
                " VALUES (?, ?, ?, ?, ?)",
                (suite.name, suite.text, command, json.dumps(environment), _now()),
            ).lastrowid
            connection.execute(
                "DELETE FROM plan WHERE suite = ?", (self._texts.number(suite.name),)
            )
            self._plan(suite.name, planned)
            connection.execute(
                "DELETE FROM cell WHERE id NOT IN (SELECT cell FROM result)"
                " AND id NOT IN (SELECT cell FROM plan)"
            )
        if session is None:
            raise StoreError(f"the store {self.path} gave the session no number")
        return session

    def plan(self, suite: str, planned: Iterable[Cell]) -> None:
        """Add cells to the plan of a suite; one that is there already stays as it is."""
        with self._transaction():
            self._plan(suite, planned)

    def _plan(self, suite: str, planned: Iterable[Cell]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO plan (suite, problem, solver, position, cell, tuned, levels)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (rows.plan_row(self._texts, suite, self._number(p), p) for p in planned),
        )

    def end(self, session: int) -> None:
        """Record that a session went through."""
        with self._transaction() as connection:
            connection.execute("UPDATE session SET ended = ? WHERE id = ?", (_now(), session))

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` whose cells are finished."""
        query = "SELECT 1 FROM result WHERE cell = (SELECT id FROM cell WHERE key = ?)"
        return {key for key in keys if self._read(query, (bytes.fromhex(key),))}

    def contents(self) -> dict[str, Any]:
        """Return what the result of each finished cell depends on, by key."""
        with self._reported():
            return {key.hex(): content for key, content in merging.contents(self._connection)}

    def reported(self) -> list[Reported]:
        """Return the finished cells, whatever suite planned them, each with its result.

        Raises
        ------
        StoreError
            Where a key is not the digest of its content, or a result not what was written.
        """
        with self._snapshot() as connection:
            return list(reported(connection, f"the store {self.path}"))

    def checksums(self) -> dict[str, str]:
        """Return what changes with the result of each finished cell, by key."""
        query = "SELECT key, checksum FROM cell JOIN result ON result.cell = cell.id"
        return {key.hex(): check.hex() for key, check in self._read(query)}

    def merge(self, other: Path) -> int:
        """Add the cells of another store that are not here, with its plans and sessions.

        In one transaction; where a suite is planned in both, what only the other plans is added.

        Returns
        -------
        int
            How many finished cells were added.

        Raises
        ------
        StoreError
            Where the other is no store, or has anything that is not what was written.
        """
        where = f"the store {other}"
        with Store(other) as theirs, theirs._snapshot() as source, self._transaction() as mine:
            sessions = merging.copy_sessions(theirs._told(merging.sessions(source)), mine)
            finished = theirs._told(merging.finished(source, where, sessions))
            count = merging.copy(finished, sessions, mine, self._texts)
            merging.copy_plans(theirs._told(merging.plans(source, where)), mine, self._texts)
        return count

    def _told(self, rows: Iterator[T]) -> Iterator[T]:
        """Yield what is read of this store, with errors that name it."""
        with self._reported():
            yield from rows

    def add(self, session: int, finished: Iterable[tuple[Cell, Outcome]]) -> None:
        """Write finished cells, all in one transaction, so that the disk is waited for once.

        One that is here already stays as it is.
        """
        with self._transaction():
            for cell, outcome in finished:
                self._add(session, cell, outcome)

    def _add(self, session: int, cell: Cell, outcome: Outcome) -> None:
        number, key, now = self._number(cell), bytes.fromhex(cell.key), round(time.time())
        result, block = rows.result_row(self._texts, key, outcome, cell.problem.primary, now)
        exhibits = exhibit_rows.rows_of(outcome.exhibits)
        merging.add_result(self._connection, (number, session, *result), block, exhibits)

    def _number(self, cell: Cell) -> int:
        return merging.cell_number(
            self._connection, self._texts, cell.key, rows.split(cell.content), rows.metrics_of(cell)
        )

    def discard(self, keys: Iterable[str]) -> None:
        """Remove what cells gave, so that they run again."""
        with self._transaction() as connection:
            for key in keys:
                for part in PARTS:
                    connection.execute(
                        f"DELETE FROM {part} WHERE cell = (SELECT id FROM cell WHERE key = ?)",  # noqa: S608
                        (bytes.fromhex(key),),
                    )

    def suites(self) -> list[str]:
        """Return the names of the suites that were run on this store, the latest last."""
        found = self._read("SELECT suite FROM session GROUP BY suite ORDER BY max(id)")
        return [name for (name,) in found]

    def session(self, suite: str) -> dict[str, Any]:
        """Return the latest session of a suite: text, command, environment, start and end."""
        columns = ("text", "command", "environment", "started", "ended")
        query = f"SELECT {', '.join(columns)} FROM session WHERE suite = ? ORDER BY id DESC LIMIT 1"  # noqa: S608
        with self._reported():
            found = self._read(query, (suite,))[0]
            environment = checks.session(*found)
            return {**dict(zip(columns, found, strict=True)), "environment": environment}

    def records(
        self, suite: str, problem: str | None = None, solver: str | None = None
    ) -> list[Run]:
        """Return every planned cell of a suite, in its order; those not run yet are missing.

        With the label of a problem, or also of a solver, only the cells of these. Their traces are
        unpacked on first use. 100,000 of 30 checkpoints and 6 metrics take 3 s and 400 MB.
        """
        with self._snapshot() as connection:
            reader = rows.Reader(rows.Stored.read(connection), f"the store {self.path}")
            labels = [label for label in (suite, problem, solver) if label is not None]
            return list(reader.records(connection.execute(rows.planned(len(labels)), labels)))

    def fingerprint(self, suite: str) -> str:
        """Return a digest of the plan of a suite and of the checksums of its results."""
        found = hashlib.sha256()
        with self._snapshot() as connection:
            for row in connection.execute(rows.FINGERPRINT, (suite,)):
                found.update(repr(row).encode())
        return found.hexdigest()[:16]

    def exhibits(self, keys: Iterable[str]) -> dict[str, dict[str, Exhibit]]:
        """Return what the cells with these keys exhibit, by name; empty where they do nothing.

        Raises
        ------
        StoreError
            Where an exhibit is damaged; names its cell.
        """
        with self._reported():
            return exhibit_rows.read(self._connection, keys, f"the store {self.path}")

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        # all at once: a cursor that is left open outlives the connection
        with self._reported():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read all as it is at one time, whatever another process writes meanwhile."""
        with self._reported():
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.rollback()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing."""
        with self._reported():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._texts.forget()
                self._connection.rollback()
                raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn what SQLite and the file system say into an error that names the store."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise KeyboardInterrupt from error
            raise StoreError(f"cannot use the store {self.path}: {error}") from error
        except (
            ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError,
            struct.error, zlib.error,
        ) as error:  # fmt: skip
            said = " ".join(str(error).split())
            raise StoreError(
                f"the store {self.path} is damaged ({said:.400}); restore a copy or start anew"
            ) from error


def _written(path: Path) -> StoreError:
    return StoreError(
        f"another process writes the store {path}: wait until it ends, or name another with --store"
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
