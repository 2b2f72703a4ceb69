"""The commands ``orthobench map`` and ``atlas``, which make an atlas, and ``advise``."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from pathlib import Path

import click

from orthobench.cli.options import AS_JSON, FILE, FOLDER, PATH, QUIET, Installed, size
from orthobench.cli.printing import print_json, say, status_line, wrapped
from orthobench.cli.racing import seconds

NEXT = """
orthobench advise FAMILY tells more of one, and
orthobench advise -p "npy-stochastic-pca path=X.npy k=8" is about your data"""


@click.command()
@click.argument("stores", nargs=-1, required=True, type=PATH)
@click.option(
    "-o",
    "--out",
    required=True,
    type=FOLDER,
    help="Folder of the site, new or empty, or a site to replace.",
)
@QUIET
def atlas(stores: tuple[Path, ...], out: Path, quiet: bool) -> None:
    """Write the site "Which method should I use?" from STORES.

    It says for each family what to use, with the evidence, in static files that need no network.
    Results of one suite may be in several stores: solvers are compared with each other there.
    OUT/atlas.parquet has a row for each run, and is what `orthobench advise` reads.
    """
    from orthobench.atlas.site import build

    with status_line(quiet) as tell:
        tell("reading the stores, and building each problem once")
        page = build(stores, out)
    say(page)
    say("next: open it in a browser; orthobench advise --atlas asks its atlas.parquet")


@click.command("map")
@click.argument("parts", nargs=-1)
@click.option(
    "--within",
    type=seconds,
    default="4h",
    show_default=True,
    metavar="TIME",
    help="No race begins after it.",
)
@click.option(
    "--store",
    type=FOLDER,
    default=Path("orthobench-results/map"),
    show_default=True,
    help="Folder of the runs.",
)
@QUIET
def measure_map(parts: tuple[str, ...], within: float, store: Path, quiet: bool) -> None:
    """Measure the map: a race on each problem of a grid of sizes, from milliseconds to seconds.

    PARTS are families, all if none is named. Each race is stored, and only what is not there yet
    is run, or what changed since in its code: a map can be made in pieces, and brought up to date.
    """
    from orthobench.racing import grid
    from orthobench.tools.formatting import plural

    some = grid.points(parts, store)
    left = grid.measure(some, within, tell=None if quiet else say)
    if left:
        say(f"{plural(left, 'point')} of {len(some)} left: the same command goes on")
        return
    say(f"{plural(len(some), 'point')} measured; to draw the map:")
    say(f"orthobench atlas {shlex.quote(str(store))}/*/*.sqlite --out site")


@click.command()
@click.argument("about", required=False, type=Installed("families", "problems"))
@click.option(
    "-p",
    "--problem",
    type=Installed("problems"),
    metavar="SPEC",
    help='Your data, as a problem: "NAME key=value ...".',
)
@click.option(
    "--cost",
    type=click.Choice(["seconds", "samples", "flops"]),
    default="seconds",
    help="What is to be least.",
)
@click.option(
    "--tolerance",
    type=float,
    default=0.01,
    help="Part of the gap that counts as good: 0.01 or 1e-6.",
)
@click.option(
    "--memory",
    type=size,
    metavar="SIZE",
    help="With -p: the most that the method may take beside the data, as 2GB.",
)
@click.option(
    "--atlas",
    "file",
    type=FILE,
    help="File of `orthobench atlas`.  [default: the one in the package]",
)
@AS_JSON
def advise(about: str | None, problem: str | None, cost: str, tolerance: float, memory: int | None,
           file: Path | None, as_json: bool) -> None:  # fmt: skip
    """Say which method to use, from measurements that are there already; nothing is run.

    ABOUT is a family or a problem of the atlas. With -p the data of a problem are measured (rows,
    dimension, decay of the spectrum, noise), and the problems of the atlas answer, those that are
    like them with more weight. Without either, there is a line for each family.
    """
    if about and problem:
        raise click.UsageError("name a family or problem of the atlas, or -p with your data")
    if memory and not problem:
        raise click.UsageError("--memory is for your data: name them by -p")
    from orthobench.atlas import advice, answers

    table = answers.opened(file)
    if problem:
        own = advice.advise(problem, cost, tolerance, table, memory=memory or math.inf)
        lines = [own.sentence, f"Like: {', '.join(own.near)}", f"Check it: {own.check}"]
        print_json(own) if as_json else _print(lines)
        return
    kinds, named = answers.find(table, about) if about else (list(table.kinds), "")
    if named:
        one = advice.on_problem(table, named, cost, tolerance)
        print_json(one) if as_json else _print(str(one).splitlines())
    elif as_json:
        print_json(answers.facts(table, kinds))
    elif about:
        _print(answers.of_family(table, kinds))
    else:
        _print(answers.overview(table))
        say(NEXT)


def _print(lines: Iterable[str]) -> None:
    """Print lines as wide as the terminal; those that are commands stay whole."""
    for line in lines:
        indent = len(line) - len(line.lstrip()) + 4
        say(line if "orthobench race" in line else wrapped(line, indent))
