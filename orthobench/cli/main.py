"""The command ``orthobench``, and those of its commands that have no module of their own.

Exit codes: 0 on success, 1 where a run that is shown failed, 2 where the call is wrong or names
something unknown, 74 where the output cannot be written, 130 on an interruption, 141 where nobody
reads the output any more, 143 on SIGTERM.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench._version import __version__
from orthobench.cli.atlas import advise, atlas, measure_map
from orthobench.cli.comparing import compare, verify
from orthobench.cli.history import history
from orthobench.cli.options import (
    AS_JSON,
    AUTO_WORKERS,
    COUNT,
    FILE,
    MEMORY_LIMIT,
    PATH,
    POSITIVE,
    PROBLEMS,
    QUIET,
    SOLVERS,
    STORE,
    SUITE_OF_STORE,
    TIMEOUT,
    TOLERANCE,
    Installed,
)
from orthobench.cli.plugins import plugin
from orthobench.cli.printing import FAILED, Group, print_facts, print_results, print_tables, say
from orthobench.cli.racing import race
from orthobench.cli.reporting import report
from orthobench.cli.reproducing import reproduce

KINDS = ("solvers", "problems", "suites", "plugins")


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="orthobench")
def main() -> None:
    """Compare solvers for problems with orthogonality constraints.

    \b
    orthobench run                 the default comparison
    orthobench run SUITE           a suite, by its name or its TOML file
    orthobench race -p "npy-pca path=X.npy k=4"
                                   the answer for your own data, in the time you give it
    orthobench advise              which method to use, from an atlas of runs
    orthobench map FAMILY          measure which method where, over sizes
    orthobench report STORE        the page about the results
    orthobench compare BASE HEAD   what a change made worse or slower
    orthobench history RANGE       which commits of a range changed it
    orthobench verify STORE        whether its results come out again here
    """  # noqa: D301 - click reads the backspace


@main.command()
@click.argument("suite", required=False, type=Installed("suites"))
@PROBLEMS
@SOLVERS
@click.option("--all", "everything", is_flag=True, hidden=True, help="What it does anyway.")
@click.option("--seeds", type=COUNT, help="Number of seeds, instead of the suite's.")
@click.option("--samples", type=COUNT, help="Budget in samples, instead of the suite's.")
@click.option("--seconds", type=POSITIVE, help="Budget in seconds, instead of the suite's.")
@click.option("--steps", type=COUNT, help="Budget in steps, instead of the suite's.")
@click.option("--flops", type=POSITIVE, help="Budget in flops, instead of the suite's.")
@click.option(
    "--on",
    multiple=True,
    metavar="PLACE",
    help="Array library, device and precision: numpy, torch:cpu, torch:cuda/float32, jax:cpu, cupy;"
    " or where blocks of samples are summarized: blocks, dask:4, dask:tcp://HOST:8786. Repeatable.",
)
@click.option(
    "--measure",
    type=click.Choice(("memory",)),
    help="Measure peak memory, not time, as the suite SUITE-memory.",
)
@TOLERANCE
@click.option(
    "--store",
    type=FILE,
    help="File of results.  [default: orthobench-results/SUITE/results.sqlite]",
)
@click.option("--explain", is_flag=True, help="Only say of each cell whether it would run.")
@click.option("--dry-run", is_flag=True, help="Only check everything, and count the cells.")
@click.option(
    "--only", metavar="PATTERN", help='Only cells whose "PROBLEM SOLVER" matches, such as "* oja*".'
)
@click.option("--retry", is_flag=True, help="Run cells again that failed before.")
@click.option(
    "--decide",
    type=click.IntRange(0),
    metavar="SEEDS",
    help="Maximum number of seeds of what is undecided.  [default: 48 from 12 seeds on, else none]",
)
@click.option("-v", "--verbose", is_flag=True, help="Also print a table for each problem.")
@click.option(
    "--executor",
    type=click.Choice(["local", "inline", "dask"]),
    default="local",
    help="In worker processes, in this process, or on a Dask cluster.",
)
@AUTO_WORKERS
@click.option("--isolate", is_flag=True, help="Run each cell in a fresh process.")
@TIMEOUT
@MEMORY_LIMIT
@click.option("--scheduler", metavar="ADDRESS", help="The scheduler of the Dask cluster.")
@click.option("--figures/--no-figures", default=True, help="Whether to draw figures.")
@QUIET
@AS_JSON
def run(suite: str | None, verbose: bool, store: Path | None, only: str | None,
        everything: bool, retry: bool, decide: int | None, figures: bool, quiet: bool,
        as_json: bool,
        executor: str, workers: Any, isolate: bool, timeout: float | None,
        memory_limit: int | None, scheduler: str | None,
        explain: bool, dry_run: bool, **changes: Any) -> None:  # fmt: skip
    """Run the cells of SUITE that are not in its store yet.

    SUITE is the name of a suite or a TOML file; quickstart by default. Prints which call to make,
    cost and seeds of each solver on each problem, and the paths of figures and store. -v prints a
    table for each problem as it is finished, `orthobench show` all tables of a store, and
    `orthobench report` writes a page about it. `orthobench race` finds the call to make on one
    problem in less time.
    """
    from orthobench import api
    from orthobench.decide.wording import too_few
    from orthobench.harness.executors import Limits
    from orthobench.registry.suite_file import requested_suite
    from orthobench.report.terminal.progress import Progress
    from orthobench.stats.noninferiority import FEWEST

    del everything
    requested = requested_suite(suite, **changes)
    path = store or api.default_store(requested)
    if explain or dry_run:
        from orthobench.results.explain import lines as explained_lines

        as_text = partial(explained_lines, listed=explain)
        print_facts(api.explained(requested, path, only=only, retry=retry), as_json, as_text)
        return
    solvers = len({solver.label for solver in requested.solvers})
    if len(requested.seeds) < FEWEST and solvers > 1 and not (quiet or as_json or decide):
        say(f"{too_few(len(requested.seeds), solvers)}; --seeds {FEWEST} can", err=True)
    try:
        results = api.run(
            requested, path, only=only, retry=retry, decide=decide, executor=executor,
            workers=workers,
            scheduler=scheduler, limits=Limits(timeout, memory_limit, isolate),
            observer=Progress(quiet or as_json, print_tables if verbose and not as_json else None),
            command=shlex.join(sys.argv),
        )  # fmt: skip
    except KeyboardInterrupt as error:
        message = f"interrupted; finished cells are in {path}, run again to go on"
        raise type(error)(message) from None
    print_results(results, results.path.parent if figures else None, as_json)
    if not as_json:
        at = f" --tolerance {changes['tolerance']:g}" if changes["tolerance"] else ""
        name = shlex.quote(str(results.path))
        say(f"tables   orthobench show {name}{at}")
        say(f"page     orthobench report {name}{at} --open")
    sys.exit(
        FAILED if any(failed.key in results.reported_keys for failed in results.failures) else 0
    )


@main.command("list")
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


@main.command()
@click.argument("name", type=Installed("suites", "solvers", "problems"))
@SUITE_OF_STORE
@TOLERANCE
@AS_JSON
def show(name: str, suite: str | None, tolerance: float | None, as_json: bool) -> None:
    """Show a solver, problem or suite, or the results in a store.

    NAME is the name of a solver, problem or suite, or the path of a store or of the folder that
    holds results.sqlite. Failed runs are shown; the exit code is 0 nevertheless.
    """
    from orthobench.results.results import Results, store_at

    if store_at(Path(name)).is_file():
        print_results(Results.read(name, suite, tolerance), None, as_json, tables=True)
    elif suite or tolerance:
        option = "--suite names a suite in" if suite else "--tolerance is of the solvers in"
        raise click.UsageError(f"{option} a store, but {name!r} is not a store")
    else:
        from orthobench.registry.plugins import catalogue
        from orthobench.report.terminal import listing

        facts = listing.details(catalogue(), name)
        if facts["kind"] == "solver":
            from orthobench.atlas.answers import opened
            from orthobench.errors import UsageError

            with suppress(UsageError):  # there is no atlas, or nothing that reads it
                facts["record"] = opened(None, rows=False).about.get("records", {}).get(name, "")
        print_facts(facts, as_json, listing.page)


@main.command()
@STORE
@click.option(
    "-o",
    "--out",
    type=PATH,
    help="File, .csv, .jsonl or .parquet; of ioh a folder.  [default: CSV to standard output]",
)
@click.option(
    "--format",
    "other",
    type=click.Choice(["ioh", "benchopt"]),
    help="For IOHanalyzer and iohinspector, or for benchopt.",
)
@SUITE_OF_STORE
def export(store: Path, out: Path | None, other: str | None, suite: str | None) -> None:
    """Write a table of all checkpoints of all runs in STORE.

    With --format, only the runs that reports show: those with the parameters that tuning chose.
    """
    if other and out is None:
        raise click.UsageError(f"--format {other} writes files; name them with --out")
    from orthobench.results.export import FORMATS, to_csv, write
    from orthobench.results.results import Results

    results = Results.read(store, suite)
    if other and out:
        FORMATS[other](results, out)
    elif out is None:
        to_csv(results, sys.stdout.buffer)
    else:
        write(results, out)


@main.command()
@STORE
@click.argument("others", nargs=-1, required=True, type=PATH)
@click.option(
    "--drop-unreadable", is_flag=True, help="Leave out rows that cannot be read, and say which."
)
def merge(store: Path, others: tuple[Path, ...], drop_unreadable: bool) -> None:
    """Add the cells of other stores to STORE.

    Cells that STORE has already stay as they are. STORE is created if it does not exist. With
    --drop-unreadable, `orthobench merge NEW OLD` saves what can be read of a damaged store.
    """
    from orthobench.results import schema
    from orthobench.results.store import Store
    from orthobench.tools.formatting import clean

    for other in others:
        schema.recognise(other)  # before STORE is made
    with Store(store, write=True) as opened:
        for other in others:
            dropped: list[str] | None = [] if drop_unreadable else None
            say(f"{opened.merge(other, dropped)} cells of {other} added to {store}")
            for row in dropped or ():
                say(f"left out: {clean(row)}")
    say(f"next: orthobench report {shlex.quote(str(store))} writes the page about all")


main.add_command(advise)
main.add_command(atlas)
main.add_command(measure_map)
main.add_command(compare)
main.add_command(history)
main.add_command(race)
main.add_command(reproduce)


@main.command()
@AS_JSON
def doctor(as_json: bool) -> None:
    """Check the installation.

    Prints versions, BLAS, threads, the data cache, the plugins and their errors. The exit code is 1
    if there are problems.
    """
    from orthobench.cli import doctor as checks

    facts = checks.examine()
    print_facts(facts, as_json, checks.lines)
    sys.exit(FAILED if facts["problems"] else 0)


main.add_command(plugin)
main.add_command(report)
main.add_command(verify)
