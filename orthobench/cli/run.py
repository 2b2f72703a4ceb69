"""The command ``orthobench run``."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli import options
from orthobench.cli.printing import FAILED, print_facts, print_results, print_tables, say


@click.command()
@click.argument("suite", required=False, type=options.Installed("suites"))
@options.PROBLEMS
@options.SOLVERS
@click.option("--seeds", type=options.COUNT, help="Number of seeds, instead of the suite's.")
@click.option("--samples", type=options.COUNT, help="Budget in samples, instead of the suite's.")
@click.option("--seconds", type=options.POSITIVE, help="Budget in seconds, instead of the suite's.")
@click.option("--steps", type=options.COUNT, help="Budget in steps, instead of the suite's.")
@click.option("--flops", type=options.POSITIVE, help="Budget in flops, instead of the suite's.")
@click.option("--on", multiple=True, metavar="PLACE",
              help="Array library, device and precision: numpy, torch:cpu, torch:cuda/float32, "
              "jax:cpu, cupy; or where blocks of samples are summarized: blocks, dask:4, "
              "dask:tcp://HOST:8786. Repeatable.")  # fmt: skip
@click.option("--measure", type=click.Choice(("memory",)),
              help="Measure peak memory, not time, as the suite SUITE-memory.")  # fmt: skip
@options.TOLERANCE
@click.option("--store", type=options.FILE, help="File of results.  "
              "[default: orthobench-results/SUITE/results.sqlite]")  # fmt: skip
@click.option("--explain", is_flag=True, help="Only say of each cell whether it would run.")
@click.option("--dry-run", is_flag=True, help="Only check everything, and count the cells.")
@click.option("--only", metavar="PATTERN",
              help='Only cells whose "PROBLEM SOLVER" matches, such as "* oja*".')  # fmt: skip
@click.option("--retry", is_flag=True, help="Run cells again that failed before.")
@click.option("--decide", type=click.IntRange(0), metavar="SEEDS", help="Maximum number of seeds "
              "of what is undecided.  [default: 48 from 12 seeds on, else none]")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Also print a table for each problem.")
@click.option("--executor", default="local", metavar="EXECUTOR", help="In worker processes "
              "(local), in this process (inline), or on a Dask cluster (dask).")  # fmt: skip
@options.AUTO_WORKERS
@click.option("--isolate", is_flag=True, help="Run each cell in a fresh process.")
@options.TIMEOUT
@options.MEMORY_LIMIT
@click.option("--scheduler", metavar="ADDRESS", help="The scheduler of the Dask cluster.")
@click.option("--figures/--no-figures", default=True, help="Whether to draw figures.")
@options.QUIET
@options.AS_JSON
def run(suite: str | None, verbose: bool, store: Path | None, only: str | None, retry: bool,
        decide: int | None, figures: bool, quiet: bool, as_json: bool, executor: str, workers: Any,
        isolate: bool, timeout: float | None, memory_limit: int | None, scheduler: str | None,
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
            workers=workers, scheduler=scheduler, limits=Limits(timeout, memory_limit, isolate),
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
    sys.exit(FAILED if any(run.key in results.reported_keys for run in results.failures) else 0)
