"""The tables of a store, and how a file is recognised as one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from orthobench.errors import StoreError

APPLICATION = 0x6F_72_74_68
"""SQLite's application id of a store: "orth"."""

VERSION = 3
"""Version of the tables below, in SQLite's user_version."""

_MAGIC = b"SQLite format 3\x00"

_EXHIBIT = """
CREATE TABLE exhibit (              -- what the solution of a cell looks like
    cell INTEGER NOT NULL REFERENCES cell (id),
    name TEXT NOT NULL,
    position INTEGER NOT NULL,      -- from 0, in the problem's order
    kind TEXT NOT NULL,             -- image or curve
    meta TEXT NOT NULL,             -- JSON: reference, signed or the labels of the axes
    data BLOB NOT NULL,             -- .npy of 32-bit floats, compressed by zlib
    PRIMARY KEY (cell, name)
);
"""

TABLES = f"""
CREATE TABLE session (              -- one call of `orthobench run`
    id INTEGER PRIMARY KEY,
    suite TEXT NOT NULL,
    text TEXT NOT NULL,             -- the suite, TOML
    command TEXT NOT NULL,
    environment TEXT NOT NULL,      -- JSON: versions, processor, BLAS, git state
    started TEXT NOT NULL,          -- UTC, ISO 8601
    ended TEXT                      -- NULL where the session was cut off
);
CREATE TABLE cell (                 -- one finished cell, whatever its ending
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,       -- SHA-256 of content
    content TEXT NOT NULL,          -- JSON: all that the result depends on
    session INTEGER NOT NULL REFERENCES session (id),
    solver TEXT NOT NULL,
    problem TEXT NOT NULL,
    family TEXT NOT NULL,
    primary_metric TEXT NOT NULL,
    tuned_by TEXT NOT NULL,
    seed INTEGER NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    traceback TEXT NOT NULL,
    finished TEXT NOT NULL,         -- UTC, ISO 8601
    checksum TEXT NOT NULL DEFAULT ''  -- of key, ending and trace; empty before version 3
);
CREATE TABLE mark (                 -- one checkpoint of a cell's trace
    cell INTEGER NOT NULL REFERENCES cell (id),
    number INTEGER NOT NULL,        -- from 0, the point after init
    steps INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    flops INTEGER NOT NULL,
    seconds REAL NOT NULL,          -- on the clock, in init and advance
    reading REAL NOT NULL,          -- in solution, at this checkpoint
    PRIMARY KEY (cell, number)
) WITHOUT ROWID;
CREATE TABLE metric (               -- what the judge said of a checkpoint
    cell INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    value REAL,                     -- NULL where it is not a number
    PRIMARY KEY (cell, number, name),
    FOREIGN KEY (cell, number) REFERENCES mark (cell, number)
) WITHOUT ROWID;
CREATE TABLE plan (                 -- the cells of a suite as it was last run, done or not
    suite TEXT NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    problem TEXT NOT NULL,          -- what the suite calls it
    solver TEXT NOT NULL,           -- what the suite calls it, without tuned parameters
    tuned TEXT NOT NULL,            -- JSON: tuned parameters of this trial
    content TEXT NOT NULL,          -- JSON, as in cell
    family TEXT NOT NULL,
    primary_metric TEXT NOT NULL,
    tuned_by TEXT NOT NULL,
    levels TEXT NOT NULL DEFAULT '[]',  -- JSON: [metric, most] of each level compared at
    PRIMARY KEY (suite, position)
) WITHOUT ROWID;
{_EXHIBIT}
"""


MIGRATIONS = {
    1: "ALTER TABLE plan ADD COLUMN levels TEXT NOT NULL DEFAULT '[]';",
    2: f"ALTER TABLE cell ADD COLUMN checksum TEXT NOT NULL DEFAULT ''; {_EXHIBIT}",
}
"""What makes a store of a version one of the next."""


def recognise(path: Path) -> None:
    """Refuse a file that is not a store this version can use; it is read, never changed.

    Raises
    ------
    StoreError
        Where the file is no SQLite database, another program's, damaged, or of a newer schema.
    """
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise StoreError(f"cannot read the store {path}: {error.strerror}") from None
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise StoreError(f"{path} is not an orthobench store; name another file with --store")
    version = int.from_bytes(header[60:64], "big")
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        raise StoreError(f"{path} is another program's database; name another file with --store")
    if version > VERSION:
        raise StoreError(
            f"{path} has schema {version}, this orthobench knows {VERSION}: update orthobench"
        )
    missing = _missing(path, header)
    if missing > 0:
        raise StoreError(
            f"the store {path} is damaged (its last {missing} bytes are missing); restore a copy "
            "or start anew"
        )


def _missing(path: Path, header: bytes) -> int:
    """Return by how much a file is shorter than its header says, where no log holds the rest."""
    log = path.with_name(f"{path.name}-wal")
    told, trusted = header[24:28], header[92:96]
    if told != trusted or (log.exists() and log.stat().st_size):
        return 0
    size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return pages * (65536 if size == 1 else size) - path.stat().st_size


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a damaged database.

    Raises
    ------
    StoreError
        With SQLite's own finding.
    """
    try:
        finding = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        finding = str(error)
    if finding != "ok":
        raise StoreError(f"the store {path} is damaged ({finding}); restore a copy or start anew")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables of an older store up to date, in one transaction."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < VERSION:
        changes = " ".join(MIGRATIONS[v] for v in range(version, VERSION))
        connection.executescript(
            f"BEGIN IMMEDIATE; {changes} PRAGMA user_version = {VERSION}; COMMIT;"
        )


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of a new store."""
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        f"{TABLES} COMMIT;"
    )
