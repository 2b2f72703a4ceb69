"""The command ``orthobench plugin check``."""

from __future__ import annotations

import sys

import click

from orthobench.cli.output import AS_JSON, print_facts, under_way

FAILED = 1


@click.command()
@click.argument("package")
@AS_JSON
def check(package: str, as_json: bool) -> None:
    """Check that the solvers and problems of PACKAGE keep to their contract.

    PACKAGE is the name of a plugin, of its module or of its distribution; see `orthobench list
    plugins`. Solvers run for a few steps on small data of each family, problems are built with
    their default parameters. Exit code 1 says that a check failed.
    """
    from orthobench.registry import catalogue
    from orthobench.testing import package as packages
    from orthobench.threads import limited

    checked = []
    with limited(1), under_way(as_json) as say:
        for case in packages.cases(package, catalogue()):
            say(f"{case.name}: {case.check.says}")
            checked.append(packages.facts(case, case.result()))
    print_facts(checked, as_json, packages.lines)
    sys.exit(FAILED if any(fact["outcome"] == "failed" for fact in checked) else 0)
