"""What cells of a store exhibit, packed into rows and checked when they are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from orthobench.contract.exhibits import MOST, Exhibit, check_all, packed, unpacked
from orthobench.errors import StoreError
from orthobench.results import checks
from orthobench.results.rows import Row, Stored, joined

COLUMNS = "name, position, kind, meta, data"

TOGETHER = 2**27
"""Most entries of all exhibits that are read at once: half a gigabyte."""


def rows_of(exhibits: Mapping[str, Exhibit]) -> Iterator[Row]:
    """Yield the `COLUMNS` of exhibits, by name."""
    for position, (name, exhibit) in enumerate(exhibits.items()):
        yield name, position, *packed(exhibit)


def add(connection: sqlite3.Connection, cell: int, rows: Iterable[Row]) -> None:
    """Add what a cell exhibits, in `COLUMNS`; in a transaction."""
    connection.executemany(
        f"INSERT INTO exhibit (cell, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
        ((cell, *row) for row in rows),
    )


def checked(theirs: sqlite3.Connection, cell: int) -> list[Row]:
    """Return what a cell of another store exhibits, in `COLUMNS`, or raise ValueError."""
    query = f"SELECT {COLUMNS} FROM exhibit WHERE cell = ? LIMIT ?"  # noqa: S608
    found = theirs.execute(query, (cell, MOST + 1)).fetchall()
    try:
        check_all(unpacked(*row[2:]) for row in found)
    except StoreError as error:
        raise ValueError(f"an exhibit {error}") from error
    return found


def read(
    connection: sqlite3.Connection, keys: Iterable[str], where: str
) -> dict[str, dict[str, Exhibit]]:
    """Return what the cells with these keys exhibit, by name; empty where they do nothing.

    Raises
    ------
    StoreError
        Where an exhibit is damaged; names its cell, and the store as `where`.
    ValueError
        Where exhibits are too many, or too large together.
    """
    query = (
        "SELECT name, kind, meta, data FROM exhibit"
        " WHERE cell = (SELECT id FROM cell WHERE key = ?) ORDER BY position LIMIT ?"
    )
    found: dict[str, dict[str, Exhibit]] = {}
    left = TOGETHER
    for key in keys:
        shown = found[key] = {}
        for name, *parts in connection.execute(query, (bytes.fromhex(key), MOST + 1)).fetchall():
            try:
                shown[name] = exhibit = unpacked(*parts)
            except StoreError as error:
                raise _damaged(connection, key, name, where, error) from error
            left -= exhibit.size
            with checks.named(key):
                check_all(shown.values())
                if left < 0:
                    raise ValueError(f"exhibits have more than {TOGETHER} entries together")
    return found


def _damaged(
    connection: sqlite3.Connection, key: str, name: str, where: str, error: StoreError
) -> StoreError:
    """Return an error that names the cell of a damaged exhibit."""
    stored = Stored.read(connection)
    query = "SELECT problem, solver, seed, settings FROM cell WHERE key = ?"
    problem, solver, seed, settings = connection.execute(query, (bytes.fromhex(key),)).fetchone()
    content = joined(stored[problem], stored[solver], seed, stored[settings])
    cell = f"{content['solver']['name']} on {content['problem']['name']}"
    return StoreError(
        f"{where}: exhibit {name!r} of {cell}, seed {content['seed']} "
        f"(cell {key[:12]}) {error}; remove the cell, or restore a copy"
    )
