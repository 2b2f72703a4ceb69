"""Stores damaged by someone who knows their tables, and makes the checksums right again."""

import copy
import json
import random
import shutil
import sqlite3
import tomllib
import zlib
from contextlib import closing
from dataclasses import replace
from functools import cache

import numpy as np
from commands import refusal

from orthobench.contract.exhibits import Curve, Image
from orthobench.contract.solver import Work
from orthobench.harness.identity import Identity
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table
from orthobench.results import rows, traces
from orthobench.results.store import Store
from orthobench.tools.machine import Load

SUITE = """
description = "what a stranger sends"
seeds = 2
budget = { samples = 50 }
problem = [{ name = "spiked-covariance" }, { name = "spiked-covariance", k = 2 }]
solver = [{ name = "oja", step = { tune = [0.5, 1] } }, { name = "batch-pca" }]
"""

ENVIRONMENT = {
    "cpu": "toy", "cores": 2, "platform": "Linux", "python": "3.11", "orthobench": "0.1.0",
    "blas": [{"internal_api": "openblas", "version": "0.3", "num_threads": 1}],
    "packages": {"numpy": "2.0"}, "git": {"commit": "abc", "dirty": True},
    "run": {"executor": "local", "timeout": None}, "load": [0.1],
}  # fmt: skip
NUMBERS = (0, -1, 1, 7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 0.5, 1e308, -1e308, 5e-324,
           float("inf"), float("-inf"))  # fmt: skip
TEXTS = ("", "x", "0", "nan", "\0", "\x1b[31m", "\ud7ff\u202e", "[", "{}", "[]", "null", "1e999",
         "é" * 5000, "[" * 100_000, '{"a":' * 2000, "2026-13-45", "9" * 5000, "image", "missing",
         "error", "=1+1", "'", "../..", "%(x)s {y}", "$x^{$")  # fmt: skip
BLOBS = (b"", b"\0", b"\xff" * 8, bytes(32), b"PK\3\4", bytes(10**6))
SCALARS = (None, True, 0, -1, 2**70, 0.5, 1e308, float("nan"), float("inf"), "", "x", "é\n\x1b",
           [], {}, [1], {"a": 1}, [[[[]]]], [None, {}])  # fmt: skip
BOMB = zlib.compress(bytes(5 * 10**7), 1)
OPEN = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET"
SLOW = "CHECK (''aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'' NOT LIKE ''%a%a%a%a%a%a%a%a%b'')"
SCHEMAS = (
    "DROP TABLE {table}", "ALTER TABLE {table} RENAME TO other",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other", "ALTER TABLE {table} ADD COLUMN other",
    "CREATE INDEX slow ON {table} ({column} LIKE '%a%a%a%a%a%a%a%a%a%b')",
    "CREATE INDEX half ON {table} ({column}) WHERE {column} GLOB '*a*a*a*a*a*b'",
    "CREATE TABLE other (x CHECK (x LIKE '%a%a%a%a%b'))", "CREATE TABLE sqlite_x (x)",
    "CREATE VIEW other AS SELECT * FROM {table}", "PRAGMA user_version = 1",
    "PRAGMA user_version = 2", "PRAGMA user_version = 3", "PRAGMA user_version = 0",
    "PRAGMA user_version = -1", "PRAGMA user_version = 4", "PRAGMA user_version = 8",
    "CREATE TRIGGER other AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
    f"{OPEN} sql = 'CREATE TABLE {{table}} (x)' WHERE name = '{{table}}'",
    f"{OPEN} rootpage = 3 WHERE name = '{{table}}'",
    f"{OPEN} sql = replace(sql, 'NOT NULL', '{SLOW}') WHERE name = '{{table}}'",
)  # fmt: skip


@cache
def sound():
    """A suite with the outcomes of its cells, made up."""
    suite = from_table(tomllib.loads(SUITE), "strangers", catalogue())
    suite = replace(suite, text=SUITE)
    return suite, [(p, _outcome(p, i)) for i, p in enumerate(suite.cells())]


def _outcome(cell, number):
    names = (cell.problem.primary, cell.problem.tuned_by, "constraint_violation")
    trace = tuple(
        Checkpoint(0.01 * i, 1e-5, Work(i, i, 100 * i), dict.fromkeys(names, (number + 1) * 0.5**i))
        for i in range(6)
    )
    picture = np.arange(12.0).reshape(3, 4) + number
    shown = {
        "bands": Image(picture), "map": Image(picture - 6, signed=True),
        "truth": Image(picture, reference=True), "roc": Curve(picture[0], picture[1], "x", "y"),
    }  # fmt: skip
    if number == 3:
        return Outcome(Termination(RunStatus.ERROR, "ZeroDivisionError", "Traceback"), trace[:2])
    load = Load(2, 0.01), Load(2, 4.5)
    return Outcome(Termination(RunStatus.BUDGET, "50 samples"), trace, shown, load=load)


def fresh(folder):
    """A sound store, copied from the one of this folder."""
    base = folder / "base.sqlite"
    suite, outcomes = sound()
    if not base.exists():
        with Store(base, write=True) as store:
            session = store.begin(suite, suite.cells(), "orthobench run", ENVIRONMENT)
            store.add(session, outcomes[:-1])
            store.end(session)
    return shutil.copy(base, folder / "store.sqlite")


def attack(folder, number):
    """Damage a store in the way of a number, and give it to the commands that read stores."""
    chance = random.Random(number)  # noqa: S311
    path = fresh(folder)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        for _ in range(chance.choice([1, 1, 2, 4]) if number >= 0 else 0):
            try:
                chance.choice(DAMAGES)(connection, chance)
            except Exception:  # noqa: S112 - it does not fit what is there
                continue
        if chance.random() < 0.8:
            resealed(connection)
        connection.execute("PRAGMA journal_mode = DELETE")
    used(path, folder, everything=number % 20 == 19)


def used(path, folder, everything):
    """Read a store with every command; what it does not write is as it was."""
    before = path.read_bytes()
    calls = [["show", path], ["export", path]]
    if everything:
        calls.append(["report", path, "-o", folder / "page", "-q", "--no-open"])
    for words in calls:
        refusal(words, [path])
    assert path.read_bytes() == before, "a command that reads changed the store"
    other = folder / "other.sqlite"
    other.unlink(missing_ok=True)
    refusal(["merge", other, path], [path])
    with_rest = {"store.sqlite", "other.sqlite", "page"}
    left = {p.name for p in folder.iterdir() if not p.name.startswith(("base", "fontlist", "."))}
    assert left <= with_rest, f"left behind: {left - with_rest}"


def _place(connection, chance):
    tables = [t for (t,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    table = chance.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    return table, chance.choice(columns)


def column(connection, chance):
    """A value of a wrong type or size in a column, in one row or in all."""
    table, name = _place(connection, chance)
    value = chance.choice([None, *NUMBERS, *TEXTS, *BLOBS])
    where = chance.choice(["", f" WHERE {name} = (SELECT {name} FROM {table} LIMIT 1)"])  # noqa: S608
    connection.execute(f"UPDATE OR IGNORE {table} SET {name} = ?{where}", (value,))  # noqa: S608
    if chance.random() < 0.1:
        connection.execute(f"UPDATE {table} SET {name} = CAST(x'C3FF00' AS TEXT)")  # noqa: S608


def document(connection, chance):
    """JSON of another structure, if there is any."""
    found = [
        (table, name, row, value)
        for table, name in (
            ("text", "value"),
            ("exhibit", "meta"),
            ("session", "environment"),
            ("session", "text"),
            ("run", "load"),
        )
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        for row, value in connection.execute(f"SELECT rowid, {name} FROM {table}")  # noqa: S608
        if str(value).startswith(("{", "["))
    ]
    table, name, row, value = chance.choice(found)
    changed = mutated(json.loads(value), chance)
    text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
    if chance.random() < 0.1:
        text = text.replace("{", '{"deep":' + "[" * 990 + "]" * 990 + ",", 1)
    connection.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (text, row))  # noqa: S608


def mutated(value, chance):
    """A JSON value with one of its parts replaced, removed or doubled."""
    value = copy.deepcopy(value)
    inner = [value] if isinstance(value, (dict, list)) else []
    for one in inner:
        parts = one.values() if isinstance(one, dict) else one
        inner.extend(part for part in parts if isinstance(part, (dict, list)))
    if not inner or not (at := chance.choice(inner)) or chance.random() < 0.1:
        return copy.deepcopy(chance.choice(SCALARS))
    place = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
    if chance.random() < 0.25:
        del at[place]
    elif isinstance(at, dict) and chance.random() < 0.2:
        at[chance.choice(TEXTS[:8])] = at.pop(place)
    else:
        at[place] = copy.deepcopy(chance.choice(SCALARS))
    return value


def trace(connection, chance):
    """A block that is cut, swapped, a bomb, or packs other numbers."""
    cell, names, points, block, numbers, seconds, *counts = chance.choice(connection.execute(
        "SELECT cell, value, points, trace, metrics, seconds, steps, samples, flops"
        " FROM run JOIN text ON text.id = names"
    ).fetchall())  # fmt: skip
    kind = chance.randrange(5)
    if kind == 0:
        block = block[: chance.randrange(len(block))]
    elif kind == 1:
        block = chance.choice([BOMB, block + block, zlib.compress(b""), b"\0" * 99])
    elif kind == 2:
        points = chance.choice(NUMBERS)
    else:
        names = tuple(json.loads(names))
        final = Checkpoint(seconds, 0.0, Work(*counts), traces.metrics_of(numbers, names))
        marks = list(traces.Trace(points, names, final, block))
        at = chance.randrange(len(marks))
        number = chance.choice([n for n in NUMBERS if abs(n) < 9e9])
        huge = chance.choice(NUMBERS)
        metrics = dict(marks[at].metrics)
        metrics[chance.choice(list(metrics))] = float(huge)
        work = Work(int(number), marks[at].work.samples, int(-number))
        marks[at] = replace(marks[at], seconds=float(number), work=work, metrics=metrics)
        block = traces.packed(marks)[1]
        if at == len(marks) - 1:
            costs = (work.steps, work.samples, work.flops, float(number))
            connection.execute(
                "UPDATE run SET steps = ?, samples = ?, flops = ?, seconds = ?, metrics = ?"
                " WHERE cell = ?",
                (*costs, traces.numbers_of(metrics, names).tobytes(), cell),
            )
    connection.execute("UPDATE run SET trace = ?, points = ? WHERE cell = ?", (block, points, cell))


def exhibit(connection, chance):
    """A picture that is a bomb, slim, of objects, of nothing, or of extreme values."""
    array = chance.choice([
        np.zeros((1, 2**22)), np.zeros((2**22, 1)), np.zeros((2, 2**21)), np.zeros((0, 3)),
        np.full((3, 3), np.nan), np.full((2, 9), 3e38), np.array([[-3e38, 3e38]] * 2),
        np.array([["a"]]), np.zeros(3), np.zeros((1,) * 32), np.zeros((3, 3), complex),
        np.array([[1e-45, 0.0], [0.0, 1.0]]), np.zeros((2, 3), [("a", "f4")]),
    ])  # fmt: skip
    dtype = array.dtype if array.dtype.kind in "UVc" else "<f4"
    head = repr({"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False,
                 "shape": array.shape})  # fmt: skip
    if chance.random() < 0.2:
        head = chance.choice(["(" * 5000, "{" * 99, "'" * 9, "-" * 9000 + "1",
                              head.replace("(", "(99999999999999999999, "),
                              "{'descr': '|O', 'fortran_order': 0, 'shape': (3,)}"])  # fmt: skip
    raw = b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head.encode()
    raw += array.astype(dtype).tobytes()
    data = BOMB if chance.random() < 0.1 else zlib.compress(raw, 1)
    kind = chance.choice(["image", "image", "curve", "film", ""])
    both = chance.choice(connection.execute("SELECT rowid, kind FROM exhibit").fetchall())
    connection.execute(
        "UPDATE exhibit SET data = ?, kind = ? WHERE rowid = ?",
        (data, chance.choice([kind, both[1]]), both[0]),
    )


def missing(connection, chance):
    """Rows that are gone, or are there for cells that are not."""
    table, name = _place(connection, chance)
    if chance.random() < 0.5:
        connection.execute(f"DELETE FROM {table} WHERE random() % 2 = 0")  # noqa: S608
    else:
        connection.execute(f"UPDATE {table} SET {name} = {name} + 1000000")  # noqa: S608


def schema(connection, chance):
    """Other tables, or more than tables."""
    table, name = _place(connection, chance)
    connection.executescript(chance.choice(SCHEMAS).format(table=table, column=name))


def flipped(connection, chance):
    """Bits of a value, whatever it is."""
    table, name = _place(connection, chance)
    row, value = chance.choice(
        connection.execute(f"SELECT rowid, CAST({name} AS BLOB) FROM {table}").fetchall()  # noqa: S608
    )
    changed = bytearray(value)
    changed[chance.randrange(len(changed))] ^= chance.randrange(1, 256)
    connection.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (bytes(changed), row))  # noqa: S608


DAMAGES = (column, column, column, document, document, trace, exhibit, missing, schema, flipped)


def resealed(connection):
    """Keys and checksums that fit what is there, as far as there is anything to fit."""
    try:
        text = dict(connection.execute("SELECT id, value FROM text"))
        cells = connection.execute(
            "SELECT id, problem, solver, seed, settings FROM cell"
        ).fetchall()
    except (sqlite3.Error, UnicodeError):
        return
    for number, problem, solver, seed, settings in cells:
        try:
            identity = Identity(text[problem], text[solver], seed, text[settings])
            key = bytes.fromhex(identity.key)
            connection.execute("UPDATE cell SET key = ? WHERE id = ?", (key, number))
            row = connection.cursor()
            row.row_factory = sqlite3.Row
            row = row.execute("SELECT * FROM run WHERE cell = ?", (number,)).fetchone()
            check = rows.checksum(key, row, text[row["reason"]], text[row["names"]])
            connection.execute("UPDATE run SET checksum = ? WHERE cell = ?", (check, number))
        except Exception:  # noqa: S112 - what has no digest keeps the one that it had
            continue
