"""The group of all commands: those of the program, and of plugins by entry points."""

from __future__ import annotations

import re
import signal
import sys
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import suppress
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from orthobench.cli.printing import ended, open_streams, terminate

GROUP = "orthobench.commands"
"""The group of entry points."""

OWN = {
    name: f"orthobench.cli.{name}:{name}"
    for name in (
        "advise", "atlas", "compare", "doctor", "export", "history", "list", "map", "merge",
        "plugin", "race", "report", "run", "show", "verify",
    )
}  # fmt: skip
"""The places of the program's own commands: each is a function in the module of its name."""


class Commands(click.Group):
    """The group of all commands: prints errors of users as messages, without a traceback.

    A command is imported when it is called.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the command line; ``--help`` and ``--version`` print and exit here."""
        open_streams()
        with ended():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        signal.signal(signal.SIGTERM, terminate)
        with ended():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names of all commands, sorted."""
        return sorted({*OWN, *plugin_places()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the description of the command with a name; None without one."""
        place = OWN.get(cmd_name) or plugin_places().get(cmd_name)
        return _Described(cmd_name, place) if place else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, with the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.loaded() if isinstance(command, _Described) else command, rest


class _Described(click.Command):
    """A command that is not imported yet, and its place: ``"module:function"``."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name, help=_docstring(place))
        self.place = place

    def loaded(self) -> click.Command:
        """Return the command itself."""
        from pkgutil import resolve_name

        try:
            command = resolve_name(self.place)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise click.ClickException(f"{self.place} cannot be imported: {why}") from error
        if not isinstance(command, click.Command):
            raise click.ClickException(f"{self.place}: {command!r} is no command of click")
        return command


def plugin_places() -> dict[str, str]:
    """Return the places of the commands of plugins, by name.

    The metadata are read here, because `importlib.metadata` takes a quarter of the time of
    ``orthobench --help``.
    """
    found = ConfigParser(delimiters="=", interpolation=None, strict=False)
    for folder in reversed(sys.path):  # the first one wins
        for file in Path(folder).glob("*-info/entry_points.txt"):
            with suppress(OSError, ValueError, ConfigError):
                found.read(file, encoding="utf-8")
    return dict(found[GROUP]) if GROUP in found else {}


def _docstring(place: str) -> str:
    """Return the docstring of a function, which is not imported; empty if none is found."""
    module, _, function = place.partition(":")
    package, *parts = module.split(".")
    try:
        spec = find_spec(package)
        home = Path(spec.origin or "" if spec else "")
        file = home.parent.joinpath(*parts).with_suffix(".py") if parts else home
        code = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    # a syntax tree takes 15 times as long
    found = re.search(
        rf'^def {re.escape(function)}\([^"]*"""(.*?)"""', code, re.DOTALL | re.MULTILINE
    )
    return cleandoc(found[1]) if found else ""
