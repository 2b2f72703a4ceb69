"""Builds the commits of a range, runs the cells that are new in each, and keeps a record."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orthobench.compare.cells import Progress, planned, requested, run_cells
from orthobench.compare.environments import sides
from orthobench.compare.options import Options
from orthobench.compare.process import SideProcess, run_of
from orthobench.compare.sides import Side
from orthobench.errors import OrthobenchError, StoreError, UsageError
from orthobench.history.commits import Commit
from orthobench.stats.run_pairs import Key
from orthobench.tools.files import refuse_link
from orthobench.tools.formatting import clean

REASON = 300
"""Maximum number of characters of the reason why a commit has no results."""


class Record:
    """Finished runs and times as JSON values, by the digests of what they depend on.

    They are in an SQLite file, each in its own transaction.

    Parameters
    ----------
    path : Path
        Created if it does not exist.

    Raises
    ------
    StoreError
        If it is another kind of file, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        refuse_link(path)
        self.path = path
        self._run("CREATE TABLE IF NOT EXISTS run (digest TEXT PRIMARY KEY, reply TEXT)")

    def get(self, digest: str) -> Any:
        """Return a run or a time, or None."""
        rows = self._run("SELECT reply FROM run WHERE digest = ?", digest)
        return json.loads(rows[0][0]) if rows else None

    def put(self, digest: str, reply: Any) -> None:
        """Keep a run or a time."""
        self._run("INSERT OR REPLACE INTO run VALUES (?, ?)", digest, json.dumps(reply))

    def _run(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as connection, connection:
                return connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot use {self.path} as the record of a history ({error}); "
                "name another folder with --out"
            ) from None


@dataclass
class History:
    """The commits of a range with their runs, oldest first.

    Attributes
    ----------
    folder : Path
        The project's.
    commits : list of Commit
    options : Options
    record : Record
        With finished runs; new ones are added at once.
    extras : sequence of Path
        Folders of more projects that are built.
    request : mapping
        Arguments of the request ``plan``.
    made : int
        New runs.
    """

    folder: Path
    commits: list[Commit]
    options: Options
    record: Record
    extras: Sequence[Path] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    made: int = 0

    def follow(self, progress: Progress) -> None:
        """Run the suite of the newest commit that builds at each, but equal cells only once.

        Raises
        ------
        UsageError
            If no commit can be run.
        """
        for number, one in enumerate(reversed(self.commits), start=1):
            progress(f"{one.short}, commit {number} of {len(self.commits)}")
            try:
                with sides(one.hash, here=self.folder, extras=self.extras) as built:
                    self.request = self.request or requested(built, self.options)
                    self._run(built[0], one, progress)
            except OrthobenchError as error:
                one.failed = _reason(error)
        if not any(one.content for one in self.commits):
            last = self.commits[-1]
            why = last.failed or "; ".join({reason for *_, reason in last.absent})
            raise UsageError(f"no commit has a cell that can be run; {last.short}: {why}")

    def _run(self, side: Side, one: Commit, progress: Progress) -> None:
        """Plan the cells of a side, and run those that are not in the record."""
        with ExitStack() as stack:
            worker = stack.enter_context(SideProcess(side, self.options, self.request))
            (cells,) = planned([side], [worker], self.request)
            cells.kinds.update(worker.ask("kinds", files=sorted(cells.facts["files"])))
            shared = sorted(cells.shared_code.items())
            content = {key: _digest([own, shared]) for key, own in cells.content.items()}
            missing = []
            for key, digest in content.items():
                if reply := self.record.get(digest):
                    cells.runs[key] = run_of(key, reply)
                    cells.imported.update(reply["loaded"])
                else:
                    missing.append(key)

            def keep(key: Key, reply: Mapping[str, Any]) -> None:
                self.made += 1
                if "trace" in reply:  # otherwise the worker died, and the next call tries again
                    self.record.put(content[key], reply)

            run_cells([cells], [worker], missing, self.options,
                      lambda text: progress(f"{one.short}: {text}"), stack, keep=keep
                      )  # fmt: skip
            cells.require_libraries()
        one.content, one.absent = content, cells.absent
        one.runs = {key: cells.runs[key] for key in content}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _reason(error: Exception) -> str:
    """Return the message of an error, without the names of sides and temporary folders."""
    text = re.sub(r"HEAD '[0-9a-f]{40}'", "it", clean(str(error)))
    return re.sub(r"[^\s(]*orthobench-compare-[^\s/]*/(\S*site-packages/)?", "", text)[:REASON]
