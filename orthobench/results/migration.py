"""Stores of older versions brought up to date, in one transaction."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterator
from datetime import datetime
from math import isnan, nan
from typing import Any

from orthobench.contract.solver import Work
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.results import checks, merging, rows, schema, shown

OLD = ("cell", "plan", "exhibit", "mark", "metric")
"""Tables of version 3 that are not as they were, or no more."""

CHECKED = 3
"""The first version that kept checksums."""

RENEWED = 4
"""The first version with the tables of today; those of older ones are copied into new ones."""


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the tables of an older store up to date: all of them, or none.

    Returns
    -------
    int
        How many cells were taken as they are: those of versions 1 and 2, which kept no checksums.

    Raises
    ------
    ValueError
        On a cell that is not what was written.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    renewed = version < RENEWED
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {_changes(version)}")
        unchecked = _copy(connection, version) if renewed else 0
        for name in reversed(OLD) if renewed else ():
            connection.execute(f"DROP TABLE old_{name}")
        schema.check_types(connection)
        connection.execute(f"PRAGMA user_version = {schema.VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
    return unchecked


def _changes(version: int) -> str:
    """Return the statements that change the tables of a version to those of today."""
    if version >= RENEWED:
        return " ".join(schema.MIGRATIONS[v] for v in range(version, schema.VERSION))
    earlier = " ".join(schema.MIGRATIONS[v] for v in range(version, RENEWED - 1))
    renamed = " ".join(f"ALTER TABLE {name} RENAME TO old_{name};" for name in OLD)
    session, tables = "CREATE TABLE session", schema.TABLES
    begin = tables.index(session)
    made = tables[:begin] + tables[tables.index(");", begin) + 2 :]
    return f"{earlier} {renamed} {made}"


def _copy(connection: sqlite3.Connection, version: int) -> int:
    texts = rows.Texts(connection)
    finished = connection.execute(
        "SELECT id, key, content, family, primary_metric, tuned_by, session, status, reason,"
        " traceback, finished, checksum FROM old_cell ORDER BY id"
    ).fetchall()
    for row in finished:
        with checks.named(row[1]):
            _copy_cell(connection, texts, row, version)
    planned = connection.execute(
        "SELECT key, content, family, primary_metric, tuned_by, suite, problem, solver, position,"
        " tuned, levels FROM old_plan ORDER BY suite, position"
    ).fetchall()
    for row in planned:
        with checks.named(row[0]):
            _copy_plan(connection, texts, row)
    return len(finished) if version < CHECKED else 0


def _copy_plan(connection: sqlite3.Connection, texts: rows.Texts, row: rows.Row) -> None:
    key, content, *metrics, suite, problem, solver, position, tuned, levels = row
    number = _number(connection, texts, key, content, metrics)
    connection.execute(
        "INSERT INTO plan (suite, problem, solver, position, cell, tuned, levels)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *map(texts.number, (suite, problem, solver)), position, number,
            *map(texts.number, (tuned, levels)),
        ),
    )  # fmt: skip


def _copy_cell(
    connection: sqlite3.Connection, texts: rows.Texts, row: rows.Row, version: int
) -> None:
    old, key, content, *metrics, session, status, reason, traceback, when, check = row
    number = _number(connection, texts, key, content, metrics)
    stop, trace = Termination(RunStatus(status), reason, traceback), tuple(_trace(connection, old))
    if version >= CHECKED and check != checksum(key, stop, trace):
        raise ValueError("it is not what was written")
    told, block = rows.result_row(
        texts, bytes.fromhex(key), Outcome(stop, trace), metrics[1], _seconds(when)
    )
    query = f"SELECT {shown.COLUMNS} FROM old_exhibit WHERE cell = ?"  # noqa: S608
    exhibits = connection.execute(query, (old,)).fetchall()
    merging.add_result(connection, (number, session, *told), block, exhibits)


def _number(
    connection: sqlite3.Connection, texts: rows.Texts, key: str, content: str, metrics: list[str]
) -> int:
    named = canonical(dict(zip(("family", "primary", "tuned_by"), metrics, strict=True)))
    parts = rows.split(checks.content(content))
    return merging.cell_number(connection, texts, key, parts, named)


def _trace(connection: sqlite3.Connection, cell: int) -> Iterator[Checkpoint]:
    judged: dict[int, dict[str, float]] = {}
    query = "SELECT number, name, value FROM old_metric WHERE cell = ? ORDER BY number, name"
    for number, name, value in connection.execute(query, (cell,)):
        judged.setdefault(number, {})[name] = nan if value is None else value
    query = (
        "SELECT number, steps, samples, flops, seconds, reading FROM old_mark WHERE cell = ?"
        " ORDER BY number"
    )
    for number, *work, seconds, reading in connection.execute(query, (cell,)).fetchall():
        yield Checkpoint(seconds, reading, Work(*work), judged.get(number, {}))


def _seconds(when: str) -> int:
    return round(datetime.fromisoformat(when).timestamp())


def checksum(key: str, stop: Termination, trace: tuple[Checkpoint, ...]) -> str:
    """Return the digest that version 3 kept of what a cell gave."""
    found = hashlib.sha256("\0".join((key, stop.status.value, stop.reason)).encode())
    for mark in trace:
        work = mark.work
        found.update(
            struct.pack(
                "<qqqdd", work.steps, work.samples, work.flops, mark.seconds, mark.readout_seconds
            )
        )
        for name in sorted(mark.metrics):
            value: Any = mark.metrics[name]
            found.update(name.encode() + struct.pack("<d", nan if isnan(value) else value))
    return found.hexdigest()
