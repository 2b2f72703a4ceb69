"""The commits of a range of a repository, oldest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orthobench.errors import UsageError
from orthobench.tools.formatting import clean
from orthobench.tools.git import GitError, git

LIMIT = 100
"""The maximum number of commits of a history."""

PATCH = 20_000
"""The maximum number of characters of a commit that a page shows."""

_FORMAT = "--format=%H%x00%cs%x00%s"


@dataclass(frozen=True)
class Commit:
    """A commit: its full hash, its date and its subject."""

    hash: str
    date: str
    subject: str

    @property
    def short(self) -> str:
        """The first characters of the hash."""
        return self.hash[:10]


def commits_of(folder: Path, revisions: Sequence[str], every: int = 1) -> list[Commit]:
    """Return the commits of ranges, or single ones, oldest first.

    Parameters
    ----------
    folder : Path
        A folder of the repository.
    revisions : sequence of str
        Ranges ``A..B``, which include A and follow the first parents of merges; or revisions.
    every : int
        Take each n-th commit, counted from the newest, and the oldest one.

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
            found = list(dict.fromkeys([*found, *_log(folder, "--no-walk", *bases)]))
    except (GitError, FileNotFoundError) as error:
        raise UsageError(f"no commits {text!r} here: {clean(str(error))}") from None
    taken = list(dict.fromkeys([*found[::every], found[-1]]))
    if len(taken) > LIMIT:
        raise UsageError(
            f"{text} has {len(found):,} commits, and a history at most {LIMIT}: take a shorter "
            f"range, or --every {math.ceil(len(found) / (LIMIT - 1))}"
        )
    return taken[::-1]


def shown(folder: Path, commit: str) -> str:
    """Return the output of ``git show`` about a commit, cut if it is long."""
    text = git(folder, "show", "--stat", "--patch", "--no-color", "--no-ext-diff", commit)
    return text if len(text) <= PATCH else f"{text[:PATCH]}\n... git show {commit} has the rest"


def _log(folder: Path, *words: str) -> list[Commit]:
    lines = git(folder, "log", _FORMAT, *words, "--").splitlines()
    return [Commit(*line.split("\0")) for line in lines]
