"""The command ``orthobench race``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orthobench.cli import options
from orthobench.cli.printing import FAILED, INTERRUPTED, print_json, say, status_line, wrapped

if TYPE_CHECKING:
    from orthobench.racing.race import Race


@click.command()
@options.PROBLEMS
@click.option("--within", type=options.duration, default="2m", metavar="TIME",
              help="Stop after this time: 30s, 2m or 1h.")  # fmt: skip
@click.option("--tolerance", type=options.PART, default=0.01,
              help="Accept solvers that leave this part of the gap.")  # fmt: skip
@click.option("--cost", type=click.Choice(("seconds", "samples", "flops", "memory", "products")),
              default="seconds", help="Minimise this cost.")  # fmt: skip
@click.option("--memory", type=options.size, metavar="SIZE",
              help="Limit the memory of a process, as 2GB.  [default: none]")  # fmt: skip
@options.SOLVERS
@click.option("--store", type=options.FILE,
              help="Keep the runs in this file.  [default: in orthobench-results]")  # fmt: skip
@options.QUIET
@options.AS_JSON
def race(problems: tuple[str, ...], within: float, tolerance: float, cost: str,
         memory: int | None, solvers: tuple[str, ...], store: Path | None, quiet: bool,
         as_json: bool) -> None:  # fmt: skip
    """Find the call to make on your problem, within a time.

    All solvers that can take it race; those much slower than the leader are dropped. The best run
    on fresh seeds, and the calls that are as good are timed one after another. An exact call is
    preferred unless another one saves a lot. The same command goes on after an interruption.
    """
    if not problems:
        raise click.UsageError('name your problem: -p "npy-pca path=X.npy k=4"')
    from orthobench.racing.race import races

    with status_line(quiet or as_json, lines=True) as tell:
        found = races(problems, within, tolerance, cost, solvers=solvers, memory=memory,
                      store=store, tell=tell)  # fmt: skip
    facts = [one.facts() for one in found]
    if as_json:
        print_json(facts[0] if len(problems) == 1 else {"races": facts})
    else:
        for one in found:
            _print(one, many=len(problems) > 1)
    if found[-1].interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(0 if all(one.winner for one in found) else FAILED)


def _print(one: Race, many: bool) -> None:
    from orthobench.racing import wording
    from orthobench.tools.collections import grouped

    say()
    for line in wording.lines(one.table, one.cost):
        say(line)
    for why, names in grouped(one.missing, one.missing.__getitem__).items():
        say(wrapped(f"not raced: {', '.join(names)} ({why})"))
    title = f"{one.problem}: " if many else ""
    say(f"\n{wrapped(title + one.sentence)}\n{wrapped(one.evidence)}")
    say(f"\n{one.code}\n" if one.code else "")
    say(f"{one.seconds:.1f} s; the runs are in {one.results.path}")
