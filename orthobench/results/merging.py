"""One store out of two: what only the other has is copied, and checked on the way.

What is read of the other store and what is written here are apart, so that an error names the one
whose it is.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from orthobench.results import checks, exhibit_rows, rows
from orthobench.results.rows import Reader, Row, Stored, Texts

FINISHED = """
    SELECT cell.key, cell.problem, cell.solver, cell.seed, cell.settings, cell.metrics, result.*,
        trace.block
    FROM result LEFT JOIN cell ON cell.id = result.cell LEFT JOIN trace ON trace.cell = result.cell
    ORDER BY result.cell
"""

PLANS = """
    SELECT plan.suite, plan.problem, plan.solver, plan.tuned, plan.levels, cell.key, cell.problem,
        cell.solver, cell.seed, cell.settings, cell.metrics
    FROM plan LEFT JOIN cell ON cell.id = plan.cell ORDER BY plan.suite, plan.position
"""

SESSION = "suite, text, command, environment, started, ended"


@dataclass(frozen=True)
class Finished:
    """A finished cell of another store, checked.

    Attributes
    ----------
    key : str
    parts : tuple
        Problem, solver, seed and settings, as `rows.split` returns them.
    metrics : str
    session : int
        Its number in the other store.
    result_row : tuple
        What the row of the table ``result`` holds besides, its texts as they are.
    block : bytes
    exhibits : list of tuple
        Rows of the table ``exhibit``, as `exhibit_rows.COLUMNS`.
    """

    key: str
    parts: tuple[str, str, int, str]
    metrics: str
    session: int
    result_row: Row
    block: bytes
    exhibits: list[Row]


@dataclass(frozen=True)
class Plan:
    """A row of the table ``plan`` of another store, checked, with its cell.

    Attributes
    ----------
    suite : str
    labels : tuple of str
        Labels of problem and solver, tuned parameters, levels.
    key, parts, metrics
        The cell, as in `Finished`.
    """

    suite: str
    labels: tuple[str, ...]
    key: str
    parts: tuple[str, str, int, str]
    metrics: str


def finished(
    theirs: sqlite3.Connection, where: str, sessions: Mapping[int, int]
) -> Iterator[Finished]:
    """Yield the finished cells of a store.

    Parameters
    ----------
    theirs : sqlite3.Connection
    where : str
        The store, for errors.
    sessions : mapping
        Those that there are, by number.

    Raises
    ------
    ValueError
        On a cell whose key is not the digest of its content, or that is not what was written.
    """
    read = Stored.read(theirs)
    reader = Reader(read, where)
    for row in theirs.execute(FINISHED):
        key, problem, solver, seed, settings, metrics, cell, session, *result, block = row
        if key is None:
            raise ValueError(f"the cell {cell} is missing")
        with checks.named(key.hex()):
            parts = (read[problem], read[solver], seed, read[settings])
            _refuse_forged(key, parts)
            what, primary = f"the cell {key.hex()[:12]!r}", reader.metrics(metrics)["primary"]
            list(reader.outcome(key, row[6:], what, primary)[1])
            if session not in sessions:
                raise ValueError(f"its session {session} is missing")
            exhibits = exhibit_rows.checked(theirs, cell)
            status, reason, traceback, *rest, names, finals, check, load = result
            told = (status, read[reason], read[traceback], *rest, read[names], finals, check, load)
        yield Finished(key.hex(), parts, read[metrics], session, told, block, exhibits)


def plans(theirs: sqlite3.Connection, where: str) -> Iterator[Plan]:
    """Yield what a store plans of each suite; parameters, raises : see `finished`."""
    read = Stored.read(theirs)
    reader = Reader(read, where)
    for suite, label, name, tuned, levels, key, *cell in theirs.execute(PLANS):
        problem, solver, seed, settings, metrics = cell
        if key is None:
            raise ValueError(f"{read[name]} on {read[label]} is planned, and has no cell")
        with checks.named(key.hex()):
            reader.problem(label, problem, metrics, levels)
            reader.solver(name, solver, tuned, settings)
            parts = (read[problem], read[solver], seed, read[settings])
            _refuse_forged(key, parts)
            labels = (read[label], read[name], read[tuned], read[levels])
        yield Plan(read[suite], labels, key.hex(), parts, read[metrics])


def sessions(theirs: sqlite3.Connection) -> Iterator[Row]:
    """Yield the sessions of a store, checked, each with its number before its `SESSION`."""
    for row in theirs.execute(f"SELECT id, {SESSION} FROM session ORDER BY id"):  # noqa: S608
        checks.session(*row[2:])
        yield row


def copy(cells: Iterable[Finished], sessions: Mapping[int, int], mine: sqlite3.Connection,
         texts: Texts) -> int:  # fmt: skip
    """Copy finished cells that are not here, in a transaction, and return how many.

    Parameters
    ----------
    cells : iterable of Finished
    sessions : mapping
        The numbers here of the sessions, by those there.
    mine : sqlite3.Connection
    texts : Texts
        Of `mine`.
    """
    count = 0
    for one in cells:
        number = cell_number(mine, texts, one.key, one.parts, one.metrics)
        status, reason, traceback, *rest, names, finals, check, load = one.result_row
        told = (
            number, sessions[one.session], status, texts.number(reason), texts.number(traceback),
            *rest, texts.number(names), finals, check, load,
        )  # fmt: skip
        count += add_result(mine, told, one.block, one.exhibits)
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


def add_result(
    connection: sqlite3.Connection, result: Row, block: bytes, exhibits: Iterable[Row]
) -> bool:
    """Add a row of the table ``result``, its trace and what it exhibits, where there is none yet.

    Returns
    -------
    bool
        Whether it was added.
    """
    places = ", ".join("?" * len(result))
    added = connection.execute(f"INSERT OR IGNORE INTO result VALUES ({places})", result).rowcount  # noqa: S608
    if added:
        connection.execute("INSERT INTO trace (cell, block) VALUES (?, ?)", (result[0], block))
        exhibit_rows.add(connection, int(result[0]), exhibits)
    return bool(added)


def contents(connection: sqlite3.Connection) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the key of each finished cell, and what its result depends on.

    Contents share what they have in common; do not write into them.
    """
    read = Stored.read(connection)
    parsed = cache(lambda number: json.loads(read[number]))
    query = (
        "SELECT key, problem, solver, seed, settings FROM cell"
        " WHERE id IN (SELECT cell FROM result)"
    )
    for key, problem, solver, seed, settings in connection.execute(query).fetchall():
        parts = {"problem": parsed(problem), "solver": parsed(solver), "seed": seed}
        yield key, {**parsed(settings), **parts}


def _refuse_forged(key: bytes, parts: tuple[str, str, int, str]) -> None:
    if rows.key_of(rows.joined(*parts)) != key.hex():
        raise ValueError("its key is not the digest of its content")


def copy_sessions(theirs: Iterable[Row], mine: sqlite3.Connection) -> dict[int, int]:
    """Copy sessions that are not here, and return the numbers here by those there."""
    found: dict[int, int] = {}
    for number, *session in theirs:
        same = mine.execute(
            "SELECT min(id) FROM session"
            " WHERE suite = ? AND text = ? AND command = ? AND started = ?",
            (*session[:3], session[4]),
        ).fetchone()[0]
        if same is None:
            same = mine.execute(
                f"INSERT INTO session ({SESSION}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
                session,
            ).lastrowid
        found[number] = int(same or 0)
    return found


def copy_plans(theirs: Iterable[Plan], mine: sqlite3.Connection, texts: Texts) -> None:
    """Add what only another store plans of a suite, behind what is planned here."""
    here: dict[int, tuple[set[int], Iterator[int]]] = {}
    for plan in theirs:
        suite = texts.number(plan.suite)
        if suite not in here:
            here[suite] = _planned(mine, suite)
        cells, positions = here[suite]
        cell = cell_number(mine, texts, plan.key, plan.parts, plan.metrics)
        if cell in cells:
            continue
        cells.add(cell)
        mine.execute(
            "INSERT INTO plan (suite, problem, solver, tuned, levels, cell, position)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (suite, *map(texts.number, plan.labels), cell, next(positions)),
        )


def _planned(mine: sqlite3.Connection, suite: int) -> tuple[set[int], Iterator[int]]:
    """Return the cells that are planned of a suite, and the positions behind them."""
    found = dict(mine.execute("SELECT position, cell FROM plan WHERE suite = ?", (suite,)))
    return set(found.values()), itertools.count(max(found, default=-1) + 1)
