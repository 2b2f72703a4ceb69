"""Stochastic canonical correlations against samples, at five batch sizes.

    python benchmarks/cca_curves.py                          # runs missing cells, prints a table
    python benchmarks/cca_curves.py --picture curves.png     # and the curves
    python benchmarks/cca_curves.py --smoke                  # three small runs

The suite is ``cca-stochastic``: each method has the same number of trials of its step at each batch
size. The table has the missing share of the correlations after each number of pairs, a median over
seeds. It also counts trials of other steps: those that failed with a reason, and those that
wandered. A trial wandered if it ended more than `LOST` above its own minimum, which only the judge
sees.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

sys.path.append(str(Path(__file__).parents[1] / "docs" / "_ext"))
from drawing import draw

import orthobench as ob
from orthobench.contract.panel import Axis, Panel, Series

AT = (1000, 3000, 10_000)
"""Pairs after which the table looks; the last recorded point up to there counts."""

FAILED = ("diverged", "failed", "infeasible")
LOST = 0.05


def reached(runs: Any, pairs: int) -> Any:
    """Return the median over seeds of the missing share after a number of pairs, by solver."""
    last = runs[runs.samples <= pairs].groupby(["solver", "seed"]).suboptimality.last()
    return last.groupby("solver").median()


def rows(frame: Any) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    chosen, tried = frame[frame.chosen], frame[~frame.chosen]
    ends = tried.groupby("key").agg(
        solver=("solver", "first"), status=("status", "first"),
        least=("suboptimality", "min"), last=("suboptimality", "last"),
    )  # fmt: skip
    told = ends.status.isin(FAILED)
    steps = chosen.groupby("solver")["solver.step"].first()
    columns = [reached(chosen, pairs) for pairs in AT]
    heads = " | ".join(f"{pairs:,}" for pairs in AT)
    yield f"| method | batch | step | {heads} | other trials | failed | wandered |"
    yield "|---|" + "---:|" * (len(AT) + 5)
    for solver in sorted(steps.index, key=lambda s: (s.split()[0], int(s.split("=")[1]))):
        own = ends.solver == solver
        wandered = own & ~told & (ends["last"] > ends["least"] + LOST)
        values = " | ".join(f"{column[solver]:.3f}" for column in columns)
        name, batch = solver.split(" batch=")
        yield (
            f"| `{name}` | {batch} | {steps[solver]:g} | {values} | {own.sum()} | "
            f"{(own & told).sum()} | {wandered.sum()} |"
        )


def picture(frame: Any, path: Path) -> None:
    """Draw a panel for each batch size: what is missing against pairs, with its quartiles."""
    chosen = frame[frame.chosen & (frame.samples > 0)]
    x, y = Axis("pairs", "pairs"), Axis("missing", "share of the correlations that is missing")
    panels = []
    for batch, own in chosen.groupby("solver.batch"):
        lines = []
        for name, runs in own.groupby(own.solver.str.split().str[0]):
            low, median, high = quartiles(runs)
            pairs = median.index.to_numpy(float)
            lines.append(
                Series(name, pairs, median.to_numpy(), low.to_numpy(), high.to_numpy(), name)
            )
        panels.append(Panel(x, y, tuple(lines), title=f"batch {batch:g}"))
    draw(
        path,
        "Canonical correlations from a stream",
        panels,
        "medians over seeds, bands: 25 to 75 %",
    )


def quartiles(runs: Any) -> Iterator[Any]:
    """Yield the lower quartile, the median and the upper one of what is missing, by samples."""
    missing = runs.groupby("samples").suboptimality
    return (missing.quantile(part) for part in (0.25, 0.5, 0.75))


def main(arguments: list[str] | None = None) -> int:
    """Run what is left of the suite; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--store", type=Path, default=Path("orthobench-results/cca-curves.sqlite"))
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        solvers = [f"{name} batch=20" for name in ("cca-ey", "sgha", "gamma-eigengame")]
        results = ob.run(
            problems=["planted-correlations"], solvers=solvers, seeds=1,
            budget=ob.Budget(samples=1000), store=options.store,
        )  # fmt: skip
    else:
        results = ob.run("cca-stochastic", store=options.store)
    frame = results.to_pandas()
    for line in rows(frame):
        click.echo(line)
    if options.picture:
        picture(frame, options.picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
