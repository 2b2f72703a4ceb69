"""Stores edited by somebody who knows the format, and makes keys and checksums right again."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

from damaged_stores import resealed

from orthobench.contract.solver import Work
from orthobench.harness.trace import Outcome
from orthobench.results import merging, rows
from orthobench.results.store import Store


def rewritten(path, key, change):
    """Change the outcome of a cell: `change` gets the stop and the trace, and returns them."""
    with Store(path, write=True) as store:
        cell = next(one for one in store.reported() if one.key == key)
        stop, trace = change(cell.stop, list(cell.trace))
        name, outcome = bytes.fromhex(key), Outcome(stop, tuple(trace))
        with store._transaction() as connection:
            number, session = connection.execute(
                "SELECT cell, session FROM result JOIN cell ON id = cell WHERE key = ?", (name,)
            ).fetchone()
            row, block = rows.result_row(store._texts, name, outcome, cell.metrics["primary"], 0)
            for table in ("trace", "result"):
                connection.execute(f"DELETE FROM {table} WHERE cell = ?", (number,))  # noqa: S608
            merging.add_result(connection, (number, session, *row), block, ())


def metric(name, factor, at=-1):
    """Multiply a metric at a checkpoint."""

    def change(stop, trace):
        found = trace[at].metrics
        trace[at] = replace(trace[at], metrics={**found, name: found[name] * factor})
        return stop, trace

    return change


def count(name, more):
    """Add to a count of the last checkpoint."""

    def change(stop, trace):
        work = {**vars_of(trace[-1].work), name: getattr(trace[-1].work, name) + more}
        trace[-1] = replace(trace[-1], work=Work(**work))
        return stop, trace

    return change


def vars_of(work):
    return {name: getattr(work, name) for name in ("steps", "samples", "flops")}


def described(path, column, change):
    """Change the JSON of a column of all cells, and make keys and checksums right again."""
    with closing(sqlite3.connect(path)) as connection, connection:
        query = f"SELECT cell.id, value FROM cell JOIN text ON text.id = {column}"  # noqa: S608
        for number, old in connection.execute(query).fetchall():
            value = json.loads(old)
            change(value)
            new = (json.dumps(value, sort_keys=True, separators=(",", ":")),)
            connection.execute("INSERT OR IGNORE INTO text (value) VALUES (?)", new)
            connection.execute(
                f"UPDATE cell SET {column} = (SELECT id FROM text WHERE value = ?) WHERE id = ?",  # noqa: S608
                (*new, number),
            )
        resealed(connection)
