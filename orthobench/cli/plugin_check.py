"""The command ``orthobench plugin check``."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from orthobench.cli.output import AS_JSON

FAILED = 1

MARKS = {
    "failed": click.style("FAILED", fg="red", bold=True),
    "not checkable": "not checkable",
}
"""What is shown of an outcome; checks that pass are only counted."""


@click.command()
@click.argument("package")
@AS_JSON
def check(package: str, as_json: bool) -> None:
    """Check that the solvers and problems of PACKAGE keep to their contract.

    PACKAGE is the name of a plugin, of its module or of its distribution; see `orthobench list
    plugins`. Solvers run for a few steps on small data of their family, problems are built with
    their default parameters. Each failure is shown with what to do about it; the exit code is 1
    where there is any.
    """
    from orthobench.registry.plugins import catalogue
    from orthobench.testing.cases import cases, facts
    from orthobench.tools.threads import limited

    results: list[dict[str, str]] = []
    with limited(1):
        by_item = itertools.groupby(
            cases(package, catalogue()), lambda case: (case.kind, case.name)
        )
        for _, group in by_item:
            of_item = [facts(case, case.result()) for case in group]
            results += of_item
            for line in () if as_json else _lines(of_item):
                click.echo(line)
    click.echo(json.dumps(results, indent=2) if as_json else _total(results))
    sys.exit(FAILED if _count(results, "failed") else 0)


def _lines(results: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield what is shown of one solver or problem: how many checks pass, and why others do not."""
    first, passed = results[0], _count(results, "passed")
    name = click.style(first["name"], bold=True)
    yield f"{name} ({first['kind']}): {passed} of {len(results)} checks pass"
    for outcome, message in dict.fromkeys((row["outcome"], row["message"]) for row in results):
        if outcome in MARKS:
            checks = [row["check"] for row in results if row["message"] == message]
            yield f"    {', '.join(checks)}: {MARKS[outcome]}: {message}"


def _total(results: Sequence[Mapping[str, str]]) -> str:
    counts = [_count(results, outcome) for outcome in ("passed", "failed", "not checkable")]
    return "{} checks: {} pass, {} fail, {} not checkable".format(len(results), *counts)


def _count(results: Sequence[Mapping[str, str]], outcome: str) -> int:
    return sum(row["outcome"] == outcome for row in results)
