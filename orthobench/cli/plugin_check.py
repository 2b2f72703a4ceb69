"""The command ``orthobench plugin check``."""

from __future__ import annotations

import itertools
import json
import sys
from typing import TYPE_CHECKING

import click

from orthobench.cli.output import AS_JSON

if TYPE_CHECKING:
    from orthobench.testing.package import Facts

FAILED = 1


@click.command()
@click.argument("package")
@AS_JSON
def check(package: str, as_json: bool) -> None:
    """Check that the solvers and problems of PACKAGE keep to their contract.

    PACKAGE is the name of a plugin, of its module or of its distribution; see `orthobench list
    plugins`. Solvers run for a few steps on small data of their family, problems are built with
    their default parameters. What fails is told with what to do about it; exit code 1 says that
    something did.
    """
    from orthobench.registry.installed import catalogue
    from orthobench.testing import package as packages
    from orthobench.tools.threads import limited

    checked: list[Facts] = []
    cases = packages.cases(package, catalogue())
    with limited(1):
        for _, group in itertools.groupby(cases, key=lambda case: (case.kind, case.name)):
            of_one = [packages.facts(case, case.result()) for case in group]
            checked += of_one
            for line in () if as_json else packages.lines(of_one):
                click.echo(line)
    click.echo(json.dumps(checked, indent=2) if as_json else packages.ending(checked))
    sys.exit(FAILED if any(fact["outcome"] == "failed" for fact in checked) else 0)
