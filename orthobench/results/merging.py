"""One store out of two: what only the other has is copied, and checked on the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from orthobench.results import rows
from orthobench.results.rows import Row, Texts

FINISHED = """
    SELECT cell.key, cell.problem, cell.solver, cell.seed, cell.settings, cell.metrics, result.*,
        trace.block
    FROM cell JOIN result ON result.cell = cell.id JOIN trace ON trace.cell = cell.id
    ORDER BY result.rowid
"""


def copy(theirs: sqlite3.Connection, mine: sqlite3.Connection, texts: Texts) -> int:
    """Copy the sessions, cells and plans of another store.

    Parameters
    ----------
    theirs : sqlite3.Connection
        The other store.
    mine : sqlite3.Connection
        In a transaction of the caller's.
    texts : Texts
        Of `mine`.

    Returns
    -------
    int
        How many finished cells were copied.

    Raises
    ------
    ValueError
        On a cell whose key is not the digest of its content, or that is not what was written.
    """
    read = _texts(theirs)
    sessions = _sessions(theirs, mine)
    count = 0
    for row in theirs.execute(FINISHED):
        key, problem, solver, seed, settings, metrics, cell, session, *result, block = row
        parts = (read[problem], read[solver], seed, read[settings])
        _refuse_forged(key, parts, result, block, read)
        number = cell_number(mine, texts, key.hex(), parts, read[metrics])
        status, reason, traceback, *rest, names, finals, check = result
        told = (
            number, sessions[session], status, texts.number(read[reason]),
            texts.number(read[traceback]), *rest, texts.number(read[names]), finals, check,
        )  # fmt: skip
        if add_result(mine, told, block):
            count += 1
            _copy_exhibits(theirs, mine, cell, number)
    _copy_plans(theirs, mine, read, texts)
    return count


def cell_number(
    connection: sqlite3.Connection,
    texts: Texts,
    key: str,
    parts: tuple[str, str, int, str],
    metrics: str,
) -> int:
    """Return the number of a cell, which is added where it is new; in a transaction."""
    name = bytes.fromhex(key)
    query = "SELECT id FROM cell WHERE key = ?"
    found = connection.execute(query, (name,)).fetchone()
    if found is None:
        problem, solver, seed, settings = parts
        connection.execute(
            "INSERT INTO cell (key, problem, solver, seed, settings, metrics)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                name, texts.number(problem), texts.number(solver), seed, texts.number(settings),
                texts.number(metrics),
            ),
        )  # fmt: skip
        found = connection.execute(query, (name,)).fetchone()
    return int(found[0])


def add_result(connection: sqlite3.Connection, result: Row, block: bytes) -> bool:
    """Add a row of the table ``result`` and its trace; return whether the cell had none yet."""
    places = ", ".join("?" * len(result))
    added = connection.execute(f"INSERT OR IGNORE INTO result VALUES ({places})", result).rowcount  # noqa: S608
    if added:
        connection.execute("INSERT INTO trace (cell, block) VALUES (?, ?)", (result[0], block))
    return bool(added)


def contents(connection: sqlite3.Connection) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the key of each finished cell, and what its result depends on."""
    read = _texts(connection)
    query = (
        "SELECT key, problem, solver, seed, settings FROM cell"
        " WHERE id IN (SELECT cell FROM result)"
    )
    for key, problem, solver, seed, settings in connection.execute(query).fetchall():
        yield key, rows.joined(read[problem], read[solver], seed, read[settings])


def _texts(connection: sqlite3.Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT id, value FROM text"))


def _refuse_forged(
    key: bytes, parts: tuple[str, str, int, str], result: Row, block: bytes, read: dict[int, str]
) -> None:
    status, reason, _, _, points, *costs, names, finals, check = result
    told = (status, read[reason], (points, *costs), read[names], finals, block)
    content = rows.joined(*parts)
    cell = f"{content['solver']['name']} on {content['problem']['name']}, seed {content['seed']}"
    if rows.key_of(content) != key.hex():
        raise ValueError(f"the key of {cell}, is not the digest of its content")
    if rows.checksum(key, *told) != check:
        raise ValueError(f"{cell}, is not what was written")


def _sessions(theirs: sqlite3.Connection, mine: sqlite3.Connection) -> dict[int, int]:
    """Copy the sessions that are not here, and return the numbers here by those there."""
    found: dict[int, int] = {}
    columns = "suite, text, command, environment, started, ended"
    for number, *session in theirs.execute(f"SELECT id, {columns} FROM session ORDER BY id"):  # noqa: S608
        same = mine.execute(
            "SELECT min(id) FROM session"
            " WHERE suite = ? AND text = ? AND command = ? AND started = ?",
            (*session[:3], session[4]),
        ).fetchone()[0]
        if same is None:
            same = mine.execute(
                f"INSERT INTO session ({columns}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
                session,
            ).lastrowid
        found[number] = int(same or 0)
    return found


def _copy_exhibits(
    theirs: sqlite3.Connection, mine: sqlite3.Connection, cell: int, number: int
) -> None:
    columns = "name, position, kind, meta, data"
    found = theirs.execute(f"SELECT {columns} FROM exhibit WHERE cell = ?", (cell,))  # noqa: S608
    mine.executemany(
        f"INSERT INTO exhibit (cell, {columns}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
        ((number, *row) for row in found.fetchall()),
    )


def _copy_plans(
    theirs: sqlite3.Connection, mine: sqlite3.Connection, read: dict[int, str], texts: Texts
) -> None:
    """Add what only the other store plans of a suite, behind what is planned here."""
    query = (
        "SELECT plan.suite, plan.problem, plan.solver, plan.tuned, plan.levels, cell.key,"
        " cell.problem, cell.solver, cell.seed, cell.settings, cell.metrics"
        " FROM plan JOIN cell ON cell.id = plan.cell ORDER BY plan.suite, plan.position"
    )
    for suite, *labels, key, problem, solver, seed, settings, metrics in theirs.execute(query):
        parts = (read[problem], read[solver], seed, read[settings])
        cell = cell_number(mine, texts, key.hex(), parts, read[metrics])
        name = texts.number(read[suite])
        here = "SELECT 1 FROM plan WHERE suite = ? AND cell = ?"
        if mine.execute(here, (name, cell)).fetchone():
            continue
        mine.execute(
            "INSERT INTO plan (suite, cell, problem, solver, tuned, levels, position)"
            " VALUES (?, ?, ?, ?, ?, ?,"
            " (SELECT coalesce(max(position) + 1, 0) FROM plan WHERE suite = ?))",
            (name, cell, *(texts.number(read[label]) for label in labels), name),
        )
