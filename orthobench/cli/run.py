"""The command ``orthobench run``."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli import options
from orthobench.cli.printing import FAILED, print_facts, print_results, say


@click.command(
    cls=options.titled(
        problems="Suite", only="Selection", workers="Execution", store="Output", help="Other"
    )
)
@click.argument("suite", required=False)
@options.PROBLEMS
@options.SOLVERS
@click.option("--seeds", type=options.COUNT,
              help="Run this number of seeds.  [default: the suite's, or 10]")  # fmt: skip
@click.option("--samples", type=options.COUNT,
              help="Limit a run to this number of samples.  [default: the suite's, or 10,000]"
              )  # fmt: skip
@click.option("--steps", type=options.COUNT,
              help="Limit a run to this number of steps.  [default: the suite's]")  # fmt: skip
@click.option("--seconds", type=options.POSITIVE,
              help="Limit a run to this time.  [default: the suite's]")  # fmt: skip
@click.option("--flops", type=options.POSITIVE,
              help="Limit a run to this number of flops.  [default: the suite's]")  # fmt: skip
@click.option("--on", multiple=True, metavar="PLACE",
              help="Compute with this array library, device and precision: torch:cuda/float32, "
              "jax:cpu, cupy; or on blocks of samples: blocks, dask:4, dask:tcp://HOST:8786. "
              "Repeatable.  [default: numpy]")  # fmt: skip
@click.option("--measure", type=click.Choice(("memory",)),
              help="Measure peak memory instead of time, as the suite SUITE-memory.")  # fmt: skip
@options.TOLERANCE
@click.option("--only", metavar="PATTERN",
              help='Run only cells whose "PROBLEM SOLVER" matches, such as "* oja*".')  # fmt: skip
@click.option("--retry", is_flag=True, help="Run cells again that failed before.")
@click.option("--decide", type=click.IntRange(0), metavar="SEEDS",
              help="Add seeds to undecided solvers, up to this number.  [default: 48 if the suite "
              "has 12, else 0]")  # fmt: skip
@click.option("--explain", is_flag=True, help="Print for each cell whether it would run; stop.")
@click.option("--dry-run", is_flag=True, help="Check everything, and count the cells; stop.")
@options.AUTO_WORKERS
@click.option("--executor", default="local", metavar="EXECUTOR",
              help="Run in worker processes (local), in this process (inline), or on a Dask "
              "cluster (dask).")  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="Use this scheduler of a Dask cluster.")
@click.option("--isolate", is_flag=True, help="Run each cell in a fresh process.")
@options.TIMEOUT
@options.MEMORY_LIMIT
@click.option("--store", type=options.FILE, help="Keep results in this file.  "
              "[default: orthobench-results/SUITE/results.sqlite]")  # fmt: skip
@click.option("--figures/--no-figures", default=True, help="Draw figures.")
@click.option("-v", "--verbose", is_flag=True, help="Print a table for each problem.")
@options.QUIET
@options.AS_JSON
def run(suite: str | None, verbose: bool, store: Path | None, only: str | None, retry: bool,
        decide: int | None, figures: bool, quiet: bool, as_json: bool, executor: str,
        workers: int | None, isolate: bool, timeout: float | None, memory_limit: int | None,
        scheduler: str | None, explain: bool, dry_run: bool, **changes: Any) -> None:  # fmt: skip
    """Run the cells of SUITE that are not in its store yet.

    SUITE is the name of a suite or a TOML file  [default: quickstart]. With -p, run problems of
    your own instead. Prints the call to make, and cost and seeds of each solver on each problem.

    \b
    orthobench run
    orthobench run -p "digits k=4" -s oja -s my_oja.py:MyOja --seeds 5
    """  # noqa: D301 - click reads the backspace
    from orthobench import api
    from orthobench.decide.wording import too_few
    from orthobench.harness.executors import Limits
    from orthobench.harness.stopping import RunStatus
    from orthobench.registry.suite_file import requested_suite
    from orthobench.report.terminal.progress import Progress
    from orthobench.stats.noninferiority import FEWEST

    requested = requested_suite(suite, **changes)
    path = store or api.default_store(requested)
    if explain or dry_run:
        from orthobench.results.explain import lines as explained_lines

        as_text = partial(explained_lines, listed=explain)
        planned = api.explained(requested, path, only=only, retry=retry, timeout=timeout)
        print_facts(planned, as_json, as_text)
        return
    solvers, seeds = {solver.label for solver in requested.solvers}, len(requested.seeds)
    if seeds < FEWEST and len(solvers) > 1 and not (quiet or as_json or decide):
        say(f"{too_few(seeds)}; --seeds {FEWEST} can", err=True)
    try:
        results = api.run(
            requested, path, only=only, retry=retry, decide=decide, executor=executor,
            workers=workers or "auto", scheduler=scheduler,
            limits=Limits(timeout, memory_limit, isolate), observer=Progress(quiet or as_json),
            command=shlex.join(sys.argv),
        )  # fmt: skip
    except KeyboardInterrupt as error:
        message = f"interrupted; finished cells are in {path}, run again to go on"
        raise type(error)(message) from None
    print_results(results, results.path.parent if figures else None, as_json, tables=verbose)
    if not as_json:
        at = f" --tolerance {changes['tolerance']:g}" if changes["tolerance"] else ""
        name = shlex.quote(str(results.path))
        say(f"tables   orthobench show {name}{at}")
        say(f"page     orthobench report {name}{at} --open")
    failed = any(run.key in results.reported_keys for run in results.failures)
    unfinished = {run.stop.status for run in results.records} == {RunStatus.TIMEOUT}
    sys.exit(FAILED if failed or unfinished else 0)
