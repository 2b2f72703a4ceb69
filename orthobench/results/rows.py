"""Rows of a store as checked runs, plans and sessions, and these as rows."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias

from orthobench.contract.exhibits import MOST, Exhibit, check_all, packed, unpacked
from orthobench.contract.solver import Work
from orthobench.errors import StoreError
from orthobench.harness.identity import Identity, canonical
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, checked
from orthobench.results import checks, traces
from orthobench.results.runs import NOT_RUN, Imported, ProblemInfo, Run, SolverInfo, run_label

Session: TypeAlias = Mapping[str, Any]
"""The columns of a session, its environment as plain values."""

Row: TypeAlias = Mapping[str, Any] | sqlite3.Row

Kept: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""``kept(label)`` is the context in which a row is read; it may suppress an error."""

PLANNED = """
    SELECT plan.problem AS problem_label, plan.solver AS solver_label, tuned, levels,
        cell.*, run.* FROM plan LEFT JOIN cell ON cell.id = plan.cell
        LEFT JOIN run ON run.cell = plan.cell
    WHERE {} ORDER BY plan.position
"""

FINISHED = """
    SELECT NULL AS problem_label, NULL AS solver_label, NULL AS tuned, NULL AS levels,
        cell.*, run.* FROM run LEFT JOIN cell ON cell.id = run.cell ORDER BY run.cell
"""

SESSION = ("suite", "text", "command", "environment", "started", "ended")

RANKING = ("family", "primary", "tuned_by")
"""The facts about a problem in comparisons."""

COSTS = ("steps", "samples", "flops", "seconds", "reading", "start", "metrics")
"""The columns of a run about its last checkpoint; NULL without one."""

SEALED = itemgetter("status", "points", "load", *COSTS)
"""The columns in a checksum, beside reason, metrics and trace."""

TOGETHER = 2**27
"""Maximum entries of exhibits that are read at once: half a gigabyte."""


def checksum(key: bytes, row: Row, reason: str, names: str) -> bytes:
    """Return a digest of a run, which shows changed numbers."""
    sealed = repr((reason, names, *SEALED(row)))
    return hashlib.sha256(key + sealed.encode() + row["trace"]).digest()[:16]


class Reader:
    """Reads a store; methods raise `checks.ERRORS` on rows that no `Writer` wrote.

    Parameters
    ----------
    connection : sqlite3.Connection
    where : str
        The store, for errors of traces.
    kept : Kept
    """

    def __init__(self, connection: sqlite3.Connection, where: str, kept: Kept) -> None:
        self._connection, self._where, self._kept = connection, where, kept
        self._sessions = {n for (n,) in connection.execute("SELECT id FROM session")}
        self._text = cache(self._read_text)
        self._document = cache(lambda number: checks.document(self._text(number)))
        self._settings = cache(lambda number: checks.settings(self._document(number)))
        self._names = cache(lambda number: checks.names(self._document(number)))
        self._problem, self._solver = cache(self._problem_info), cache(self._solver_info)

    def sessions(self) -> dict[int, Session]:
        """Return the sessions by number."""
        rows = self._connection.execute(f"SELECT id, {', '.join(SESSION)} FROM session ORDER BY id")  # noqa: S608
        found: dict[int, Session] = {}
        for number, *row in rows:
            with self._kept(f"session {number}"):
                found[number] = checks.session(dict(zip(SESSION, row, strict=True)))
        return found

    def planned(self, suite: str, *labels: str) -> Iterator[Run]:
        """Yield the runs that a suite plans, of a problem and a solver if labels are given.

        Those that are still to come are `NOT_RUN`.
        """
        columns = ("suite", "problem", "solver")[: 1 + len(labels)]
        where = (f"plan.{name} = (SELECT id FROM text WHERE value = ?)" for name in columns)  # noqa: S608
        return self._runs(PLANNED.format(" AND ".join(where)), (suite, *labels))

    def finished(self) -> Iterator[Run]:
        """Yield the finished runs of all suites."""
        return self._runs(FINISHED, ())

    def exhibits(self, keys: Iterable[str]) -> Iterator[tuple[str, dict[str, Exhibit]]]:
        """Yield each key with the exhibits of its cell."""
        query = (
            "SELECT name, kind, meta, data FROM exhibit"
            " WHERE cell = (SELECT id FROM cell WHERE key = ?) ORDER BY rowid LIMIT ?"
        )
        left = TOGETHER
        for key in keys:
            exhibits: dict[str, Exhibit] = {}
            for name, *parts in self._connection.execute(query, (bytes.fromhex(key), MOST + 1)):
                try:
                    exhibits[name] = unpacked(*parts)
                    check_all(exhibits.values())
                except StoreError as error:
                    where = f"exhibit {name!r} of the cell {key[:12]}"
                    raise checks.MisfitError(f"{where} {error}") from error
            left -= sum(exhibit.size for exhibit in exhibits.values())
            if left < 0:
                raise checks.MisfitError(f"exhibits have more than {TOGETHER} entries together")
            yield key, exhibits

    def _runs(self, query: str, values: Sequence[str]) -> Iterator[Run]:
        cursor = self._connection.cursor()
        cursor.row_factory = sqlite3.Row
        for row in cursor.execute(query, values):
            run = None
            with self._kept(self._label(row)):
                run = self._run(row)
            if run is not None:
                yield run

    def _label(self, row: sqlite3.Row) -> str:
        with suppress(*checks.ERRORS):
            solver, problem = self._text(row["solver_label"]), self._text(row["problem_label"])
            return run_label(solver, problem, row["seed"])
        return f"the cell {row['key'].hex()[:12] if type(row['key']) is bytes else row['cell']}"

    def _run(self, row: sqlite3.Row) -> Run:
        if row["key"] is None:
            raise ValueError("it has no cell")
        key, seed, number = row["key"], row["seed"], row["settings"]
        problem = self._problem(row["problem_label"], row["problem"], row["ranking"], row["levels"])
        solver = self._solver(row["solver_label"], row["solver"], row["tuned"], number)
        settings = self._settings(number)
        identity = Identity(
            self._text(row["problem"]), self._text(row["solver"]), seed, self._text(number)
        )
        if identity.key != key.hex():
            raise ValueError("its key is not the digest of its content")
        outcome: dict[str, Any] = {"stop": NOT_RUN}
        if row["status"] is not None:
            if row["session"] not in self._sessions:
                raise ValueError(f"its session {row['session']} is missing")
            texts = {name: self._text(row[name]) for name in ("reason", "traceback", "names")}
            where = f"{self._where}: {self._label(row)}"
            names = self._names(row["names"])
            outcome = ended(key, row, texts, names, problem.primary, where)
            outcome |= {"session": row["session"], "checksum": row["checksum"].hex()}
        return Run(
            identity.key, problem, solver, seed, budget=settings["budget"],
            target=(settings["until"] or {}).get("metric", ""), versions=settings["versions"],
            imported=Imported(**settings.get("imported") or {}),
            measure=settings.get("measure", ""), identity=identity, **outcome,
        )  # fmt: skip

    def _problem_info(
        self, label: int | None, problem: int, ranking: int, levels: int | None
    ) -> ProblemInfo:
        named = checks.catalogued(self._document(problem), "problem")
        facts = checks.texts(self._document(ranking), "the metrics of the problem")
        name, metrics = named["name"], {name: facts[name] for name in RANKING}
        shown = name if label is None else self._text(label)
        own = () if levels is None else checks.levels(self._document(levels))
        return ProblemInfo(shown, name, named["parameters"], levels=own, **metrics)

    def _solver_info(
        self, label: int | None, solver: int, tuned: int | None, settings: int
    ) -> SolverInfo:
        named = checks.catalogued(self._document(solver), "solver")
        return SolverInfo(
            named["name"] if label is None else self._text(label), named["parameters"],
            {} if tuned is None else checks.scalars(self._document(tuned), "the tuned parameters"),
            bool(self._settings(settings).get("reruns", False)), named["name"],
        )  # fmt: skip

    def _read_text(self, number: int) -> str:
        query = "SELECT value FROM text WHERE id = ?"
        for (text,) in self._connection.execute(query, (number,)):
            return str(text)
        raise ValueError(f"the text {number} is missing")


def ended(
    key: bytes, row: Row, texts: Mapping[str, str], names: tuple[str, ...], primary: str,
    where: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return status, trace and load of a row that is read or written, checked."""
    if checksum(key, row, texts["reason"], texts["names"]) != row["checksum"]:
        raise ValueError("it is not what was written")
    stop = Termination(RunStatus(row["status"]), texts["reason"], texts["traceback"])
    trace = _trace(row, names, primary, where)
    return {"stop": stop, "load": checks.load(row["load"]), "trace": trace}


def _trace(row: Row, names: tuple[str, ...], primary: str, where: str) -> Sequence[Checkpoint]:
    points, start = row["points"], row["start"]
    costs = [row[name] for name in COSTS[:5]]
    if not points and all(cost is None for cost in costs):
        return ()
    if points < 1:
        raise checks.MisfitError(f"it has {points} checkpoints")
    metrics = traces.metrics_of(row["metrics"], names)
    final = checked(Checkpoint(costs[3], costs[4], Work(*costs[:3]), metrics))
    start = math.nan if start is None else start
    return traces.Trace(points, names, final, row["trace"], primary, start, where)


class Writer:
    """Writes into a store, within a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._texts: dict[str, int] = {}

    def forget(self) -> None:
        """Forget the numbers of texts after a rollback."""
        self._texts.clear()

    def text(self, value: str) -> int:
        """Return the number of a text, added if it is new."""
        if value not in self._texts:
            self._connection.execute("INSERT OR IGNORE INTO text (value) VALUES (?)", (value,))
            query = "SELECT id FROM text WHERE value = ?"
            (self._texts[value],) = self._connection.execute(query, (value,)).fetchone()
        return self._texts[value]

    def session(self, session: Session) -> int:
        """Return the number of a session, added if it is new."""
        same = ("suite", "text", "command", "started")
        query = f"SELECT min(id) FROM session WHERE {' AND '.join(f'{n} = ?' for n in same)}"  # noqa: S608
        number = self._connection.execute(query, [session[name] for name in same]).fetchone()[0]
        if number is None:
            row = {**session, "environment": json.dumps(session["environment"])}
            return self._insert("session", {name: row[name] for name in SESSION})
        return int(number)

    def begin(self, session: Session) -> int:
        """Return the number of a session, and delete the plan of its suite."""
        number = self.session(session)
        suite = self.text(session["suite"])
        self._connection.execute("DELETE FROM plan WHERE suite = ?", (suite,))
        return number

    def cell(self, run: Run) -> int:
        """Return the number of the cell of a run, added if it is new."""
        key, identity = bytes.fromhex(run.key), run.identity
        row = self._connection.execute("SELECT id FROM cell WHERE key = ?", (key,)).fetchone()
        if row:
            return int(row[0])
        ranking = canonical({name: getattr(run.problem, name) for name in RANKING})
        texts = self._numbers(
            problem=identity.problem, solver=identity.solver, settings=identity.settings,
            ranking=ranking,
        )  # fmt: skip
        return self._insert("cell", {"key": key, "seed": identity.seed, **texts})

    def plan(self, suite: str, run: Run, position: int) -> None:
        """Add a run to a plan, in place of any other at its position."""
        texts = self._numbers(
            suite=suite, problem=run.problem.label, solver=run.solver.label,
            tuned=canonical(run.solver.tuned),
            levels=json.dumps([[level.metric, level.value] for level in run.problem.levels]),
        )  # fmt: skip
        row = {**texts, "position": position, "cell": self.cell(run)}
        self._insert("plan", row, instead=True)

    def plan_behind(self, suite: str, runs: Iterable[Run]) -> None:
        """Add runs at the end of a plan that lacks them."""
        query = "SELECT cell, position FROM plan WHERE suite = ?"
        places = dict(self._connection.execute(query, (self.text(suite),)))
        for run in runs:
            if (cell := self.cell(run)) not in places:
                places[cell] = max(places.values(), default=-1) + 1
                self.plan(suite, run, places[cell])

    def run(self, session: int, run: Run, exhibits: Mapping[str, Exhibit]) -> bool:
        """Add a finished run unless its cell has one; return whether it was added.

        Raises
        ------
        checks.ERRORS
            If it could not be read again; nothing of it is written then.
        """
        cell, key = self.cell(run), bytes.fromhex(run.key)
        if self._connection.execute("SELECT 1 FROM run WHERE cell = ?", (cell,)).fetchone():
            return False
        names, block = traces.packed(run.trace)
        row: dict[str, Any] = {
            **dict.fromkeys(COSTS), "status": run.stop.status.value, "points": len(run.trace),
            "load": run.load and json.dumps(run.load), "trace": block,
        }  # fmt: skip
        if run.trace:
            last, start = run.trace[-1], run.start
            row |= {
                "steps": last.work.steps, "samples": last.work.samples, "flops": last.work.flops,
                "seconds": last.seconds, "reading": last.readout_seconds,
                "start": None if math.isnan(start) else start,
                "metrics": traces.numbers_of(last.metrics, names).tobytes(),
            }  # fmt: skip
        metric_names = json.dumps(names)
        row["checksum"] = checksum(key, row, run.stop.reason, metric_names)
        texts = {"reason": run.stop.reason, "traceback": run.stop.traceback, "names": metric_names}
        # what could not be read is not written
        if ended(key, row, texts, checks.names([*names]), run.problem.primary)["trace"]:
            traces.unpacked(block, len(run.trace) - 1, len(names), run.trace[-1])
        self._insert("run", {"cell": cell, "session": session, **row, **self._numbers(**texts)})
        for name, exhibit in exhibits.items():
            kind, meta, data = packed(exhibit)
            shown = {"cell": cell, "name": name, "kind": kind, "meta": meta, "data": data}
            self._insert("exhibit", shown)
        return True

    def _numbers(self, **texts: str) -> dict[str, int]:
        """Return the numbers of texts, by column."""
        return {column: self.text(text) for column, text in texts.items()}

    def _insert(self, table: str, row: Mapping[str, Any], instead: bool = False) -> int:
        places, how = ", ".join("?" * len(row)), "REPLACE" if instead else "IGNORE"
        query = f"INSERT OR {how} INTO {table} ({', '.join(row)}) VALUES ({places})"  # noqa: S608
        return self._connection.execute(query, tuple(row.values())).lastrowid or 0
