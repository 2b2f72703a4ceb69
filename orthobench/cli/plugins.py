"""The commands ``orthobench plugin ...``, for those who write plugins."""

from __future__ import annotations

import click

from orthobench.cli.plugin_check import check
from orthobench.cli.plugin_new import new


@click.group()
def plugin() -> None:
    """Write and check plugins of your own."""


plugin.add_command(check)
plugin.add_command(new)
