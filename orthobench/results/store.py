"""The store: every finished cell, once, for ever, in one SQLite file.

A cell is written in one transaction as soon as it is finished, so a run that is killed loses
at most the cells in flight. What a suite planned is kept too, so that missing runs are seen.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from os.path import samestat
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from orthobench.contract.exhibits import Exhibit
from orthobench.errors import StoreError
from orthobench.harness.cell import Cell
from orthobench.harness.identity import Identity
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.suite import Suite
from orthobench.harness.trace import Outcome
from orthobench.results import access, checks, schema
from orthobench.results.rows import Reader, Session, Writer
from orthobench.results.runs import Run
from orthobench.tools.files import exclusive_lock

FILE = "results.sqlite"
"""The default file name of a store."""


class Store:
    """A store, open; use it as a context manager.

    Parameters
    ----------
    path : Path
        The file.
    write : bool
        Whether to write into it: it is made, with its folder, where it is not there. To be read, a
        file is not touched.
    dropped : list of str, optional
        Leave out rows that cannot be read, and add to this list which and why.

    Raises
    ------
    StoreError
        Where the file is missing, no store, damaged, of another version, or not writable.
    """

    def __init__(
        self, path: Path, *, write: bool = False, dropped: list[str] | None = None
    ) -> None:
        self.path, self._dropped = path, dropped
        fresh = not schema.exists(path)
        if fresh and not write:
            raise StoreError(f"there is no store {path}; `orthobench run` makes one")
        if write:
            access.refuse_unwritable(path)
        if not fresh:
            schema.recognise(path)
        with ExitStack() as opened, self._reported():
            if fresh:
                path.parent.mkdir(parents=True, exist_ok=True)
            if write:
                busy = f"another process writes the store {path}: wait until it ends, or name"
                error = StoreError(f"{busy} another with --store")
                opened.enter_context(exclusive_lock(path, error))
            at = path if write else opened.enter_context(access.readable(path))
            self._connection = schema.opened(at, write)
            opened.callback(lambda: self._connection.close())
            self._prepare(fresh, write)
            self._opened = opened.pop_all()
        self._writer = Writer(self._connection)
        self._place = path.absolute()  # a solver in this process may change the folder
        self._file = self._place.stat()

    def _prepare(self, fresh: bool, write: bool) -> None:
        connection = self._connection
        if fresh:
            schema.create(connection)
        else:
            schema.check(connection, self.path)
            if self._dropped is None:
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
            session = self._writer.session({
                "suite": suite.name, "text": suite.text, "command": command,
                "environment": environment, "started": _now(), "ended": None,
            })  # fmt: skip
            number = self._writer.text(suite.name)
            connection.execute("DELETE FROM plan WHERE suite = ?", (number,))
            self._plan(suite.name, planned)
            connection.execute(
                "DELETE FROM cell WHERE id NOT IN (SELECT cell FROM run)"
                " AND id NOT IN (SELECT cell FROM plan)"
            )
        return session

    def plan(self, suite: str, planned: Iterable[Cell]) -> None:
        """Add cells to the plan of a suite, each in place of any other at its position."""
        with self._transaction():
            self._plan(suite, planned)

    def _plan(self, suite: str, planned: Iterable[Cell]) -> None:
        for cell in planned:
            self._writer.plan(suite, Run.of(cell), cell.position)

    def end(self, session: int, found: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Record that a session went through, and what it found beside its runs."""
        environment = {**self.sessions()[session]["environment"], **found}
        with self._transaction() as connection:
            connection.execute(
                "UPDATE session SET ended = ?, environment = ? WHERE id = ?",
                (_now(), json.dumps(environment), session),
            )

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` whose cells are finished."""
        query = "SELECT 1 FROM run WHERE cell = (SELECT id FROM cell WHERE key = ?)"
        return {key for key in keys if self._read(query, (bytes.fromhex(key),))}

    def contents(self) -> dict[str, Identity]:
        """Return what the result of each finished cell depends on, by key."""
        return {run.key: run.identity for run in self.runs()}

    def runs(self) -> Iterator[Run]:
        """Yield the finished runs, whatever suite planned them, with the catalogue's names.

        Raises
        ------
        StoreError
            Where a key is not the digest of its content, or a run not what was written.
        """
        with self._snapshot() as reader:
            yield from reader.finished()

    def sessions(self) -> dict[int, Session]:
        """Return the sessions by number, as `session` returns them."""
        with self._snapshot() as reader:
            return reader.sessions()

    def merge(self, other: Path, dropped: list[str] | None = None) -> int:
        """Add the runs of another store that are not here, with its plans and sessions.

        In one transaction; where a suite is planned in both, what only the other plans is added.
        All that is read of the other is checked.

        Parameters
        ----------
        other : Path
        dropped : list of str, optional
            Leave out rows of the other that cannot be read, and add to this list which and why.

        Returns
        -------
        int
            How many finished runs were added.

        Raises
        ------
        StoreError
            If the other is no store, or has anything that is not what was written.
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
        """Write finished cells, all in one transaction, so that the disk is waited for once.

        One that is here already stays as it is. One that could not be read again is kept as an
        error of its cell.

        Parameters
        ----------
        session : int
        finished : iterable of (Cell, Outcome)
        suite : str
            They join the plan of this suite, as by `plan`.
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

    def take(self, session: Session, runs: Sequence[Run]) -> int:
        """Add runs that were not made here, as the plan of the session's suite.

        Returns
        -------
        int
            Number of runs that were not there.
        """
        suite = session["suite"]
        with self._transaction() as connection:
            number = self._writer.session(session)
            connection.execute("DELETE FROM plan WHERE suite = ?", (self._writer.text(suite),))
            for place, run in enumerate(runs):
                self._writer.plan(suite, run, place)
            return sum(self._writer.run(number, run, {}) for run in runs)

    def discard(self, keys: Iterable[str]) -> None:
        """Remove what cells gave, so that they run again."""
        with self._transaction() as connection:
            for key in keys:
                for part in ("exhibit", "run"):
                    connection.execute(
                        f"DELETE FROM {part} WHERE cell = (SELECT id FROM cell WHERE key = ?)",  # noqa: S608
                        (bytes.fromhex(key),),
                    )

    def suites(self) -> list[str]:
        """Return the names of the suites that were run on this store, the latest last."""
        query = "SELECT suite FROM session GROUP BY suite ORDER BY max(id)"
        return [name for (name,) in self._read(query)]

    def session(self, suite: str) -> Session:
        """Return the latest session of a suite: text, command, environment, start and end."""
        return [one for one in self.sessions().values() if one["suite"] == suite][-1]

    def records(
        self, suite: str, problem: str | None = None, solver: str | None = None
    ) -> list[Run]:
        """Return every planned run of a suite, in its order; those not run yet are missing.

        With the label of a problem, or also of a solver, only the runs of these. Their traces are
        unpacked on first use. 100,000 of 30 checkpoints and 6 metrics take 4 s and 400 MB.
        """
        with self._snapshot() as reader:
            return list(reader.planned(suite, *(x for x in (problem, solver) if x is not None)))

    def exhibits(self, keys: Iterable[str]) -> dict[str, dict[str, Exhibit]]:
        """Return what the cells with these keys exhibit, by name; empty where they do nothing.

        Raises
        ------
        StoreError
            Where an exhibit is damaged; names its cell.
        """
        with self._snapshot() as reader:
            return dict(reader.exhibits(keys))

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        # all at once: a cursor that is left open outlives the connection
        with self._reported():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _snapshot(self) -> Iterator[Reader]:
        """Read all as it is at one time, whatever another process writes meanwhile."""
        with self._reported():
            self._connection.execute("SAVEPOINT reading")
            try:
                yield Reader(self._connection, f"the store {self.path}", self._kept)
            finally:
                self._connection.execute("RELEASE reading")

    @contextmanager
    def _kept(self, label: str) -> Iterator[None]:
        """Name what cannot be read, or leave it out if that was asked for."""
        try:
            yield
        except (*checks.ERRORS, StoreError) as error:
            if self._dropped is None:
                raise checks.MisfitError(f"{label}: {error}") from error
            said = f"{label}: {error}"
            if said not in self._dropped:
                self._dropped.append(said)

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
        """Refuse to write on where nobody would find it.

        Raises
        ------
        StoreError
        """
        if self._place.exists() and samestat(self._place.stat(), self._file):
            return
        raise StoreError(
            f"the store {self.path} was removed or replaced while it was written: what is still to "
            "run would be lost. Run again into a new store, and leave it where it is"
        )

    @contextmanager
    def _reported(self, reading: bool = True) -> Iterator[None]:
        """Turn what SQLite and the file system say into an error that names the store.

        What cannot be read was damaged; what cannot be written was not.
        """
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
