"""The group of commands ``orthobench plugin``."""

from __future__ import annotations

import click

from orthobench.cli.plugin_new import new


@click.group()
def plugin() -> None:
    """Write a plugin of your own."""


plugin.add_command(new)
