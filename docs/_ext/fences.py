"""The examples of a page of documentation: its fenced blocks, and what a console block expects."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
STARTED = "@@ started"  # printed before a command, since restoring a shell may print too


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Return language and text of the fenced blocks in these languages, in their order."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if language in languages]


def texts(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in one language."""
    return [text for _, text in blocks(page, language)]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the lines after it, its output.

    A command begins with ``$ ``.
    """
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Return what a command prints; its variables and folder are kept for the next command.

    Raises
    ------
    AssertionError
        Where it fails.
    """
    state = folder / ".state"
    before = f"[ ! -e {state} ] || . {state}\necho '{STARTED}'\n"
    after = f'\n{{ export -p; echo cd "$PWD"; }} > {state}\n'
    bash = shutil.which("bash") or "bash"
    done = subprocess.run(
        [bash, "-e", "-c", before + command + after],
        cwd=folder, env=dict(environment), text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}")
    return done.stdout.partition(f"{STARTED}\n")[2]


def expect(command: str, shown: str, printed: str) -> None:
    """Raise where a command did not print what a page shows.

    ``...`` stands for anything. Blanks match any number of blanks, and at the end of a line none:
    the widths of tables depend on their contents. Each piece between ``...`` is looked for after
    the first place of the one before, and never elsewhere, so the time is linear in their number.

    Raises
    ------
    AssertionError
        With what it printed, and the first piece that is not there.
    """
    end = 0
    for piece in shown.split("..."):
        # as few blanks as match: the next piece may begin with some
        spaced = re.sub(r"(\\ )+", r"\\s+?", re.escape(piece)).replace("\\\n", r" *?\n *?")
        found = re.compile(spaced).search(printed, end)
        if found is None:
            raise AssertionError(f"{command}\n{printed}\n\ndoes not show, in its place:\n{piece}")
        end = found.end()


def environment(**changes: str) -> dict[str, str]:
    """Return the variables of a reader's fresh shell, with changes."""
    kept = {n: v for n, v in os.environ.items() if n in ("HOME", "LANG") or n.startswith("PIP_")}
    return {**kept, "PATH": "/usr/bin:/bin", "COLUMNS": "160", **changes}
