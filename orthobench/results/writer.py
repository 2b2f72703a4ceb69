"""Runs, plans and sessions as rows of a store."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from orthobench.contract.exhibits import Exhibit, packed
from orthobench.harness.identity import canonical
from orthobench.results import checks, traces
from orthobench.results.reader import COSTS, RANKING, SESSION, Session, checksum, ended
from orthobench.results.runs import Run


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
        ranking = {name: getattr(run.problem, name) for name in RANKING}
        return self._insert("cell", {
            "key": key, "problem": self.text(identity.problem),
            "solver": self.text(identity.solver), "seed": identity.seed,
            "settings": self.text(identity.settings), "ranking": self.text(canonical(ranking)),
        })  # fmt: skip

    def plan(self, suite: str, run: Run, position: int) -> None:
        """Add a run to a plan, in place of any other at its position."""
        problem, solver = run.problem, run.solver
        levels = json.dumps([[level.metric, level.value] for level in problem.levels])
        texts = (suite, problem.label, solver.label, canonical(solver.tuned), levels)
        names = ("suite", "problem", "solver", "tuned", "levels")
        numbers = dict(zip(names, map(self.text, texts), strict=True))
        row = {**numbers, "position": position, "cell": self.cell(run)}
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
        numbers = {name: self.text(text) for name, text in texts.items()}
        self._insert("run", {"cell": cell, "session": session, **row, **numbers})
        for name, exhibit in exhibits.items():
            kind, meta, data = packed(exhibit)
            shown = {"cell": cell, "name": name, "kind": kind, "meta": meta, "data": data}
            self._insert("exhibit", shown)
        return True

    def _insert(self, table: str, row: Mapping[str, Any], instead: bool = False) -> int:
        places, how = ", ".join("?" * len(row)), "REPLACE" if instead else "IGNORE"
        query = f"INSERT OR {how} INTO {table} ({', '.join(row)}) VALUES ({places})"  # noqa: S608
        return self._connection.execute(query, tuple(row.values())).lastrowid or 0
