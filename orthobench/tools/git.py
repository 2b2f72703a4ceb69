"""Git, run so that nothing which a repository's own configuration names as a command is executed.

A repository that came from a stranger has its configuration with it: monitors, hooks, filters and
the like, which git would run while it only reads. The user's own configuration stays in force.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from orthobench.errors import OrthobenchError

OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Variables that git sets for its hooks, and that send a command to another repository or index."""

ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",  # of a partial clone, objects that are missing stay missing
    "GIT_NO_LAZY_FETCH": "1",
}
"""What git may not do: write without need, ask, or fetch."""

OFF = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "diff.external=",
    "submodule.recurse=false",
)
"""Settings in place of a repository's own."""

OPTIONS = {
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"),
    "status": ("--ignore-submodules=dirty",),
}
"""Options of commands that run others; for changes inside a submodule, git runs a git in there."""


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
    settings = [*OFF, *_drivers_off(folder, timeout)]
    command, *rest = words
    off = [word for setting in settings for word in ("-c", setting)]
    done = _run(folder, [*off, command, *OPTIONS.get(command, ()), *rest], timeout)
    if done.returncode:
        message = done.stderr.strip() or f"exit code {done.returncode}"
        raise GitError(f"git {command}: {message}")
    return done.stdout.removesuffix("\n")


def _drivers_off(folder: Path, timeout: float | None) -> Iterator[str]:
    """Yield the settings against filters and hooks, which a repository calls as it likes."""
    words = ["config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^(filter|hook)\."]
    listed = _run(folder, words, timeout).stdout.split("\0")
    for scope, key in zip(listed[::2], listed[1::2], strict=False):
        if scope not in ("system", "global"):
            section, _, driver = key.rpartition(".")[0].partition(".")
            yield from _driver_off(section, driver)


def _driver_off(section: str, driver: str) -> Iterator[str]:
    if "=" in driver or "\n" in driver:
        raise GitError(f"git: the {section} {driver!r} cannot be turned off; remove it")
    if section == "hook":
        yield f"hook.{driver}.enabled=false"
        return
    yield from (f"filter.{driver}.{name}=" for name in ("clean", "smudge", "process"))
    yield f"filter.{driver}.required=false"


def _run(folder: Path, words: list[str], timeout: float | None) -> subprocess.CompletedProcess[str]:
    others = {name: value for name, value in os.environ.items() if name not in OTHERS}
    try:
        return subprocess.run(
            ["git", "--no-pager", "-C", str(folder), *words],  # noqa: S607 - git from the path
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            env=others | ENVIRONMENT,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"git {words[-1]}: no answer within {timeout:g} s") from None
