"""Finds the commits of a range, builds each, runs the cells that are new in it, keeps a record."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orthobench.compare.cells import Progress, SideProcess, planned, requested
from orthobench.compare.options import Options
from orthobench.compare.sides import Side, sides
from orthobench.errors import OrthobenchError, StoreError, UsageError
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key
from orthobench.tools.files import refuse_link
from orthobench.tools.formatting import clean
from orthobench.tools.git import GitError, git

_FORMAT = "--format=%H%x00%cs%x00%s"

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
class Commit:
    """A commit with its cells.

    Attributes
    ----------
    hash : str
        In full.
    date, subject : str
    failed : str
        Why it has no cells; empty if it has.
    content, absent, runs
        As in `orthobench.compare.cells.SideCells`.
    """

    hash: str
    date: str
    subject: str
    failed: str = ""
    content: dict[Key, str] = field(default_factory=dict)
    absent: Sequence[tuple[str, str, str]] = ()
    runs: dict[Key, Run] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """The first characters of the hash."""
        return self.hash[:10]

    def finished(self, key: Key) -> Run | None:
        """Return the run of a cell; None if it is missing or failed."""
        run = self.runs.get(key)
        return run if run and run.trace and not run.failed else None


def commits_of(folder: Path, revisions: Sequence[str], every: int = 1) -> list[Commit]:
    """Return the commits of a range, or single ones, oldest first, without cells.

    Parameters
    ----------
    folder : Path
        A folder of the repository.
    revisions : sequence of str
        One range ``A..B``, with A, along first parents; or revisions.
    every : int
        Take each n-th commit from the newest on, and the oldest one.

    Raises
    ------
    UsageError
        If a revision is unknown, or a range is not alone.
    """
    if bad := [one for one in revisions if one.startswith("-")]:
        raise UsageError(f"{bad[0]!r} is no revision; write a range such as v1.0..HEAD")
    if len(revisions) > 1 and any(".." in one for one in revisions):
        raise UsageError("write one range A..B, or single revisions: git joins several ranges")
    base, dots, _ = revisions[0].partition("..")
    try:
        found = _log(folder, "--first-parent" if dots else "--no-walk", *revisions)
        if dots:
            found |= _log(folder, "--no-walk", base or "HEAD")
    except (GitError, FileNotFoundError) as error:
        text = " ".join(revisions)
        raise UsageError(f"no commits {text!r} here: {clean(str(error))}") from None
    hashes = [*found]
    taken = dict.fromkeys([*hashes[::every], hashes[-1]])
    return [found[one] for one in reversed(taken)]


def _log(folder: Path, *words: str) -> dict[str, Commit]:
    """Return the commits of ``git log`` by their hashes, newest first."""
    lines = git(folder, "log", _FORMAT, *words, "--").splitlines()
    facts = (line.split("\0") for line in lines)
    return {full: Commit(full, date, subject) for full, date, subject in facts}


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
        with SideProcess(side, self.options, self.request) as worker:
            (cells,) = planned([worker], self.request)
            cells.kinds.update(worker.ask("kinds", files=sorted(cells.facts["files"])))
            shared = sorted(cells.shared_code.items())
            content = {key: _digest([own, shared]) for key, own in cells.content.items()}
            for number, (key, digest) in enumerate(content.items(), start=1):
                if not (reply := self.record.get(digest)):
                    progress(f"{one.short}: {key[1]} on {key[0]}, {number} of {len(content)} cells")
                    worker.begin_run(key)
                    reply = worker.outcome()
                    self.made += 1
                    if "trace" in reply:  # otherwise the worker died, and the next call tries again
                        self.record.put(digest, reply)
                cells.add(key, reply)
            cells.require_libraries()
        one.content, one.absent, one.runs = content, cells.absent, cells.runs


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _reason(error: Exception) -> str:
    """Return the message of an error, without the names of sides and temporary folders."""
    text = re.sub(r"HEAD '[0-9a-f]{40}'", "it", clean(str(error)))
    return re.sub(r"[^\s(]*orthobench-compare-[^\s/]*/(\S*site-packages/)?", "", text)[:REASON]
