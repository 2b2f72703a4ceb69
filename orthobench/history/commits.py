"""The commits of a range of a repository, oldest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orthobench.errors import UsageError
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key
from orthobench.tools.formatting import clean
from orthobench.tools.git import GitError, git

LIMIT = 100
"""The maximum number of commits of a history."""

_FORMAT = "--format=%H%x00%cs%x00%s"


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
    """Return the commits of ranges, or single ones, oldest first, without cells.

    Parameters
    ----------
    folder : Path
        A folder of the repository.
    revisions : sequence of str
        Ranges ``A..B``, with A, along first parents; or revisions.
    every : int
        Take each n-th commit from the newest on, and the oldest one.

    Raises
    ------
    UsageError
        If a revision is unknown, or there are too many commits.
    """
    text = " ".join(revisions)
    if bad := [one for one in revisions if one.startswith("-")]:
        raise UsageError(f"{bad[0]!r} is no revision; write a range such as v1.0..HEAD")
    bases = [one.partition("..")[0] or "HEAD" for one in revisions if ".." in one]
    try:
        found = _log(folder, "--first-parent" if bases else "--no-walk", *revisions)
        if bases:
            found |= _log(folder, "--no-walk", *bases)
    except (GitError, FileNotFoundError) as error:
        raise UsageError(f"no commits {text!r} here: {clean(str(error))}") from None
    hashes = [*found]
    taken = dict.fromkeys([*hashes[::every], hashes[-1]])
    if len(taken) > LIMIT:
        raise UsageError(
            f"{text} has {len(found):,} commits, and a history at most {LIMIT}: take a shorter "
            f"range, or --every {math.ceil(len(found) / (LIMIT - 1))}"
        )
    return [found[one] for one in reversed(taken)]


def _log(folder: Path, *words: str) -> dict[str, Commit]:
    """Return the commits of ``git log`` by their hashes, newest first."""
    lines = git(folder, "log", _FORMAT, *words, "--").splitlines()
    facts = (line.split("\0") for line in lines)
    return {full: Commit(full, date, subject) for full, date, subject in facts}
