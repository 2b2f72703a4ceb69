"""Stores edited with knowledge of the format: keys and checksums are right again."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

from damaged_stores import resealed

from orthobench.contract.solver import Work
from orthobench.results.store import Store


def rewritten(path, key, change):
    """Change the outcome of a cell: `change` gets the stop and the trace, and returns them."""
    with Store(path, write=True) as store:
        run = next(one for one in store.runs() if one.key == key)
        exhibits = store.exhibits([key])[key]
        stop, trace = change(run.stop, list(run.trace))
        store.discard([key])
        with store._transaction():
            edited = replace(run, stop=stop, trace=tuple(trace))
            store._writer.run(run.session, edited, exhibits)


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
