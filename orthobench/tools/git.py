"""Git, asked for what comparisons, sessions and new plugins have to know of a repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from orthobench.errors import OrthobenchError

OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Variables that git sets for its hooks, and that send a command to another repository or index."""

ENVIRONMENT = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
"""What git may not do: translate, write without need, or ask."""

OFF = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
"""Nor call the hooks and the monitor of a repository."""


class GitError(OrthobenchError):
    """A git command that failed; the message ends with git's own."""


def git(folder: Path, *words: str, timeout: float | None = None) -> str:
    """Run a git command in a folder and return what it prints.

    Parameters
    ----------
    folder : Path
    *words : str
        The command with its options.
    timeout : float, optional
        The seconds that it may take.

    Raises
    ------
    GitError
        Where it fails or takes too long; with git's message.
    FileNotFoundError
        Where there is no git.
    """
    others = {name: value for name, value in os.environ.items() if name not in OTHERS}
    try:
        done = subprocess.run(
            ["git", "--no-pager", *OFF, "-C", str(folder), *words],  # noqa: S607 - git from the path
            capture_output=True, text=True, encoding="utf-8", errors="replace",
            stdin=subprocess.DEVNULL, env=others | ENVIRONMENT, timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GitError(f"git {words[0]}: no answer within {timeout:g} s") from None
    if done.returncode:
        message = done.stderr.strip() or f"exit code {done.returncode}"
        raise GitError(f"git {words[0]}: {message}")
    return done.stdout.removesuffix("\n")
