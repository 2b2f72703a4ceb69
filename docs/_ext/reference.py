"""Tables of public names, and the help of each command, for pages that are read unbuilt."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
from click.testing import CliRunner
from facts import markdown

from orthobench.cli.main import main

FOLDER = Path(__file__).parents[1] / "reference"
ROOT = FOLDER.parents[1]
DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto\w+):: (\S+)", re.MULTILINE)
WIDTH = 100


def public_names(page: str) -> Iterator[str]:
    """Yield the lines of the table of a reference page: names with their first sentence."""
    yield "| name | |"
    yield "|---|---|"
    module = ""
    for kind, name in DIRECTIVE.findall((FOLDER / f"{page}.rst").read_text(encoding="utf-8")):
        if kind == "currentmodule":
            module = name
            continue
        found = resolve_name(name if name.startswith("orthobench") else f"{module}.{name}")
        summary = " ".join((inspect.getdoc(found) or "").partition("\n\n")[0].split())
        text = markdown(summary.replace("``", "`"))
        yield f"| [`{name.removeprefix('orthobench.')}`]({_address(found)}) | {text} |"


def _address(found: Any) -> str:
    """Return the path of the code of an object, relative to the folder of the pages."""
    code = inspect.unwrap(found) if callable(found) else import_module(found.__name__)
    file = Path(inspect.getfile(code)).resolve().relative_to(ROOT.resolve())
    return f"../{file.as_posix()}"


def helps() -> Iterator[str]:
    """Yield a section with the help of each command."""
    context = click.Context(main)
    for name in main.list_commands(context):
        yield from _help([name])


def _help(words: list[str]) -> Iterator[str]:
    runner = CliRunner(env={"COLUMNS": str(WIDTH)})
    shown = runner.invoke(main, [*words, "--help"], prog_name="orthobench", terminal_width=WIDTH)
    yield f"## {' '.join(words)}\n"
    yield f"```text\n{shown.output.rstrip()}\n```\n"
    _, command, _ = main.resolve_command(click.Context(main), words[:1])
    if isinstance(command, click.Group) and len(words) == 1:
        for name in command.list_commands(click.Context(command)):
            yield from _help([*words, name])
