"""The commands ``orthobench plugin new`` and ``orthobench plugin check``."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, PATH
from orthobench.cli.printing import FAILED, print_json, say


@click.group()
def plugin() -> None:
    """Write and check plugins of your own."""


@plugin.command()
@click.argument("name", required=False)
@click.option("-o", "--folder", type=PATH,
              help="Folder to write.  [default: NAME in the current folder]")  # fmt: skip
@click.option("--ci", type=click.Choice(("github", "gitlab")), help="Also write a gate: a small "
              "suite, and what compares each change with where it goes.")  # fmt: skip
@click.option("--author", help="Author of the plugin.  [default: the user of git]")
@click.option("--family", default="stochastic-pca", help="Family, or `own` for a new one.")
def new(name: str | None, folder: Path | None, ci: str | None, author: str | None,
        family: str) -> None:  # fmt: skip
    """Write a plugin with a solver, a suite and tests.

    NAME is the name of its distribution. The tests pass as written; then replace the method of the
    solver by your own. With --ci and without NAME, the gate is added to the project in the current
    folder, which may be any library.
    """
    from orthobench.registry.plugins import catalogue
    from orthobench.registry.scaffold import GATE, names_of, templates_of, write, write_ci

    if name is None:
        if not ci:
            raise click.UsageError("Missing argument 'NAME', the name of the new plugin.")
        for path in write_ci(folder or Path(), ci):
            say(path)
        say(f"next: write {GATE}, the suite that each change is compared on, and commit all")
        return
    names = names_of(name)
    target = folder or Path(name)
    paths = write(names, target, templates_of(family, catalogue()), author, ci or "")
    say(f"{len(paths)} files written in {target}; the method is in")
    say(target / "src" / names["package"] / "solver.py")
    say("\nNext:\n")
    for step in (
        f"cd {shlex.quote(str(target))}",
        "python -m pip install -e '.[test]'",
        "pytest",
        f"orthobench plugin check {names['plugin']}",
        f"orthobench show {names['plugin']}",
        f"orthobench run {names['plugin']}-comparison",
        *(["git init && git add . && git commit -m Begin"] if ci else []),
    ):
        say(f"    {step}")


@plugin.command()
@click.argument("package")
@click.option("--all-parameters", is_flag=True,
              help="Check each choice and each value of a grid too, one beside the other defaults.",
              )  # fmt: skip
@AS_JSON
def check(package: str, all_parameters: bool, as_json: bool) -> None:
    """Check the solvers and problems of PACKAGE against their contract.

    PACKAGE is the name of a plugin, of its module or of its distribution; see `orthobench list
    plugins`. Solvers run for a few steps on small data of their family, and problems are built with
    their default parameters. Each failed check is printed with what to do about it. The exit code
    is 1 if any check failed.
    """
    from orthobench.registry.plugins import catalogue
    from orthobench.testing.cases import cases, facts
    from orthobench.tools.environment import limited

    results: list[dict[str, str]] = []
    with limited(1):
        found = cases(package, catalogue(), all_parameters=all_parameters)
        for _, group in itertools.groupby(found, lambda case: (case.kind, case.name)):
            of_item = [facts(case, case.result()) for case in group]
            results += of_item
            for line in () if as_json else _lines(of_item):
                say(line)
    if as_json:
        print_json(results)
    count = Counter(row["status"] for row in results)
    if not as_json:
        passed, failed, others = (count[status] for status in ("passed", "failed", "not checkable"))
        say(f"{len(results)} checks: {passed} pass, {failed} fail, {others} not checkable")
        compares = "orthobench run -p PROBLEM -s SOLVER compares it with others"
        say(f"next: {'mend these in their order, and check again' if failed else compares}")
    sys.exit(FAILED if count["failed"] else 0)


def _lines(results: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines about one solver or problem: how many checks pass, and why others do not."""
    first, passed = results[0], sum(row["status"] == "passed" for row in results)
    name = click.style(first["name"], bold=True)
    yield f"{name} ({first['kind']}): {passed} of {len(results)} checks pass"
    for outcome, message in dict.fromkeys((row["status"], row["message"]) for row in results):
        if outcome != "passed":
            checks = [row["check"] for row in results if row["message"] == message]
            mark = click.style("FAILED", fg="red", bold=True) if outcome == "failed" else outcome
            yield f"    {', '.join(checks)}: {mark}: {message}"
