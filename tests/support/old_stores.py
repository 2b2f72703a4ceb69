"""Stores as older versions made them."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace

from orthobench.contract.exhibits import packed
from orthobench.harness.cell import execute
from orthobench.results import migration, schema
from orthobench.results.store import Store

VERSION_2 = """
CREATE TABLE session (
    id INTEGER PRIMARY KEY, suite TEXT NOT NULL, text TEXT NOT NULL, command TEXT NOT NULL,
    environment TEXT NOT NULL, started TEXT NOT NULL, ended TEXT
);
CREATE TABLE cell (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session (id), solver TEXT NOT NULL, problem TEXT NOT NULL,
    family TEXT NOT NULL, primary_metric TEXT NOT NULL, tuned_by TEXT NOT NULL,
    seed INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, traceback TEXT NOT NULL,
    finished TEXT NOT NULL
);
CREATE TABLE mark (
    cell INTEGER NOT NULL REFERENCES cell (id), number INTEGER NOT NULL, steps INTEGER NOT NULL,
    samples INTEGER NOT NULL, flops INTEGER NOT NULL, seconds REAL NOT NULL, reading REAL NOT NULL,
    PRIMARY KEY (cell, number)
) WITHOUT ROWID;
CREATE TABLE metric (
    cell INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (cell, number, name),
    FOREIGN KEY (cell, number) REFERENCES mark (cell, number)
) WITHOUT ROWID;
CREATE TABLE plan (
    suite TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL, problem TEXT NOT NULL,
    solver TEXT NOT NULL, tuned TEXT NOT NULL, content TEXT NOT NULL, family TEXT NOT NULL,
    primary_metric TEXT NOT NULL, tuned_by TEXT NOT NULL, levels TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (suite, position)
) WITHOUT ROWID;
PRAGMA application_id = 1869771880;
PRAGMA user_version = 2;
"""
"""The tables of version 2; version 1 had no levels, version 3 exhibits and checksums."""

TABLES = {
    1: VERSION_2.replace(", levels TEXT NOT NULL DEFAULT '[]'", "").replace("= 2;", "= 1;"),
    2: VERSION_2,
    3: f"{VERSION_2} {schema.MIGRATIONS[2]} PRAGMA user_version = 3;",
}


def older(path, suite, version, outcome_of=execute):
    """Make a store as an older orthobench would, the last cell of the suite not run yet."""
    planned = suite.cells()
    if version == 4:
        return without_loads(path, suite, planned, outcome_of)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(TABLES[version])
        row = (suite.name, suite.text, "old", "{}", "2026-01-01T00:00:00+00:00", None)
        connection.execute("INSERT INTO session VALUES (1, ?, ?, ?, ?, ?, ?)", row)
        for i, p in enumerate(planned):
            cell, problem = p, p.problem
            about = (problem.family, problem.primary, problem.tuned_by)
            content = json.dumps(cell.content)
            plan = [
                suite.name,
                i,
                cell.key,
                p.problem_label,
                p.solver_label,
                json.dumps(p.tuned),
                content,
                *about,
            ]
            levels = [] if version == 1 else ["[]"]
            insert(connection, "plan", [*plan, *levels])
            if p is not planned[-1]:
                old_cell(connection, i, cell, outcome_of(cell), about, version)
    return planned


def without_loads(path, suite, planned, outcome_of):
    """Make a store of version 4, whose results have no loads."""
    done = [(p, replace(outcome_of(p), load=None)) for p in planned[:-1]]
    with Store(path, write=True) as store:
        store.add(store.begin(suite, planned, "old", {}), done)
    begin, end = (schema.TABLES.index(f"CREATE TABLE {name} (") for name in ("result", "trace"))
    table = re.sub(r"checksum BLOB NOT NULL,.*\n.*load BLOB ", "checksum BLOB NOT NULL ",
                   schema.TABLES[begin:end])  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(result)")]
        kept = ", ".join(name for name in columns if name != "load")
        connection.executescript(f"ALTER TABLE result RENAME TO newer; {table}")
        connection.execute(f"INSERT INTO result SELECT {kept} FROM newer")  # noqa: S608
        connection.commit()
        connection.executescript("DROP TABLE newer; PRAGMA user_version = 4")
    return planned


def old_cell(connection, number, cell, outcome, about, version):
    stop, trace = outcome.stop, outcome.trace
    names = (cell.solver.name, cell.problem.name)
    when = "2026-01-01T00:00:01+00:00"
    row = [number, cell.key, json.dumps(cell.content), 1, *names, *about, cell.seed,
           stop.status.value, stop.reason, stop.traceback, when]  # fmt: skip
    insert(connection, "cell", row + [migration.checksum(cell.key, stop, trace)] * (version == 3))
    for i, mark in enumerate(trace):
        work = mark.work
        insert(connection, "mark", [number, i, work.steps, work.samples, work.flops, mark.seconds,
                                    mark.readout_seconds])  # fmt: skip
        for name, value in mark.metrics.items():
            insert(connection, "metric", [number, i, name, value])
    for i, (name, exhibit) in enumerate(outcome.exhibits.items() if version == 3 else ()):
        insert(connection, "exhibit", [number, name, i, *packed(exhibit)])


def insert(connection, table, row):
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} VALUES ({places})", row)  # noqa: S608
