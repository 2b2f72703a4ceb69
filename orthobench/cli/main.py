"""The command line: parses, calls, prints.

Exit code 0 says done, 1 that a cell failed, 2 that the call or what it names is wrong, 130 that it
was interrupted.
"""

from __future__ import annotations

import re
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import click

from orthobench._version import __version__
from orthobench.cli.comparing import compare
from orthobench.cli.output import AS_JSON, print_facts, show_results
from orthobench.cli.plugins import plugin
from orthobench.cli.reporting import report
from orthobench.cli.reproducing import reproduce

WRONG, FAILED, INTERRUPTED = 2, 1, 130
KINDS = ("solvers", "problems", "suites", "plugins")
EXECUTORS = ("local", "inline", "dask")


def size(text: str) -> int:
    """Return the bytes of ``4GiB``, ``500 MB`` or ``100000``; units are powers of 1024."""
    units = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    count = int(float(found[1]) * units[found[2]]) if found else 0
    if count < 1:
        raise click.BadParameter(f"{text!r} is no size; write 4GiB or 500MiB")
    return count


class _Group(click.Group):
    """Prints what users can mend as a message, without a traceback, and says what is cut off."""

    def invoke(self, ctx: click.Context) -> Any:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except Exception as error:
            from orthobench.errors import OrthobenchError

            if not isinstance(error, OrthobenchError):
                raise
            click.echo(f"orthobench: {error}", err=True)
            ctx.exit(WRONG)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="orthobench")
def main() -> None:
    """Compare solvers for problems with orthogonality constraints.

    \b
    orthobench run                 the default comparison
    orthobench run SUITE           a named suite, or a TOML file
    orthobench run -p "npy-pca path=X.npy k=4"
                                   every solver that can, on your own data
    orthobench report STORE        the page about what was run
    orthobench compare BASE HEAD   what a change made worse, or slower
    """  # noqa: D301 - click reads the backspace


@main.command()
@click.argument("suite", required=False)
@click.option(
    "-p",
    "--problem",
    "problems",
    multiple=True,
    metavar="SPEC",
    help='A problem instead of a suite\'s: "NAME key=value ...". Repeatable.',
)
@click.option(
    "-s",
    "--solver",
    "solvers",
    multiple=True,
    metavar="SPEC",
    help='A solver instead of a suite\'s: "NAME key=value ...". Repeatable.',
)
@click.option("--seeds", type=click.IntRange(1), help="Number of seeds, instead of the suite's.")
@click.option(
    "--samples", type=click.IntRange(1), help="Budget in samples, instead of the suite's."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help="Budget in seconds on the solver's clock, instead of the suite's.",
)
@click.option(
    "--store",
    type=click.Path(dir_okay=False, path_type=Path),
    help="SQLite file for the results.  [default: orthobench-results/SUITE/results.sqlite]",
)
@click.option("--explain", is_flag=True, help="Only say of each cell why it would run, or not.")
@click.option("--retry", is_flag=True, help="Run cells again that failed before.")
@click.option(
    "--executor",
    type=click.Choice(EXECUTORS),
    default="local",
    show_default=True,
    help="Where cells run: in processes here, in this process itself, or on a Dask cluster.",
)
@click.option(
    "-w", "--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes."
)
@click.option("--isolate", is_flag=True, help="A fresh process for each cell.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Kill a cell that takes longer, all included, and record it as failed.",
)
@click.option(
    "--memory-limit",
    type=size,
    metavar="SIZE",
    help="Memory that a process may take, as 4GiB; a cell that needs more fails. Linux.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Dask scheduler; without one, a cluster on this machine."
)
@click.option("--figures/--no-figures", default=True, help="Whether to draw figures.")
@click.option("-q", "--quiet", is_flag=True, help="No progress display.")
@AS_JSON
def run(suite: str | None, store: Path | None, retry: bool, figures: bool, quiet: bool,
        as_json: bool, executor: str, workers: int, isolate: bool, timeout: float | None,
        memory_limit: int | None, scheduler: str | None, explain: bool,
        **changes: Any) -> None:  # fmt: skip
    """Run SUITE (default: quickstart), or what of it is not in its store yet.

    Prints a table for each problem, and the paths of the figures and of the store, of which
    `orthobench report` makes a page.
    """
    from orthobench import api
    from orthobench.cli.adhoc import changed
    from orthobench.harness.executors import Limits
    from orthobench.results.explain import lines as explained_lines

    known = changed(suite, **changes)
    path = store or api.default_store(known)
    if explain:
        print_facts(api.explained(known, path, retry=retry), as_json, explained_lines)
        return
    limits = Limits(timeout, memory_limit, isolate)
    try:
        results = api.run(
            known, path, retry=retry, quiet=quiet or as_json,
            executor=executor, workers=workers, limits=limits, scheduler=scheduler,
        )  # fmt: skip
    except KeyboardInterrupt:
        click.echo(f"interrupted; finished cells are in {path}, run again to go on", err=True)
        sys.exit(INTERRUPTED)
    show_results(results, path.parent if figures else None, as_json)
    if not as_json:
        click.echo(f"orthobench report {shlex.quote(str(path))} writes the page about it")
    sys.exit(FAILED if results.failures else 0)


@main.command("list")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@AS_JSON
def list_(kind: str | None, as_json: bool) -> None:
    """List the solvers, problems, suites and plugins that are installed."""
    from orthobench.registry.plugins import catalogue
    from orthobench.report.terminal import listing

    facts = listing.facts(catalogue())
    wanted = facts if kind is None else {kind: facts[kind]}
    print_facts(wanted, as_json, listing.tables)


@main.command()
@click.argument("name")
@click.option("--suite", help="Which suite of a store.  [default: the latest]")
@AS_JSON
def show(name: str, suite: str | None, as_json: bool) -> None:
    """Show a solver, a problem or a suite by NAME, or the results in a store by its path.

    The path may also be that of the folder that holds results.sqlite. Failed runs are shown, and
    are no failure of this command.
    """
    from orthobench.results.results import Results, store_at

    if store_at(Path(name)).is_file():
        show_results(Results.read(name, suite), None, as_json)
    elif suite:
        raise click.UsageError(f"--suite is one of a store, and there is no store {name!r}")
    else:
        from orthobench.registry.plugins import catalogue
        from orthobench.report.terminal import listing

        print_facts(listing.details(catalogue(), name), as_json, listing.page)


@main.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; its suffix says the format: .csv, .jsonl or .parquet.",
)
@click.option("--suite", help="Which suite of the store.  [default: the latest]")
def export(store: Path, out: Path | None, suite: str | None) -> None:
    """Write every checkpoint of every run in STORE as a table (to standard output: CSV)."""
    from orthobench.results.export import write, write_csv
    from orthobench.results.results import Results

    results = Results.read(store, suite)
    if out is None:
        write_csv(results, sys.stdout)
    else:
        write(results, out)


@main.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1, required=True, type=click.Path(path_type=Path))
def merge(store: Path, others: tuple[Path, ...]) -> None:
    """Add the cells of OTHERS that are not in STORE, which is made where it is not there."""
    from orthobench.results.store import Store

    with Store(store, write=True) as opened:
        for other in others:
            click.echo(f"{opened.merge(other)} cells of {other} added to {store}")


main.add_command(compare)
main.add_command(reproduce)


@main.command()
@AS_JSON
def doctor(as_json: bool) -> None:
    """Check the installation: versions, BLAS, threads, data cache, plugins and their errors."""
    from orthobench.cli import doctor as checks

    found = checks.examine()
    print_facts(found, as_json, checks.lines)
    sys.exit(FAILED if found["problems"] else 0)


main.add_command(plugin)
main.add_command(report)
