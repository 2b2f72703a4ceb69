"""The store: all finished cells and the plan of each suite, in one SQLite file.

A cell is written in a transaction once it is finished, so that a kill loses only cells in flight.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import UTC, datetime
from os.path import samestat
from pathlib import Path
from types import MappingProxyType
from typing import Any

from orthobench.contract.exhibits import Exhibit
from orthobench.errors import StoreError
from orthobench.harness.cell import Cell
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Outcome
from orthobench.results import checks, schema
from orthobench.results.rows import Reader, Session, Writer
from orthobench.results.runs import Run
from orthobench.tools.files import exclusive_lock

FILE = "results.sqlite"
"""The default name of a store."""


class Store(AbstractContextManager["Store"]):
    """An open store, a context manager.

    Parameters
    ----------
    path : Path
    write : bool
        Whether to write into it, and to create it if necessary.
    dropped : list of str, optional
        Leave out rows that cannot be read, and add their errors here.

    Raises
    ------
    StoreError
        If the file is missing, no store, damaged, of another version, or not writable.
    """

    def __init__(
        self, path: Path, *, write: bool = False, dropped: list[str] | None = None
    ) -> None:
        self.path, self._dropped = path, dropped
        fresh = not schema.exists(path)
        if fresh and not write:
            raise StoreError(f"there is no store {path}; `orthobench run` makes one")
        if write:
            schema.refuse_unwritable(path)
        if not fresh:
            schema.recognise(path)
        with ExitStack() as opened, self._reported():
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
                busy = f"another process writes the store {path}: wait until it ends, or name"
                error = StoreError(f"{busy} another with --store")
                opened.enter_context(exclusive_lock(path, error))
            at = path if write else opened.enter_context(schema.readable(path))
            self._connection = opened.enter_context(closing(schema.opened(at, write)))
            if fresh:
                schema.create(self._connection)
            else:
                schema.check(self._connection, path)
                if dropped is None:
                    schema.check_types(self._connection)
            if write:
                # with NORMAL a power cut takes what is in the WAL since its last checkpoint
                for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                    self._connection.execute(f"PRAGMA {setting}")
            self._opened = opened.pop_all()
        self._writer = Writer(self._connection)
        self._place = path.absolute()  # a solver in this process may change the folder
        self._file = self._place.stat()

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def begin(self, suite: Suite, planned: Sequence[Cell], command: str, environment: Any) -> int:
        """Record the begin of a session and its plan; return the session's number."""
        with self._transaction() as connection:
            session = self._writer.begin({
                "suite": suite.name, "text": suite.text, "command": command,
                "environment": environment, "started": _now(), "ended": None,
            })  # fmt: skip
            self._plan(suite.name, planned)
            used = "SELECT cell FROM run UNION SELECT cell FROM plan"
            connection.execute(f"DELETE FROM cell WHERE id NOT IN ({used})")  # noqa: S608
        return session

    def plan(self, suite: str, planned: Iterable[Cell]) -> None:
        """Add cells to the plan of a suite, in place of others at their positions."""
        with self._transaction():
            self._plan(suite, planned)

    def _plan(self, suite: str, planned: Iterable[Cell]) -> None:
        for cell in planned:
            self._writer.plan(suite, Run.of(cell), cell.position)

    def end(self, session: int, found: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Record the end of a session, with further facts about its environment."""
        environment = {**self.sessions()[session]["environment"], **found}
        with self._transaction() as connection:
            connection.execute(
                "UPDATE session SET ended = ?, environment = ? WHERE id = ?",
                (_now(), json.dumps(environment), session),
            )

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return the keys of finished cells among `keys`."""
        query = "SELECT 1 FROM run WHERE cell = (SELECT id FROM cell WHERE key = ?)"
        return {key for key in keys if self._read(query, (bytes.fromhex(key),))}

    def runs(self) -> Iterator[Run]:
        """Yield the finished runs of all suites, with the catalogue's names.

        Raises
        ------
        StoreError
            If anything is not what was written.
        """
        with self._snapshot() as reader:
            yield from reader.finished()

    def sessions(self) -> dict[int, Session]:
        """Return the sessions by number."""
        with self._snapshot() as reader:
            return reader.sessions()

    def merge(self, other: Path, dropped: list[str] | None = None) -> int:
        """Add the runs, plans and sessions of another store.

        Parameters
        ----------
        other : Path
        dropped : list of str, optional
            Leave out rows that cannot be read, and add their errors here.

        Returns
        -------
        int
            Number of runs added.

        Raises
        ------
        StoreError
            If the other is no store, or anything in it is not what was written.
        """
        # what is read of the other is in its own methods, so that an error names the right store
        with Store(other, dropped=dropped) as theirs, theirs._snapshot(), self._transaction():
            sessions = {n: self._writer.session(one) for n, one in theirs.sessions().items()}
            count = 0
            for run in theirs.runs():
                found: tuple[int, dict[str, Exhibit]] | None = None
                with theirs._reported(), theirs._kept(run.label):
                    _ = run.trace[:1]  # unpacks all of it
                    found = sessions[run.session], theirs.exhibits([run.key])[run.key]
                if found is not None:
                    count += self._writer.run(found[0], run, found[1])
            for suite in theirs.suites():
                self._writer.plan_behind(suite, theirs.records(suite))
        return count

    def add(self, session: int, finished: Iterable[tuple[Cell, Outcome]], suite: str = "") -> None:
        """Write finished cells in one transaction, and plan them.

        A cell that is here stays. An outcome that could not be read again becomes an error.
        """
        with self._transaction():
            for cell, outcome in finished:
                if suite:
                    self._plan(suite, [cell])
                try:
                    self._writer.run(session, Run.of(cell, outcome), outcome.exhibits)
                except checks.ERRORS as error:
                    why = f"{cell.solver.name}: what it gave cannot be kept: {error}"
                    failed = Outcome(Termination(RunStatus.ERROR, why))
                    self._writer.run(session, Run.of(cell, failed), {})

    def take(self, session: Session, runs: Sequence[Run]) -> None:
        """Add runs of another harness as the plan of a suite."""
        with self._transaction():
            number = self._writer.begin(session)
            for place, run in enumerate(runs):
                self._writer.plan(session["suite"], run, place)
                self._writer.run(number, run, {})

    def discard(self, keys: Iterable[str]) -> None:
        """Remove the runs of cells."""
        found = [(bytes.fromhex(key),) for key in keys]
        with self._transaction() as connection:
            for table in ("exhibit", "run"):
                query = f"DELETE FROM {table} WHERE cell = (SELECT id FROM cell WHERE key = ?)"  # noqa: S608
                connection.executemany(query, found)

    def suites(self) -> list[str]:
        """Return the names of the suites here, the latest last."""
        query = "SELECT suite FROM session GROUP BY suite ORDER BY max(id)"
        return [name for (name,) in self._read(query)]

    def session(self, suite: str) -> Session:
        """Return the latest session of a suite."""
        return [one for one in self.sessions().values() if one["suite"] == suite][-1]

    def records(self, suite: str, *labels: str) -> list[Run]:
        """Return the planned runs of a suite, in its order, also missing ones.

        Labels of a problem, and of a solver, select runs. Cost: 4 s and 400 MB for 100,000 runs.
        """
        with self._snapshot() as reader:
            return list(reader.planned(suite, *labels))

    def exhibits(self, keys: Iterable[str]) -> dict[str, dict[str, Exhibit]]:
        """Return the exhibits of cells, by key and name.

        Raises
        ------
        StoreError
            If one is damaged; names its cell.
        """
        with self._snapshot() as reader:
            return dict(reader.exhibits(keys))

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        # all at once: a cursor that is left open outlives the connection
        with self._reported():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _snapshot(self) -> Iterator[Reader]:
        """Read the state at one time."""
        with self._reported():
            self._connection.execute("SAVEPOINT reading")
            try:
                yield Reader(self._connection, f"the store {self.path}", self._kept)
            finally:
                self._connection.execute("RELEASE reading")

    @contextmanager
    def _kept(self, label: str) -> Iterator[None]:
        """Name what cannot be read, or leave it out if asked."""
        try:
            yield
        except (*checks.ERRORS, StoreError) as error:
            if self._dropped is None:
                raise checks.MisfitError(f"{label}: {error}") from error
            if f"{label}: {error}" not in self._dropped:
                self._dropped.append(f"{label}: {error}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing."""
        with self._reported(reading=False):
            self._refuse_other_file()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._writer.forget()
                self._connection.rollback()
                raise

    def _refuse_other_file(self) -> None:
        """Refuse to write on into a file that was removed."""
        if self._place.exists() and samestat(self._place.stat(), self._file):
            return
        raise StoreError(
            f"the store {self.path} was removed or replaced while it was written: what is still to "
            "run would be lost. Run again into a new store, and leave it where it is"
        )

    @contextmanager
    def _reported(self, reading: bool = True) -> Iterator[None]:
        """Turn errors into a `StoreError`; damaged is what cannot be read."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise KeyboardInterrupt from error
            raise StoreError(f"cannot use the store {self.path}: {error}") from error
        except checks.ERRORS as error:
            if not reading:
                raise
            said = " ".join(str(error).split())
            raise StoreError(
                f"the store {self.path} is damaged ({said:.250}); {schema.REMEDY}"
            ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
