"""The commands ``orthobench plugin new`` and ``orthobench plugin check``."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FOLDER, PATH
from orthobench.cli.printing import FAILED, print_json, say

PORTS = "orthobench.ports"
"""The entry points of functions that make plugins of benchmarks of other harnesses."""


@click.group()
def plugin() -> None:
    """Write and check plugins of your own."""


@plugin.command()
@click.argument("name", required=False)
@click.option("-o", "--folder", type=PATH,
              help="Write to this folder.  [default: NAME]")  # fmt: skip
@click.option("--ci", type=click.Choice(("github", "gitlab")), help="Also write a gate: a small "
              "suite, and files that compare each change with its target.")  # fmt: skip
@click.option("--author", help="Name this author.  [default: the user of git]")
@click.option("--family", default="stochastic-pca",
              help="Write a solver of this family, or of a new one: own.")  # fmt: skip
@click.option("--from-benchopt", "benchmark", type=FOLDER, help="Port the benchmark of benchopt in "
              "this folder, after which NAME is called by default.")  # fmt: skip
def new(name: str | None, folder: Path | None, ci: str | None, author: str | None,
        family: str, benchmark: Path | None) -> None:  # fmt: skip
    """Write a plugin with a solver, a suite and tests.

    NAME is the name of its distribution. The tests pass as written; then replace the method of the
    solver by your own. With --ci and without NAME, add the gate to the project in the current
    folder, which may be any library.
    """
    from orthobench.registry.plugins import catalogue
    from orthobench.registry.scaffold import GATE, names_of, render, templates_of, write, write_ci

    if benchmark:
        _port(benchmark, name, folder, author)
        return
    if name is None:
        if not ci:
            raise click.UsageError("name the new plugin: orthobench plugin new NAME")
        target = folder or Path()
        for path in write_ci(target, ci):
            say(path)
        suite = "" if (target / GATE).exists() else f"write the suite {GATE}, and "
        say(f"next: {suite}commit all")
        return
    names = names_of(name)
    target = folder or Path(name)
    paths = write(render(names, templates_of(family, catalogue()), author, ci or ""), target)
    say(f"{len(paths)} files written in {target}; the method is in")
    say(target / "src" / names["package"] / "solver.py")
    _say_next(target, (
        f"orthobench plugin check {names['plugin']}",
        f"orthobench show {names['plugin']}",
        f"orthobench run {names['plugin']}-comparison",
        *(["git init && git add . && git commit -m Begin"] if ci else []),
    ))  # fmt: skip


def _port(benchmark: Path, name: str | None, folder: Path | None, author: str | None) -> None:
    from importlib.metadata import entry_points

    points = [*entry_points(group=PORTS, name="benchopt")]
    if not points:
        raise click.ClickException(
            "this installation ports no benchmarks: install orthobench again"
        )
    target, summary, steps = points[0].load()(benchmark, name, folder, author)
    say(f"{summary} are in {target}")
    _say_next(target, steps)


def _say_next(target: Path, steps: Sequence[str]) -> None:
    say("\nNext:\n")
    first = (f"cd {shlex.quote(str(target))}", "python -m pip install -e '.[test]'", "pytest")
    for step in (*first, *steps):
        say(f"    {step}")


@plugin.command()
@click.argument("item")
@click.option("-p", "--problem", default="", show_default=False,
              help="Check FILE.py:CLASS on this problem.  [default: small data of its family]"
              )  # fmt: skip
@click.option("--against", default="", show_default=False, metavar="FILE.npz",
              help="Compare the steps of FILE.py:CLASS with those of a reference, and make no "
              "other check.")  # fmt: skip
@click.option("--limit", type=click.FloatRange(0, min_open=True), default=120.0,
              show_default=True, help="Stop a check after this number of seconds.")  # fmt: skip
@AS_JSON
def check(item: str, problem: str, against: str, limit: float, as_json: bool) -> None:
    """Check the solvers and problems of ITEM against their contract.

    ITEM is FILE.py:CLASS, FILE.py:FUNCTION of a black box, or the name of a plugin, of its module
    or of its distribution. Solvers run for a few steps on small data of their family, in a process
    of their own. The exit code is 1 if any check failed, or none could be made.

    \b
    orthobench plugin check my_oja.py:MyOja
    orthobench plugin check my_power.py:run -p "tall-pca n=2000 d=40 k=4"
    orthobench plugin check my_power.py:run --against reference.npz
    """  # noqa: D301 - click reads the backspace
    from orthobench.testing.cases import Asked
    from orthobench.testing.in_child import checked

    results: list[dict[str, str]] = []
    found = checked(Asked(item, problem, against), limit)
    for _, group in itertools.groupby(found, lambda row: (row["kind"], row["name"])):
        of_item = [*group]
        results += of_item
        for line in () if as_json else _lines(of_item):
            say(line)
    count = Counter(row["status"] for row in results)
    if as_json:
        print_json(results)
    else:
        passed, failed, others = (count[status] for status in ("passed", "failed", "not checkable"))
        say(f"{len(results)} checks: {passed} pass, {failed} fail, {others} not checkable")
        say(f"next: {_next(passed, failed)}")
    nothing_passed = bool(results) and not count["passed"]
    sys.exit(FAILED if count["failed"] or nothing_passed else 0)


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


def _next(passed: int, failed: int) -> str:
    if failed:
        return "mend these in their order, and check again"
    if not passed:
        return "check it on a problem that it takes, with -p"
    return "orthobench run -p PROBLEM -s SOLVER compares it with others"
