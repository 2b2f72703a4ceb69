"""Passes over blocks on many workers, simulated, and measured on this machine.

python docs/_ext/scaling.py table      the table of docs/guide/internet-scale.md
python docs/_ext/scaling.py check      its table of simulated against measured passes
python docs/_ext/scaling.py figure     docs/pictures/internet-scale.png
python docs/_ext/scaling.py measure    RUNS and MERGES anew; needs two idle cores
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from drawing import draw
from orthobench_kit.sources import ArraySource
from orthobench_tucker import MomentStream
from reduction_times import Costs, MeasuredPass, PassTime, fitted, simulated

from orthobench.contract import BlockOracle, SampleOracle, random_point
from orthobench.contract.panel import Axis, Panel, Series
from orthobench.harness.execution import Execution
from orthobench.harness.identity import Streams
from orthobench.harness.placement import WORKER_SECONDS
from orthobench.harness.stopping import Budget
from orthobench.registry.plugins import catalogue
from orthobench.tools.environment import limited

PICTURE = Path(__file__).parents[1] / "pictures" / "internet-scale.png"

FEATURES, K, ORDER, BLOCK = 512, 10, 3, 2048
"""The samples, in float32; directions sought; order of the moment; samples in a block."""

LATENCY, BANDWIDTH, SCHEDULER = 1e-3, 1e9, 1e-3
"""Assumed: seconds and bytes a second between two workers, and seconds a task of the scheduler."""

DISK = 1e8
"""Assumed: bytes a second that a worker reads."""

SAMPLES = (10**9, 10**10, 10**11, 10**12)
WORKERS = (10, 100, 1000, 10_000)

BYTES = {
    "batch-pca": 4 * FEATURES * (FEATURES + 1),
    "frequent-directions": 8 * 49 * FEATURES,
    "khatri-rao-sketch": 8 * (K + 10) * FEATURES,
}
"""Bytes of a summary."""

MERGES = {"batch-pca": 8.9e-5, "frequent-directions": 1.25e-3, "khatri-rao-sketch": 1.1e-5}
"""Measured: seconds of a merge."""

MEASURED = {
    "batch-pca": (
        (32, 1, 1.89, 0.966), (32, 2, 1.44, 0.837), (32, 4, 2.27, 1.73),
        (128, 1, 4.16, 3.05), (128, 2, 3.92, 4.53), (128, 4, 4.54, 7.34),
    ),
    "frequent-directions": (
        (32, 1, 3.54, 2.66), (32, 2, 2.34, 2.73), (32, 4, 2.85, 5.15),
        (128, 1, 15.6, 14.8), (128, 2, 10.8, 18.2), (128, 4, 9.86, 26.6),
    ),
    "khatri-rao-sketch": (
        (32, 1, 0.759, 0.195), (32, 2, 0.832, 0.262), (32, 4, 1.28, 0.396),
        (128, 1, 1.05, 0.638), (128, 2, 1.03, 0.918), (128, 4, 1.91, 2.27),
    ),
}  # fmt: skip
"""Measured: blocks, workers, seconds on the clock and worker-seconds of passes on `CORES` cores."""

CORES = 2

RUNS = {
    solver: [MeasuredPass(blocks, workers, CORES, *rest) for blocks, workers, *rest in runs]
    for solver, runs in MEASURED.items()
}


@cache
def costs(solver: str) -> Costs:
    """Return the costs of a solver on this machine: fitted to the runs on 1 and 2 workers."""
    known = Costs(0.0, MERGES[solver], BYTES[solver], LATENCY, BANDWIDTH)
    return fitted([run for run in RUNS[solver] if run.workers < 4], known)


def pass_over(solver: str, samples: int, workers: int) -> PassTime:
    """Return the cost of a pass over a number of samples on a cluster."""
    elsewhere = replace(costs(solver), scheduler=SCHEDULER)
    return simulated(elsewhere, -(-samples // BLOCK), workers)


def table() -> Iterator[str]:
    """Yield the lines of the table of wall times and efficiencies, in Markdown."""
    yield "| samples | workers | reading alone | " + " | ".join(BYTES) + " |"
    yield "|---|---|---|" + "---|" * len(BYTES)
    for samples in SAMPLES:
        for workers in WORKERS:
            reading = 4 * FEATURES * samples / (DISK * workers)
            cells = [_cell(pass_over(solver, samples, workers)) for solver in BYTES]
            power = f"10^{len(str(samples)) - 1}"
            yield f"| {power} | {workers:,} | {duration(reading)} | " + " | ".join(cells) + " |"


def check() -> Iterator[str]:
    """Yield the lines of the table of simulated against measured passes, in Markdown."""
    yield "| solver | samples | workers | measured | simulated |"
    yield "|---|---|---|---|---|"
    for solver, runs in RUNS.items():
        for run in runs:
            found = simulated(costs(solver), run.blocks, run.workers, run.cores).wall_seconds
            size = f"{run.blocks * BLOCK:,} | {run.workers}"
            yield f"| {solver} | {size} | {run.wall_seconds:.2f} s | {found:.2f} s |"


def duration(seconds: float) -> str:
    """Return a time for people: ``"12 min"``."""
    for unit, size in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def figure() -> None:
    """Draw efficiency against workers."""
    workers = np.unique(np.geomspace(1, WORKERS[-1], 60).astype(int))
    x, y = Axis("workers", "workers"), Axis("efficiency", "efficiency", log=False)
    panels = []
    for solver in BYTES:
        lines = []
        for samples in SAMPLES:
            found = [pass_over(solver, samples, int(count)).efficiency for count in workers]
            name = f"10^{len(str(samples)) - 1} samples"
            lines.append(Series(name, workers.astype(float), np.array(found), solver=name))
        panels.append(Panel(x, y, (*lines,), title=solver))
    draw(PICTURE, "Efficiency of a pass, simulated", panels)


def measured(solver: str, source: ArraySource, workers: int, rounds: int = 3) -> MeasuredPass:
    """Return the fastest of a few passes on workers of this machine."""
    cores = len(os.sched_getaffinity(0))
    made: Any = catalogue().solver(solver, {"on": f"dask:{workers}"})
    runs = []
    for _ in range(rounds):
        run = Execution(
            _oracle(solver, source),
            made,
            Budget(),
            Streams.of("scaling", solver, 0),
        )
        try:
            run.advance(1)
            apart = run.read()[0].extra_metrics
        finally:
            run.close()
        runs.append(MeasuredPass(source.count, workers, cores, run.seconds, apart[WORKER_SECONDS]))
    return min(runs, key=lambda run: run.wall_seconds)


def merge_seconds(solver: str, source: ArraySource) -> float:
    """Return the seconds of a merge."""
    made: Any = catalogue().solver(solver, {})
    oracle = _oracle(solver, source)
    shared = BlockOracle(oracle.sizes, oracle.start, source.length, np.random.SeedSequence(0))
    with limited(1):
        summary, spent = made.summarize(shared, source.block(0)), []
        for _ in range(30):
            begin = perf_counter()
            made.merge(summary, summary)
            spent.append(perf_counter() - begin)
    return median(spent)


def in_file(rows: int, folder: Path) -> ArraySource:
    """Return a source of samples in a file."""
    path = folder / f"{rows}.npy"
    file = np.lib.format.open_memmap(path, "w+", np.float32, (rows, FEATURES))
    for begin in range(0, rows, BLOCK):
        rng = np.random.default_rng(begin)
        part = file[begin : begin + BLOCK]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    file.flush()
    return ArraySource(np.load(path, mmap_mode="r"))


def measure() -> Iterator[str]:
    """Yield the lines of `MERGES` and `MEASURED` on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [in_file(rows, Path(folder)) for rows in (2**16, 2**18)]
        for solver in BYTES:
            yield f"{solver}: a merge {merge_seconds(solver, sources[0]):.3g} s"
            for source in sources:
                for workers in (1, 2, 4):
                    run = measured(solver, source, workers)
                    seconds = f"{run.wall_seconds:.3g}, {run.worker_seconds:.3g}"
                    yield f"    ({run.blocks}, {run.workers}, {seconds}),"


def _oracle(solver: str, source: ArraySource) -> Any:
    tucker = solver == "khatri-rao-sketch"
    oracle = MomentStream(source, ORDER, K) if tucker else SampleOracle(source, K)
    oracle.start = random_point(FEATURES, K, np.random.default_rng(0))
    return oracle


def _cell(found: PassTime) -> str:
    return f"{duration(found.wall_seconds)} ({100 * found.efficiency:.0f} %)"


def main(words: Sequence[str]) -> None:
    """Print what the command line asks for, or draw it."""
    if words == ["figure"]:
        figure()
        return
    asked = {"table": table, "check": check, "measure": measure}
    for line in asked[words[0]]() if words and words[0] in asked else [__doc__ or ""]:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
