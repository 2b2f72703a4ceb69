"""Commands of git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from orthobench.errors import OrthobenchError

OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Variables of git's hooks that redirect a command to another repository or index."""

ENVIRONMENT = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
"""No translations, no needless locks, no prompts."""

OFF = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
"""No hooks and no file monitor of a repository."""


class GitError(OrthobenchError):
    """A git command that failed; the message ends with git's own."""


def git(folder: Path, *words: str, timeout: float | None = None) -> str:
    """Run a git command in a folder and return its output; the timeout is in seconds.

    Raises
    ------
    GitError
        If it fails or takes too long.
    FileNotFoundError
        If git is not installed.
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
