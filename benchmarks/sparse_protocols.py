"""Whether the answer for sparse PCA depends on what says how many loadings there are.

    python benchmarks/sparse_protocols.py            # seven problems of the map, three protocols
    python benchmarks/sparse_protocols.py --smoke    # one problem

``penalty``: solvers race with the grids of their penalties, and what has a density of at most 0.05
counts. ``each``: problems ask for that number of loadings of each component, ``in all``: of all
together; penalties are found by bisection, which is on the clock. A solver stands at the best of
its configurations: as good as the best by the rule of `orthobench.decide`, and its cost over that
of the cheapest there, a geometric mean over problems in which a miss counts ten.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from orthobench.decide.answer import MISS, answer
from orthobench.decide.comparisons import compare
from orthobench.decide.rule import Comparison
from orthobench.racing.entrants import entry
from orthobench.racing.grid import FINALISTS, SEEDS
from orthobench.racing.halving import Rules
from orthobench.racing.race import run
from orthobench.registry.plugins import catalogue

PLANTED = "planted-sparse"
PROBLEMS: tuple[tuple[str, dict[str, Any], int], ...] = (
    (PLANTED, {"d": 120, "samples": 100}, 6),
    (PLANTED, {"d": 120, "samples": 1000}, 6),
    (PLANTED, {"d": 400, "samples": 100}, 20),
    (PLANTED, {"d": 400, "samples": 100, "overlap": 4}, 20),
    (PLANTED, {"d": 400, "samples": 1000}, 20),
    (PLANTED, {"d": 2000, "samples": 100}, 100),
    ("digits-sparse", {"m": 2}, 3),
)
"""Problems of the map, and the loadings of a component at a density of 0.05."""

PROTOCOLS = ("penalty", "each", "in all")
COSTS = ("seconds", "flops")
LISTED = 5


def asked(protocol: str, given: dict[str, Any], loadings: int) -> dict[str, Any]:
    """Return the parameters of a problem under a protocol."""
    if protocol == "penalty":
        return given
    if protocol == "each":
        return {**given, "cardinality": loadings}
    return {**given, "cardinality": loadings * given.get("m", 5), "each": False}


def raced(problem: Any, seconds: float, folder: Path) -> Any:
    """Return the results of a race, of which what is stored is not run again."""
    known = entry(problem)
    rules = Rules(known.order, seconds, factor=MISS, finalists=FINALISTS, seeds=SEEDS)
    return run(known, rules, store=folder / f"{known.suite.name}.sqlite").results


def standings(comparisons: Sequence[Comparison]) -> list[tuple[float, str, int]]:
    """Return mean factor, solver, and problems where it is as good, the least factor first."""
    best = [
        {name: min(d.factor for d in c.as_good if d.name == name) for name in names}
        for c in comparisons
        if (names := {d.name for d in c.as_good})
    ]
    solvers = {name for own in best for name in own}
    found = []
    for name in solvers:
        logs = [math.log(min(MISS, own.get(name, MISS))) for own in best]
        found.append((math.exp(sum(logs) / len(logs)), name, sum(name in own for own in best)))
    return sorted(found)


def main(arguments: list[str] | None = None) -> int:
    """Race on each problem under each protocol; print the standings of solvers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--within", type=float, default=15.0, help="seconds of a race")
    parser.add_argument("--out", type=Path, default=Path("orthobench-results/sparse-protocols"))
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    for protocol in PROTOCOLS:
        stored = []
        for name, given, loadings in PROBLEMS[:1] if options.smoke else PROBLEMS:
            problem = catalogue().problem(name, asked(protocol, given, loadings))
            seconds = 2.0 if options.smoke else options.within
            stored += raced(problem, seconds, options.out).entries
        for cost in COSTS:
            comparisons = compare(stored, cost)
            click.echo(f"{protocol}, by {cost}: {answer(comparisons).sentence}")
            for factor, solver, good in standings(comparisons)[:LISTED]:
                click.echo(f"  {solver:28} {good} of {len(comparisons)}  {factor:5.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
