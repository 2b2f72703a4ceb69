"""One store out of two: what the other has, and this one has not, is copied in one transaction."""

from __future__ import annotations

import sqlite3

PARTS = ("mark", "metric", "exhibit")
"""Tables whose first column is the number of a cell."""

SAME_SESSION = (
    "mine.suite = theirs.suite AND mine.started = theirs.started"
    " AND mine.command = theirs.command AND mine.text = theirs.text"
)


def copy(connection: sqlite3.Connection) -> int:
    """Copy the sessions, cells and plans of the attached database ``other``.

    The caller holds a transaction.

    Returns
    -------
    int
        How many cells were copied.
    """
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM cell").fetchone()
    sessions = _columns(connection, "session", leave_out="id")
    connection.execute(
        f"INSERT INTO session ({sessions}) SELECT {sessions} FROM other.session AS theirs"  # noqa: S608
        f" WHERE NOT EXISTS (SELECT 1 FROM session AS mine WHERE {SAME_SESSION}) ORDER BY id"
    )
    _copy_cells(connection)
    for part in PARTS:
        columns = _columns(connection, part, leave_out="cell")
        connection.execute(
            f"INSERT INTO {part} (cell, {columns})"  # noqa: S608
            f" SELECT mine.id, {columns} FROM other.{part} AS parts"
            " JOIN other.cell AS theirs ON theirs.id = parts.cell"
            " JOIN cell AS mine ON mine.key = theirs.key WHERE mine.id > ?",
            (last,),
        )
    _copy_plans(connection)
    (count,) = connection.execute("SELECT count(*) FROM cell WHERE id > ?", (last,)).fetchone()
    return int(count)


def _copy_cells(connection: sqlite3.Connection) -> None:
    names = [n for n in _columns(connection, "cell", leave_out="id").split(", ") if n != "session"]
    columns = ", ".join(names)
    taken = ", ".join(f"cells.{name}" for name in names)
    connection.execute(
        f"INSERT OR IGNORE INTO cell ({columns}, session)"  # noqa: S608
        f" SELECT {taken}, (SELECT min(mine.id) FROM session AS mine, other.session AS theirs"
        f" WHERE theirs.id = cells.session AND {SAME_SESSION})"
        " FROM other.cell AS cells ORDER BY cells.id"
    )


def _copy_plans(connection: sqlite3.Connection) -> None:
    """Add what only the other store plans of a suite, behind what is planned here."""
    columns = _columns(connection, "plan", leave_out="position")
    taken = columns.replace("suite", "theirs.suite", 1)
    connection.execute(
        f"INSERT INTO plan (position, {columns})"  # noqa: S608
        " SELECT (SELECT coalesce(max(position) + 1, 0) FROM plan AS mine"
        f" WHERE mine.suite = theirs.suite) + theirs.position, {taken} FROM other.plan AS theirs"
        " WHERE NOT EXISTS (SELECT 1 FROM plan AS mine"
        " WHERE mine.suite = theirs.suite AND mine.key = theirs.key)"
    )


def _columns(connection: sqlite3.Connection, table: str, leave_out: str) -> str:
    rows = connection.execute(f"PRAGMA main.table_info({table})")
    return ", ".join(row[1] for row in rows if row[1] != leave_out)
