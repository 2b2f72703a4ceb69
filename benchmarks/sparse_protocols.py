"""Whether the answer for sparse PCA depends on how the number of loadings is chosen.

    python benchmarks/sparse_protocols.py            # four problems of the map, three protocols
    python benchmarks/sparse_protocols.py --smoke    # a small one

``penalty``: each solver runs at all points of its grid, and results with a density of at most 0.05
count. ``each``: problems ask for that number of loadings of each component; ``in all``: of all
together. Penalties are found by bisection, and each of its runs counts. A solver stands at the best
of its configurations. It is good if the median over seeds is within 1 % of the gap between nothing
explained and the best of all. Costs are over those of the cheapest good solver: a geometric mean
over problems, in which a miss counts ten.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any, NamedTuple

import click
import numpy as np

from orthobench.contract import Status
from orthobench.decide.answer import MISS
from orthobench.decide.rule import TOLERANCE
from orthobench.errors import OrthobenchError
from orthobench.racing.entrants import entrants_on
from orthobench.registry.plugins import catalogue
from orthobench.tools.environment import limited

PLANTED = "planted-sparse"
PROBLEMS: tuple[tuple[str, dict[str, Any], int], ...] = (
    (PLANTED, {"d": 120, "samples": 100}, 6),
    (PLANTED, {"d": 400, "samples": 100}, 20),
    (PLANTED, {"d": 400, "samples": 100, "overlap": 4}, 20),
    ("digits-sparse", {"m": 2}, 3),
)
"""Problems of the map, and the loadings of a component at a density of 0.05."""
SMOKE = ((PLANTED, {"d": 40, "samples": 30, "m": 2, "nonzeros": 4}, 2),)

PROTOCOLS = ("penalty", "each", "in all")
COSTS = ("seconds", "flops")
LEFT_OUT = ("sklearn-sparse-pca", "sklearn-minibatch-sparse-pca", "sparse-pca-exact")
"""A hundred times as expensive as the others, or endless with several components that are alike."""
SEEDS, STEPS = 2, 2000


class Run(NamedTuple):
    """The unexplained share of a configuration, and its costs, medians over seeds."""

    solver: str
    left: float
    seconds: float
    flops: float


def asked(protocol: str, given: dict[str, Any], loadings: int) -> dict[str, Any]:
    """Return the parameters of a problem under a protocol."""
    if protocol == "penalty":
        return given
    if protocol == "each":
        return {**given, "cardinality": loadings}
    return {**given, "cardinality": loadings * given.get("m", 5), "each": False}


def measured(problem: Any) -> Iterator[Run]:
    """Yield a run of each configuration that delivers on every seed."""
    ((metric, most),) = ((name, levels[0]) for name, levels in problem.at.items())
    for one in entrants_on(problem).suite.solvers:
        if one.solver.name in LEFT_OUT:
            continue
        found = [once(one.solver, problem, metric, most, seed) for seed in range(SEEDS)]
        if None not in found:
            yield Run(one.solver.name, *np.median(np.array(found, dtype=float), axis=0))


def once(solver: Any, problem: Any, metric: str, most: float, seed: int) -> Any:
    """Return what is left unexplained, CPU seconds and flops; None if it does not deliver."""
    instance = problem.build(np.random.default_rng(seed))
    oracle = instance.oracle
    oracle.start = np.zeros((oracle.n, oracle.k))
    oracle.rewind(np.random.default_rng(seed))
    oracle.prepare(oracle.samples)
    begin = process_time()
    try:
        state = solver.init(oracle, np.random.default_rng(seed))
        while state.status is Status.RUNNING and state.work.steps < STEPS:
            if oracle.taken and not oracle.remaining():
                break
            solver.advance(oracle, state, 1)
        metrics = instance.measure(solver.solution(state))
    except OrthobenchError:
        return None
    spent = process_time() - begin
    if state.status is Status.FAILED or metrics[metric] > most:
        return None
    return metrics["unexplained_variance"], spent, state.work.flops


def factors(runs: Sequence[Run], cost: str) -> dict[str, float]:
    """Return the cost of each solver that is good over that of the cheapest."""
    best = min(run.left for run in runs)
    good = [run for run in runs if run.left <= best + TOLERANCE * (1 - best)]
    costs: dict[str, float] = {}
    for run in good:
        costs[run.solver] = min(getattr(run, cost), costs.get(run.solver, math.inf))
    return {solver: spent / min(costs.values()) for solver, spent in costs.items()}


def standings(each: Sequence[dict[str, float]]) -> Iterator[str]:
    """Yield a line for each solver: problems on which it is good, and its mean factor."""
    solvers = {solver for own in each for solver in own}

    def mean(solver: str) -> float:
        logs = [math.log(min(MISS, own.get(solver, MISS))) for own in each]
        return math.exp(sum(logs) / len(logs))

    for solver in sorted(solvers, key=mean):
        good = sum(solver in own for own in each)
        yield f"  {solver:30} good on {good} of {len(each)}, cost {mean(solver):5.2f}"


def main(arguments: list[str] | None = None) -> int:
    """Run everything; print how solvers stand under each protocol and cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    with limited(1):
        for protocol in PROTOCOLS:
            problems = [
                catalogue().problem(name, asked(protocol, given, loadings))
                for name, given, loadings in (SMOKE if options.smoke else PROBLEMS)
            ]
            runs = [list(measured(problem)) for problem in problems]
            for cost in COSTS:
                click.echo(f"{protocol}, by {cost}:")
                for line in standings([factors(own, cost) for own in runs if own]):
                    click.echo(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
