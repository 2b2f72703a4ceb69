"""Finished cells as a store reports them, whatever suite planned them, to be computed again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from orthobench.harness.stopping import Termination
from orthobench.harness.trace import Checkpoint
from orthobench.results import checks, merging
from orthobench.results.rows import Reader, Stored, joined, key_of
from orthobench.results.runs import run_label


@dataclass(frozen=True)
class Reported:
    """A finished cell.

    Attributes
    ----------
    key, checksum : str
        What identifies the cell, and what changes with its result; in hexadecimal.
    content : mapping
        All that the result depends on, as `Cell.content`.
    metrics : mapping
        ``family``, ``primary`` and ``tuned_by`` of its problem.
    environment : mapping
        What the session that ran it ran on.
    stop : Termination
    trace : sequence of Checkpoint
    """

    key: str
    checksum: str
    content: Mapping[str, Any]
    metrics: Mapping[str, str]
    environment: Mapping[str, Any]
    stop: Termination
    trace: Sequence[Checkpoint]

    @property
    def label(self) -> str:
        """Its solver, problem and seed, for people."""
        solver, problem = (self.content[part]["name"] for part in ("solver", "problem"))
        called = run_label(solver, problem, self.content["seed"])
        return f"{called} (cell {self.key[:12]})"


def reported(connection: sqlite3.Connection, where: str) -> Iterator[Reported]:
    """Yield the finished cells of a store.

    Parameters
    ----------
    connection : sqlite3.Connection
    where : str
        The store, for errors.

    Raises
    ------
    ValueError
        On a cell whose key is not the digest of its content, or that is not what was written.
    """
    read = Stored.read(connection)
    reader, content = Reader(read, where), cache(joined)
    sessions = {number: checks.session(*rest[1:]) for number, *rest in merging.sessions(connection)}
    for row in connection.execute(merging.FINISHED):
        key, problem, solver, seed, settings, metrics, cell, session, *result, _ = row
        if key is None:
            raise ValueError(f"the cell {cell} is missing")
        with checks.named(key.hex()):
            known = content(read[problem], read[solver], seed, read[settings])
            if key_of(known) != key.hex():
                raise ValueError("its key is not the digest of its content")
            if session not in sessions:
                raise ValueError(f"its session {session} is missing")
            about, what = reader.metrics(metrics), f"the cell {key.hex()[:12]!r}"
            stop, trace, _ = reader.outcome(key, row[6:], what, about["primary"])
        check = result[-2].hex()
        yield Reported(key.hex(), check, known, about, sessions[session], stop, trace)
