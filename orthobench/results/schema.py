"""The tables of a store, and how it is recognised and opened."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from orthobench.errors import StoreError
from orthobench.tools import files

APPLICATION = 0x6F_72_74_68
"""SQLite's application id of a store: "orth"."""

VERSION = 7
"""Version of the tables below, in SQLite's user_version."""

PAGE_BYTES = 512
"""SQLite's page size in bytes: each table, and each long row, leaves a part of one unused."""

CACHE_KIB = 16_000
"""SQLite's cache in KiB: with the usual 2,000 a plan of thousands of runs is sorted on the disk."""

LARGEST = 64 * 2**20
"""Maximum size of a value in bytes; no trace or exhibit is larger."""

REMEDY = "restore a copy, or keep the rest: orthobench merge NEW OLD --drop-unreadable"
"""The advice on unreadable rows."""

STEPS = 100_000
"""Steps of SQLite's machine between two looks at signals: some milliseconds."""

BESIDE = ("-wal", "-shm", "-journal", "-lock")
"""Endings of the files beside a store."""

LONGEST_NAME = 255 - len("-journal")
"""Maximum length of the name of a store, in bytes, which leaves room for files beside it."""

DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""SQLite's errors about a database whose bytes changed."""

TABLES = """
CREATE TABLE text (                 -- what many rows share: settings, labels, reasons
    id INTEGER PRIMARY KEY,
    value TEXT NOT NULL UNIQUE
);
CREATE TABLE session (              -- one call of `orthobench run`
    id INTEGER PRIMARY KEY,
    suite TEXT NOT NULL,
    text TEXT NOT NULL,             -- the suite, TOML
    command TEXT NOT NULL,
    environment TEXT NOT NULL,      -- JSON: versions, processor, BLAS, git state
    started TEXT NOT NULL,          -- UTC, ISO 8601
    ended TEXT                      -- NULL where the session was cut off
);
CREATE TABLE cell (                 -- one cell, planned or finished: all that its result depends on
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,       -- SHA-256 of [problem,solver,seed,settings]
    problem INTEGER NOT NULL REFERENCES text (id),   -- JSON: name and parameters
    solver INTEGER NOT NULL REFERENCES text (id),    -- JSON: name and parameters
    seed INTEGER NOT NULL,
    settings INTEGER NOT NULL REFERENCES text (id),  -- JSON: budget, versions, code and the rest
    ranking INTEGER NOT NULL REFERENCES text (id)    -- JSON: family, primary and tuned_by
);
CREATE TABLE run (                  -- how a cell ended, and its trace
    cell INTEGER PRIMARY KEY REFERENCES cell (id),
    session INTEGER NOT NULL REFERENCES session (id),
    status TEXT NOT NULL,
    reason INTEGER NOT NULL REFERENCES text (id),
    traceback INTEGER NOT NULL REFERENCES text (id),
    points INTEGER NOT NULL,        -- checkpoints of the trace; those of the last one follow
    steps INTEGER,
    samples INTEGER,
    flops INTEGER,
    seconds REAL,                   -- on the clock, in init and advance
    reading REAL,                   -- in solution, at the last checkpoint
    names INTEGER NOT NULL REFERENCES text (id),     -- JSON: the metrics of the trace
    metrics BLOB,                   -- their values at the last checkpoint, 64-bit floats
    start REAL,                     -- the problem's primary metric at the first; NULL is NaN
    load TEXT,                      -- JSON: of the machine, before and after; NULL: not measured
    checksum BLOB NOT NULL,         -- of key, ending, trace and load
    trace BLOB NOT NULL             -- columns of counts, times and metrics, compressed by zlib
);
CREATE TABLE plan (                 -- the cells of a suite as it was last run, done or not
    suite INTEGER NOT NULL REFERENCES text (id),
    problem INTEGER NOT NULL REFERENCES text (id),   -- what the suite calls it
    solver INTEGER NOT NULL REFERENCES text (id),    -- the same, without tuned parameters
    position INTEGER NOT NULL,
    cell INTEGER NOT NULL REFERENCES cell (id),
    tuned INTEGER NOT NULL REFERENCES text (id),     -- JSON: tuned parameters of this trial
    levels INTEGER NOT NULL REFERENCES text (id),    -- JSON: [metric, most] of each level
    PRIMARY KEY (suite, problem, solver, position)
) WITHOUT ROWID;
CREATE TABLE exhibit (              -- what the solution of a cell looks like
    cell INTEGER NOT NULL REFERENCES cell (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,             -- image or curve
    meta TEXT NOT NULL,             -- JSON: reference, signed or the labels of the axes
    data BLOB NOT NULL,             -- .npy of 32-bit floats, compressed by zlib
    PRIMARY KEY (cell, name)
);
"""


def exists(path: Path) -> bool:
    """Return whether there is a file that is not empty.

    Raises
    ------
    StoreError
        If there is a folder, a pipe or a device; or its name is too long.
    """
    size = len(os.fsencode(path.name))
    if size > LONGEST_NAME:
        raise StoreError(
            f"the name of the store {path} has {size} bytes: take one of at most "
            f"{LONGEST_NAME}, since SQLite makes files with longer names beside it"
        )
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is not a regular file; name another file")
    return path.exists() and path.stat().st_size > 0


def refuse_unwritable(path: Path) -> None:
    """Refuse a store that this process cannot write, before SQLite makes files.

    Raises
    ------
    UsageError
        If it, or a file beside it, is a link.
    StoreError
        If one is no regular file, or not writable.
    """
    beside = [path.with_name(f"{path.name}{end}") for end in BESIDE]
    for file in (path, *beside):
        files.refuse_link(file)
        if file.exists() and not file.is_file():
            raise StoreError(f"{file} is not a regular file: remove it, or name another store")
    folder = next(folder for folder in path.absolute().parents if folder.exists())
    for at in (path, *beside, folder):
        if at.exists() and not os.access(at, os.W_OK) and not at.name.endswith("-lock"):
            raise StoreError(
                f"cannot write the store {path}: you have no permission to write {at}; copy it, or "
                "name another one"
            )


def recognise(path: Path) -> None:
    """Refuse a file that is no store of this version; it is not changed.

    Raises
    ------
    StoreError
        If it is no SQLite database, another program's, or of another version.
    """
    try:
        with files.opened(path) as file:
            header = file.read(100)
    except OSError as error:
        raise StoreError(f"cannot read the store {path}: {error.strerror}") from None
    if len(header) < 100 or not header.startswith(b"SQLite format 3\x00"):
        raise StoreError(f"{path} is not an orthobench store; name another file")
    version = int.from_bytes(header[60:64], "big")
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        raise StoreError(f"{path} is another program's database; name another file")
    if version != VERSION:
        raise StoreError(
            f"the store {path} is of version {version}, and this orthobench reads {VERSION} only: "
            "run its suite again into a new file, which --store names"
        )
    # a process that died while it wrote a page here has it in the log, too
    if path.stat().st_size % PAGE_BYTES and not _has_log(path):
        raise StoreError(
            f"the store {path} is damaged (it is cut off); restore a copy or start anew"
        )


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Give the path to read a store at: that of a copy if SQLite would write beside it.

    It does to read the log of a killed process.
    """
    log, index = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
    writable = all(os.access(at, os.W_OK) for at in (path, path.absolute().parent))
    if not _has_log(path) or index.exists() or writable:
        yield path
        return
    with TemporaryDirectory(prefix="orthobench-") as folder:
        copy = Path(folder) / "results.sqlite"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        yield copy


def opened(path: Path, write: bool) -> sqlite3.Connection:
    """Return a connection; one to read writes nothing beside the file if it need not."""
    still = "" if _has_log(path) else "&immutable=1"
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={'rwc' if write else f'ro{still}'}"
    connection = sqlite3.connect(address, uri=True, timeout=30, isolation_level=None)
    # a database that a stranger wrote runs nothing, and is bounded
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    # Python handles signals when it is called, and an exception there interrupts the query
    connection.set_progress_handler(lambda: 0, STEPS)
    return connection


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a damaged database, and other tables, whose expressions could run code.

    Raises
    ------
    StoreError
        With SQLite's finding, or the name of a table.
    """
    try:
        declared = {*connection.execute("SELECT type, name, sql FROM sqlite_master")}
        if aliens := sorted(f"{kind} {name}" for kind, name, _ in declared - _declared()):
            raise StoreError(
                f"{path} is no store of ours: the {aliens[0]!r} is none that orthobench makes; "
                "do not use it"
            )
        finding = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in DAMAGE:
            raise
        finding = str(error)
    if finding != "ok":
        said = " ".join(finding.split())
        raise StoreError(f"the store {path} is damaged ({said}); restore a copy or start anew")


def check_types(connection: sqlite3.Connection) -> None:
    """Refuse a missing table, and values of other types than declared.

    Raises
    ------
    ValueError
        Names table, column and row.
    """
    for table in sorted(name for kind, name, _ in _declared() if kind == "table"):
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        if not columns:
            raise ValueError(f"the table {table} is missing")
        keys = ", ".join(name for _, name, *_, key in columns if key)
        cases = " ".join(
            f"WHEN typeof({name}) NOT IN ('{type_.lower()}', 'null')"
            f" THEN 'the {name} is ' || typeof({name})"
            for _, name, type_, *_ in columns
        )
        query = f"SELECT CASE {cases} END AS wrong, {keys} FROM {table} WHERE wrong IS NOT NULL"  # noqa: S608
        for wrong, *values in connection.execute(query):
            row = ", ".join(f"{value!r:.40}" for value in values)
            raise ValueError(f"{wrong} in the row {row} of the table {table}")


@cache
def _declared() -> frozenset[tuple[str, str, str | None]]:
    """Return kind, name and declaration of all in a store."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(TABLES)
        return frozenset(made.execute("SELECT type, name, sql FROM sqlite_master"))


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of a new store."""
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        f"{TABLES} COMMIT;"
    )
