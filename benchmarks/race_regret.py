"""What the winner of a race costs over the best of everything, problem by problem.

    python benchmarks/race_regret.py --within 30            # all problems of the suite race-regret
    python benchmarks/race_regret.py --only "digits*"       # some of them
    python benchmarks/race_regret.py --smoke                # two small ones, in a minute

Each problem is raced, and then all of its configurations are run on all seeds, for so many seconds
each. The regret is the cost of the winner over that of the cheapest configuration that is as good
as the best, by the rule of `orthobench.decide`; a winner that is not as good, or no winner, counts
ten. Each problem is a line of the output file; a second call goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import numpy as np

import orthobench as ob
from orthobench.contract.parameters import values_of
from orthobench.decide.answer import MISS
from orthobench.decide.comparisons import compare
from orthobench.decide.rule import Comparison, Verdict
from orthobench.harness.executors import Limits
from orthobench.harness.stopping import Budget
from orthobench.harness.suite import SuiteProblem
from orthobench.racing.entrants import entry
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load

SMOKE = ("digits k=1", "odeco d=20")
"""The problems of a smoke run."""


def measured(problem: SuiteProblem, options: argparse.Namespace) -> dict[str, Any]:
    """Race on a problem, run everything, and return what the winner loses."""
    folder = options.out.parent / f"{options.out.stem}-{problem.label.replace(' ', '-')}"
    solvers = ("batch-pca", "block-krylov") if options.smoke and "digits" in problem.label else ()
    raced = ob.race(
        problem.problem, within=options.within, solvers=solvers, store=folder / "race.sqlite"
    )
    began = time.monotonic()
    suite = entry(problem.problem, solvers=solvers).suite
    budget = Budget(seconds=options.seconds)
    everything = replace(
        suite,
        problems=tuple(replace(p, budget=budget) for p in suite.problems),
        seeds=suite.seeds[: options.seeds],
    )
    limits = Limits(timeout=3 * options.seconds + 20)
    results = ob.run(everything, folder / "all.sqlite", quiet=True, workers="auto", limits=limits)
    spent = time.monotonic() - began
    (comparison,) = compare(results.entries)
    winner = next((row["configuration"] for row in raced.table if row["verdict"] == "winner"), None)
    return {
        "problem": problem.label,
        "family": problem.problem.family,
        "parameters": values_of(problem.problem),
        "winner": winner,
        "best": comparison.cheapest,
        "regret": regret(winner, comparison),
        "decided": raced.decided,
        "seconds": raced.seconds,
        "everything": spent,
        "configurations": len(suite.solvers),
    }


def regret(winner: str | None, comparison: Comparison) -> float:
    """Return the cost of the winner over that of the best; `MISS` where it is not as good.

    Where seeds leave open whether the winner is as good, its cost to the tolerance tells.
    """
    found = comparison.of(winner) if winner else None
    best = comparison.cheapest
    if found is None or best is None or found.verdict in (Verdict.WORSE, Verdict.FAILED):
        return MISS if best else math.nan
    return min(MISS, max(1.0, found.cost / comparison.of(best).cost))


def summary(rows: list[dict[str, Any]], within: float) -> str:
    """Return the figures over all problems."""
    lost = np.array([row["regret"] for row in rows if row["regret"] == row["regret"]])
    if not len(lost):
        return "nothing is decided anywhere"
    shares = [row["seconds"] / row["everything"] for row in rows]
    return (
        f"{len(lost)} problems: regret {np.exp(np.log(lost).mean()):.3f} (geometric mean), "
        f"{np.quantile(lost, 0.95):.2f} (95 % quantile); {100 * np.median(shares):.0f} % of the "
        f"time of everything (median), longest race {max(r['seconds'] for r in rows):.1f} s of "
        f"{within:g} s"
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure the problems that are left; print a line for each, and the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--within", type=float, default=30.0, help="seconds of a race")
    parser.add_argument("--seconds", type=float, default=10.0, help="budget of each run of all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="*", help="pattern of labels of problems")
    parser.add_argument("--out", type=Path, default=Path("race-regret.jsonl"))
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.within, options.seconds = 10.0, 0.2
    suite = load(catalogue().suite("race-regret"), catalogue())
    done = options.out.read_text().splitlines() if options.out.exists() else []
    rows = [json.loads(line) for line in done]
    known = {row["problem"] for row in rows}
    for problem in suite.problems:
        wanted = (
            problem.label in SMOKE if options.smoke else fnmatchcase(problem.label, options.only)
        )
        if problem.label in known or not wanted:
            continue
        rows.append(measured(problem, options))
        with options.out.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        row = rows[-1]
        click.echo(
            f"{row['problem']}: {row['winner']} (best {row['best']}), regret {row['regret']:.2f}, "
            f"{row['seconds']:.0f} s of {row['everything']:.0f} s"
        )
    click.echo(summary(rows, options.within))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
