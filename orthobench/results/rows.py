"""Rows of a store and what they stand for: cells, outcomes and plans to rows, and back."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract.solver import Work
from orthobench.harness.cell import Cell
from orthobench.harness.identity import canonical, digest
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.results import checks
from orthobench.results.runs import ProblemInfo, Run, SolverInfo, run_label
from orthobench.results.traces import ABSENT, Trace, packed
from orthobench.tools.machine import Load

Row: TypeAlias = tuple[Any, ...]
Loads: TypeAlias = tuple[Load, Load] | None

LOAD = struct.Struct("<5H")
"""Processors, then load averages before and after in hundredths, then MHz before and after."""

NOT_SAID = 2**16 - 1
"""Stands for what the machine did not say; larger values are stored as one less than it."""

PLANNED = """
    SELECT cell.key, plan.problem, plan.solver, plan.tuned, plan.levels, cell.problem, cell.solver,
        cell.seed, cell.settings, cell.metrics, result.*, trace.block
    FROM plan LEFT JOIN cell ON cell.id = plan.cell
        LEFT JOIN result ON result.cell = cell.id LEFT JOIN trace ON trace.cell = cell.id
"""
"""Planned cells, with their results where there are any."""


FINGERPRINT = """
    SELECT cell.key, problem.value, solver.value, tuned.value, levels.value, result.checksum
    FROM plan JOIN cell ON cell.id = plan.cell LEFT JOIN result ON result.cell = cell.id
        JOIN text AS problem ON problem.id = plan.problem
        JOIN text AS solver ON solver.id = plan.solver
        JOIN text AS tuned ON tuned.id = plan.tuned
        JOIN text AS levels ON levels.id = plan.levels
    WHERE plan.suite = (SELECT id FROM text WHERE value = ?) ORDER BY plan.position
"""
"""What identifies the plan of a suite and its results."""


def planned(labels: int) -> str:
    """Return the query for the planned cells of a suite, of a problem in it, or also of a solver.

    Parameters
    ----------
    labels : int
        How many of the labels of suite, problem and solver are given as values.
    """
    columns = ("plan.suite", "plan.problem", "plan.solver")[:labels]
    given = " AND ".join(f"{name} = (SELECT id FROM text WHERE value = ?)" for name in columns)  # noqa: S608
    return f"{PLANNED} WHERE {given} ORDER BY plan.position"


class Texts:
    """The texts that the rows of a store share, each by its number.

    Parameters
    ----------
    connection : sqlite3.Connection
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, int] = {}

    def number(self, value: str) -> int:
        """Return the number of a text, and add it where it is new; within a transaction."""
        if not isinstance(value, str):
            raise checks.MisfitError(f"{value!r:.60} is not a text")
        if value not in self._numbers:
            self._connection.execute("INSERT OR IGNORE INTO text (value) VALUES (?)", (value,))
            query = "SELECT id FROM text WHERE value = ?"
            (self._numbers[value],) = self._connection.execute(query, (value,)).fetchone()
        return self._numbers[value]

    def forget(self) -> None:
        """Forget the numbers: a transaction that was rolled back took its texts with it."""
        self._numbers.clear()


class Stored(dict[int, str]):
    """The texts of a store by number, to read its rows."""

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> Stored:
        """Read all of them."""
        return cls(connection.execute("SELECT id, value FROM text"))

    def __missing__(self, number: int) -> str:
        raise ValueError(f"the text {number} is missing")


def split(content: Mapping[str, Any]) -> tuple[str, str, int, str]:
    """Return the parts of a cell's content that have columns: problem, solver, seed, settings."""
    settings = {k: v for k, v in content.items() if k not in ("problem", "solver", "seed")}
    return (
        canonical(content["problem"]), canonical(content["solver"]), content["seed"],
        canonical(settings),
    )  # fmt: skip


def joined(problem: str, solver: str, seed: int, settings: str) -> dict[str, Any]:
    """Return the content that `split` took apart.

    Raises
    ------
    ValueError
        Where it is not the content of a cell.
    """
    parts = {
        "problem": checks.catalogued(checks.document(problem), "problem"),
        "solver": checks.catalogued(checks.document(solver), "solver"),
        "seed": seed,
    }
    return {**checks.settings(checks.document(settings)), **parts}


def key_of(content: Mapping[str, Any]) -> str:
    """Return the key of a cell's content."""
    return digest(canonical(content))


def metrics_of(cell: Cell) -> str:
    """Return what comparisons need to know of a cell's problem, as JSON."""
    problem = cell.problem
    return canonical(
        {"family": problem.family, "primary": problem.primary, "tuned_by": problem.tuned_by}
    )


def plan_row(texts: Texts, suite: str, number: int, cell: Cell) -> Row:
    """Return the row of the table ``plan``; `number` is that of the cell."""
    levels = json.dumps([[level.metric, level.most] for level in cell.levels])
    labels = (suite, cell.problem_label, cell.solver_label)
    tuned = canonical(cell.tuned)
    return (
        *map(texts.number, labels), cell.position, number, *map(texts.number, (tuned, levels)),
    )  # fmt: skip


def result_row(
    texts: Texts, key: bytes, outcome: Outcome, primary: str, finished: int
) -> tuple[Row, bytes]:
    """Return the row of the table ``result`` but for cell and session, and the trace's block.

    `primary` is the metric whose value at the first checkpoint is kept beside the final ones.
    """
    stop, trace, load = outcome.stop, outcome.trace, pack_load(outcome.load)
    names, block = packed(trace)
    costs: Row = (None,) * 6
    finals = b""
    if trace:
        last, start = trace[-1], trace[0].metrics.get(primary, math.nan)
        costs = (
            last.work.steps, last.work.samples, last.work.flops, last.seconds, last.readout_seconds,
            None if math.isnan(start) else start,
        )  # fmt: skip
        finals = np.array(
            [last.metrics.get(name, ABSENT[0]) for name in names], dtype="<f8"
        ).tobytes()
    named, ending = json.dumps(names), (stop.status.value, stop.reason)
    check = checksum(key, *ending, (len(trace), *costs), named, finals, block, load)
    row = (
        stop.status.value, texts.number(stop.reason), texts.number(stop.traceback), finished,
        len(trace), *costs, texts.number(named), finals, check, load,
    )  # fmt: skip
    return row, block


def checksum(
    key: bytes, status: str, reason: str, costs: Row, names: str, finals: bytes, block: bytes,
    load: bytes | None,
) -> bytes:  # fmt: skip
    """Return a digest of what a cell gave, so that a store can tell when its numbers change."""
    points, *numbers, start = costs
    found = hashlib.sha256("\0".join((status, reason, names)).encode() + key)
    if points:
        value = math.nan if start is None else start
        found.update(struct.pack("<qqqqddd", points, *numbers, value))
    found.update(finals + block + (load or b""))
    return found.digest()[:16]


class Reader:
    """Rows of `PLANNED` to records, which share what they have in common.

    Parameters
    ----------
    texts : Stored
    where : str
        The store, for errors of traces, which are unpacked later.
    """

    def __init__(self, texts: Stored, where: str) -> None:
        self._texts, self._where = texts, where
        self.problem, self.solver = cache(self._problem_facts), cache(self._solver_facts)
        self.metrics, self._names = cache(self._problem_metrics), cache(self._metric_names)
        self._settings = cache(self._cell_settings)

    def records(self, rows: Iterable[Row]) -> Iterator[Run]:
        """Yield the record of each row.

        Raises
        ------
        ValueError
            On a row that is not what was written; names the run.
        """
        for row in rows:
            key, label, name, tuned, levels, problem, solver, seed, settings, metrics = row[:10]
            if key is None:
                who = f"{self._texts[name]} on {self._texts[label]}"
                raise ValueError(f"{who} is planned, and has no cell")
            what = run_label(self._texts[name], self._texts[label], seed)
            try:
                facts = self.problem(label, problem, metrics, levels)
                method = self.solver(name, solver, tuned, settings)
                rest = self._settings(settings)
                stop, trace, load = self.outcome(key, row[10:], what, facts.primary)
            except ValueError as error:
                raise ValueError(f"{what}: {error}") from error
            yield Run(
                key.hex(), facts, method, seed, stop, trace, rest["budget"],
                (rest.get("until") or {}).get("metric", ""), rest["versions"], load,
                rest.get("measure", ""),
            )  # fmt: skip

    def outcome(
        self, key: bytes, row: Row, what: str, primary: str
    ) -> tuple[Termination, Sequence[Checkpoint], Loads]:
        """Return ending, trace and loads of a cell, from its row of ``result`` and its block."""
        number, _, status, reason, traceback, _, points, *costs, names, finals, check = row[:-2]
        load, block = row[-2:]
        if number is None:
            return Termination(RunStatus.MISSING, "not run yet"), (), None
        if block is None:
            raise ValueError("its trace is missing")
        told = (status, self._texts[reason], (points, *costs), self._texts[names], finals, block)
        if checksum(key, *told, load) != check:
            raise ValueError("it is not what was written")
        busy = unpack_load(load)
        stop = Termination(RunStatus(status), self._texts[reason], self._texts[traceback])
        *numbers, start = costs
        final = self._final(points, numbers, self._names(names), finals)
        if final is None:
            return stop, (), busy
        begin = primary, math.nan if start is None else start
        where = f"{self._where}: {what}"
        return stop, Trace(points, self._names(names), final, block, begin, where), busy

    def _final(
        self, points: int, costs: Sequence[Any], names: tuple[str, ...], finals: bytes
    ) -> Checkpoint | None:
        """Return the last checkpoint; None where there is none."""
        *work, seconds, reading = costs
        checks.costs(points, tuple(work), (seconds, reading))
        if not points:
            return None
        if len(finals) != 8 * len(names):
            raise ValueError(f"its {len(names)} metrics have {len(finals)} bytes")
        values = np.frombuffer(finals, "<f8")
        reported = (np.frombuffer(finals, "<u8") != ABSENT.view("<u8")).tolist()
        last = {
            name: value
            for name, value, there in zip(names, values.tolist(), reported, strict=True)
            if there
        }
        return Checkpoint(seconds, reading, Work(*work), last)

    def _problem_facts(self, label: int, problem: int, metrics: int, levels: int) -> ProblemInfo:
        named = checks.catalogued(self._parsed(problem), "problem")
        about = self.metrics(metrics)
        return ProblemInfo(
            self._texts[label], named["name"], named["parameters"],
            about["family"], about["primary"], about["tuned_by"],
            checks.levels(self._parsed(levels)),
        )  # fmt: skip

    def _solver_facts(self, label: int, solver: int, tuned: int, settings: int) -> SolverInfo:
        named = checks.catalogued(self._parsed(solver), "solver")
        return SolverInfo(
            self._texts[label],
            named["parameters"],
            checks.scalars(self._parsed(tuned), "the tuned parameters"),
            bool(self._settings(settings).get("reruns", False)),
            named["name"],
        )

    def _problem_metrics(self, number: int) -> Mapping[str, str]:
        needed = ("family", "primary", "tuned_by")
        return checks.texts(self._parsed(number), "the metrics of the problem", *needed)

    def _cell_settings(self, number: int) -> Mapping[str, Any]:
        return checks.settings(self._parsed(number))

    def _metric_names(self, number: int) -> tuple[str, ...]:
        return checks.names(self._parsed(number))

    def _parsed(self, number: int) -> Any:
        return checks.document(self._texts[number])


def pack_load(load: Loads) -> bytes | None:
    """Return the loads before and after a run as bytes; None where they were not measured."""
    if load is None:
        return None
    averages = (None if one.average is None else 100 * one.average for one in load)
    numbers = (load[0].processors, *averages, *(one.mhz for one in load))
    return LOAD.pack(*(NOT_SAID if x is None else min(round(x), NOT_SAID - 1) for x in numbers))


def unpack_load(data: bytes | None) -> Loads:
    """Return what `pack_load` took, or raise MisfitError."""
    if data is None:
        return None
    if len(data) != LOAD.size:
        raise checks.MisfitError(f"its load has {len(data)} bytes")
    numbers = [None if x == NOT_SAID else x for x in LOAD.unpack(data)]
    processors, *averages, mhz, mhz_after = numbers
    before, after = (None if x is None else x / 100 for x in averages)
    count = processors or 1
    return Load(count, before, mhz), Load(count, after, mhz_after)
