"""What the winner of a race costs over the best of everything, problem by problem.

    python benchmarks/race_regret.py --within 30            # all problems of the suite race-regret
    python benchmarks/race_regret.py --only "digits*"       # some of them
    python benchmarks/race_regret.py --smoke                # two small ones, in a minute

Each problem is raced. Then all of its configurations run, for ten times the seconds of the leader,
and the best ten of them on fresh seeds. The regret is the cost of the winner over that of the
cheapest configuration that is as good as the best, by the rule of `orthobench.decide`; a winner
that is not as good, or no winner, counts ten. Everything would be all configurations on all seeds,
each for the mean time of those runs, of which the finalists' are the short ones. Each problem is a
line of the output file; a second call goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import json
import math
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
from orthobench.harness.suite import SuiteProblem
from orthobench.racing.entrants import entry
from orthobench.racing.grid import FINALISTS, SEEDS
from orthobench.racing.halving import Rules
from orthobench.racing.race import run
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load

SMOKE = ("digits k=1", "odeco d=20")
"""The problems of a smoke run."""


OUT = Verdict.WORSE, Verdict.FAILED, Verdict.ABSENT
"""How solvers stand that are not good enough."""


def measured(problem: SuiteProblem, options: argparse.Namespace) -> dict[str, Any]:
    """Race on a problem, run everything, and return what the winner loses."""
    folder = options.out.parent / f"{options.out.stem}-{problem.label.replace(' ', '-')}"
    solvers = ("batch-pca", "block-krylov") if options.smoke and "digits" in problem.label else ()
    raced = ob.race(
        problem.problem, within=options.within, solvers=solvers, store=folder / "race.sqlite"
    )
    known = entry(problem.problem, solvers=solvers)
    rules = Rules(known.order, options.seconds, factor=MISS, finalists=FINALISTS, seeds=SEEDS)
    capped = run(known, rules, store=folder / "all.sqlite")
    results = capped.results
    each = capped.seconds / len(results.records)
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
        "everything": SEEDS * len(known.order) * each,
        "configurations": len(known.order),
    }


def regret(winner: str | None, comparison: Comparison) -> float:
    """Return the cost of the winner over that of the best; `MISS` where it is not as good.

    Where seeds leave open whether a solver is as good, its cost to the tolerance tells.
    """
    able = [d for d in comparison.decisions if d.verdict not in OUT and d.cost < math.inf]
    best = min((d.cost for d in comparison.as_good or able), default=math.nan)
    cost = next((d.cost for d in able if d.solver == winner), math.inf)
    return min(MISS, max(1.0, cost / best)) if best == best else math.nan


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
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds of all capped runs")
    parser.add_argument("--only", default="*", help="pattern of labels of problems")
    parser.add_argument("--out", type=Path, default=Path("race-regret.jsonl"))
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.within, options.seconds = 10.0, 5.0
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
