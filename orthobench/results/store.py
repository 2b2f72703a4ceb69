"""The store: every finished cell, once, for ever, in one SQLite file.

A cell is written in one transaction as soon as it is finished, so a run that is killed loses
at most the cells in flight. What a suite planned is kept too, so that missing runs are seen.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from orthobench.contract.exhibits import Exhibit, packed, unpacked
from orthobench.contract.solver import Work
from orthobench.errors import StoreError
from orthobench.harness.cell import Cell
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import Ending, Stop
from orthobench.harness.suite import Level, Planned, Suite
from orthobench.harness.trace import Mark, Outcome
from orthobench.results import merging, schema
from orthobench.results.record import ProblemFacts, Record, SolverFacts, checksum

FILE = "results.sqlite"
"""The default file name of a store."""


def exists(path: Path) -> bool:
    """Return whether there is a file that is not empty, and so a store or a mistake."""
    return path.exists() and path.stat().st_size > 0


class Store:
    """A store, open; use it as a context manager.

    Parameters
    ----------
    path : Path
        The file; made, with its folder, where it is not there and `create` says so.
    create : bool
        Whether to make a new store.

    Raises
    ------
    StoreError
        Where the file is missing, no store, damaged, newer than this program, or not writable.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        fresh = not exists(path)
        if fresh and not create:
            raise StoreError(f"there is no store {path}; `orthobench run` makes one")
        if not fresh:
            schema.recognise(path)
        self._connection = self._open(fresh)

    def _open(self, fresh: bool) -> sqlite3.Connection:
        with self._reported():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            self._prepare(connection, fresh)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection, fresh: bool) -> None:
        with self._reported():
            if fresh:
                schema.create(connection)
            else:
                schema.check(connection, self.path)
                schema.migrate(connection)
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
        self._connection.close()

    def begin(
        self, suite: Suite, planned: Sequence[Planned], command: str, environment: Any
    ) -> int:
        """Record that a session of a suite begins, and what it plans; return the session's id."""
        with self._transaction() as connection:
            session = connection.execute(
                "INSERT INTO session (suite, text, command, environment, started)"
                " VALUES (?, ?, ?, ?, ?)",
                (suite.name, suite.text, command, json.dumps(environment), _now()),
            ).lastrowid
            connection.execute("DELETE FROM plan WHERE suite = ?", (suite.name,))
            connection.executemany(
                "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (_plan_row(suite.name, i, p) for i, p in enumerate(planned)),
            )
        if session is None:
            raise StoreError(f"the store {self.path} gave the session no number")
        return session

    def end(self, session: int) -> None:
        """Record that a session went through."""
        with self._transaction() as connection:
            connection.execute("UPDATE session SET ended = ? WHERE id = ?", (_now(), session))

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` whose cells are here."""
        here = {key for (key,) in self._read("SELECT key FROM cell")}
        return here.intersection(keys)

    def contents(self) -> dict[str, Any]:
        """Return what the result of each cell here depends on, by key."""
        rows = self._read("SELECT key, content FROM cell")
        return {key: json.loads(content) for key, content in rows}

    def merge(self, other: Path) -> int:
        """Add the cells of another store that are not here, with its plans and sessions.

        In one transaction; where a suite is planned in both, what only the other plans is added.

        Returns
        -------
        int
            How many cells were added.
        """
        with Store(other):  # refuses what is no store, and brings an older one up to date
            pass
        with self._reported():
            self._connection.execute("ATTACH ? AS other", (str(other),))
            try:
                with self._transaction() as connection:
                    return merging.copy(connection)
            finally:
                self._connection.execute("DETACH other")

    def add(self, session: int, cell: Cell, outcome: Outcome) -> None:
        """Write one finished cell, in one transaction; one that is here already stays as it is."""
        with self._transaction() as connection:
            number = connection.execute(
                "INSERT OR IGNORE INTO cell (key, content, session, solver, problem, family,"
                " primary_metric, tuned_by, seed, status, reason, traceback, finished, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                _cell_row(session, cell, outcome),
            )
            if number.rowcount:
                _write_trace(connection, number.lastrowid, outcome.trace)
                _write_exhibits(connection, number.lastrowid, outcome.exhibits)

    def discard(self, keys: Iterable[str]) -> None:
        """Remove cells, so that they run again."""
        with self._transaction() as connection:
            for key in keys:
                found = connection.execute("SELECT id FROM cell WHERE key = ?", (key,)).fetchone()
                if found:
                    connection.execute("DELETE FROM exhibit WHERE cell = ?", found)
                    connection.execute("DELETE FROM metric WHERE cell = ?", found)
                    connection.execute("DELETE FROM mark WHERE cell = ?", found)
                    connection.execute("DELETE FROM cell WHERE id = ?", found)

    def suites(self) -> list[str]:
        """Return the names of the suites that were run on this store, the latest last."""
        rows = self._read("SELECT suite FROM session GROUP BY suite ORDER BY max(id)")
        return [name for (name,) in rows]

    def session(self, suite: str) -> dict[str, Any]:
        """Return the latest session of a suite: text, command, environment, start and end."""
        columns = ("text", "command", "environment", "started", "ended")
        query = f"SELECT {', '.join(columns)} FROM session WHERE suite = ? ORDER BY id DESC LIMIT 1"  # noqa: S608
        found = dict(zip(columns, self._read(query, (suite,))[0], strict=True))
        return {**found, "environment": json.loads(found["environment"])}

    def records(self, suite: str) -> list[Record]:
        """Return every planned cell of a suite, in its order; those not run yet are missing."""
        query = (
            "SELECT cell.id, plan.key, plan.problem, plan.family, plan.primary_metric,"
            " plan.tuned_by, plan.solver, plan.content, plan.tuned, plan.levels,"
            " cell.checksum, cell.status, cell.reason, cell.traceback"
            " FROM plan LEFT JOIN cell ON cell.key = plan.key WHERE suite = ? ORDER BY position"
        )
        with self._snapshot():
            rows = self._read(query, (suite,))
            return [_record(row, self._trace(cell=row[0])) for row in rows]

    def exhibits(self, keys: Iterable[str]) -> dict[str, dict[str, Exhibit]]:
        """Return what the cells with these keys exhibit, by name; empty where they do nothing.

        Raises
        ------
        StoreError
            Where an exhibit is damaged; names its cell.
        """
        query = (
            "SELECT exhibit.name, kind, meta, data, cell.solver, cell.problem, cell.seed"
            " FROM exhibit JOIN cell ON cell.id = exhibit.cell WHERE cell.key = ? ORDER BY position"
        )
        found: dict[str, dict[str, Exhibit]] = {}
        for key in keys:
            shown = found.setdefault(key, {})
            for name, kind, meta, data, solver, problem, seed in self._read(query, (key,)):
                cell = f"{solver} on {problem}, seed {seed} (cell {key[:12]})"
                shown[name] = self._exhibit(f"{name!r} of {cell}", kind, meta, data)
        return found

    def _exhibit(self, what: str, kind: str, meta: str, data: bytes) -> Exhibit:
        try:
            return unpacked(kind, meta, data)
        except StoreError as error:
            message = f"exhibit {what} {error}; remove the cell, or restore a copy"
            raise StoreError(f"the store {self.path}: {message}") from error

    def _trace(self, cell: int | None) -> tuple[Mark, ...]:
        # a cell at a time: the rows of all of them take many times the memory of what they say
        judged: dict[int, dict[str, float]] = {}
        query = "SELECT number, name, value FROM metric WHERE cell = ? ORDER BY number, name"
        for number, name, value in self._read(query, (cell,)):
            metrics = judged.setdefault(number, {})
            metrics[sys.intern(name)] = math.nan if value is None else value
        counts = "number, steps, samples, flops, seconds, reading"
        query = f"SELECT {counts} FROM mark WHERE cell = ? ORDER BY number"  # noqa: S608
        return tuple(
            Mark(seconds, reading, Work(*work), judged.get(number, {}))
            for number, *work, seconds, reading in self._read(query, (cell,))
        )

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        # all at once: a cursor that is left open outlives the connection
        with self._reported():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Read all as it is at one time, whatever another process writes meanwhile."""
        with self._reported():
            self._connection.execute("BEGIN")
            try:
                yield
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
                self._connection.rollback()
                raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn what SQLite and the file system say into an error that names the store."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot use the store {self.path}: {error}") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise StoreError(
                f"the store {self.path} is damaged ({error}); restore a copy or start anew"
            ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _plan_row(suite: str, position: int, planned: Planned) -> tuple[Any, ...]:
    cell, problem = planned.cell, planned.cell.problem
    return (
        suite, position, cell.key, planned.problem, planned.solver, canonical(planned.tuned),
        canonical(cell.content), problem.family, problem.primary, problem.tuned_by,
        json.dumps([[level.metric, level.most] for level in planned.levels]),
    )  # fmt: skip


def _cell_row(session: int, cell: Cell, outcome: Outcome) -> tuple[Any, ...]:
    problem, stop = cell.problem, outcome.stop
    return (
        cell.key, canonical(cell.content), session, cell.solver.name, problem.name,
        problem.family, problem.primary, problem.tuned_by, cell.seed,
        stop.status.value, stop.reason, stop.traceback, _now(),
        checksum(cell.key, stop, outcome.trace),
    )  # fmt: skip


def _write_trace(connection: sqlite3.Connection, cell: int | None, trace: Sequence[Mark]) -> None:
    connection.executemany(
        "INSERT INTO mark VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (cell, i, m.work.steps, m.work.samples, m.work.flops, m.seconds, m.reading)
            for i, m in enumerate(trace)
        ),
    )
    connection.executemany(
        "INSERT INTO metric VALUES (?, ?, ?, ?)",
        ((cell, i, name, value) for i, m in enumerate(trace) for name, value in m.metrics.items()),
    )


def _write_exhibits(
    connection: sqlite3.Connection, cell: int | None, exhibits: Mapping[str, Exhibit]
) -> None:
    connection.executemany(
        "INSERT INTO exhibit (cell, name, position, kind, meta, data) VALUES (?, ?, ?, ?, ?, ?)",
        ((cell, name, i, *packed(exhibits[name])) for i, name in enumerate(exhibits)),
    )


def _record(row: tuple[Any, ...], trace: tuple[Mark, ...]) -> Record:
    cell, key, problem, family, primary, tuned_by, solver, content, tuned, levels, digest, *end = (
        row
    )
    status, reason, traceback = end if cell is not None else ("missing", "not run yet", "")
    stop, settings = Stop(Ending(status), reason, traceback), json.loads(content)
    if digest and digest != checksum(key, stop, trace):
        seed = settings["seed"]
        raise ValueError(f"{solver} on {problem}, seed {seed}, is not what was written")
    return Record(
        key=key,
        problem=ProblemFacts(
            problem, settings["problem"]["name"], settings["problem"]["parameters"],
            family, primary, tuned_by,
            tuple(Level(metric, most) for metric, most in json.loads(levels)),
        ),
        solver=SolverFacts(
            solver, settings["solver"]["parameters"], json.loads(tuned),
            settings.get("reruns", False),
        ),
        seed=settings["seed"],
        stop=stop,
        trace=trace,
        budget=settings["budget"],
        target=(settings["until"] or {}).get("metric", ""),
        versions=settings["versions"],
    )  # fmt: skip
