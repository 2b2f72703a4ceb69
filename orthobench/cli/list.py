"""The command ``orthobench list``."""

from __future__ import annotations

import click

from orthobench.cli.options import AS_JSON, Installed
from orthobench.cli.printing import print_facts

KINDS = ("solvers", "problems", "suites", "plugins")


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@click.option("--family", type=Installed("families"), help="Only those of a family.")
@AS_JSON
def list_(kind: str | None, family: str | None, as_json: bool) -> None:
    """List the installed solvers, problems, suites and plugins."""
    from orthobench.registry.plugins import catalogue
    from orthobench.report.terminal import listing

    facts = listing.facts(catalogue())
    wanted = facts if kind is None else {kind: facts[kind]}
    wanted = wanted if family is None else listing.of_family(wanted, family.replace("-", " "))
    print_facts(wanted, as_json, listing.tables)
