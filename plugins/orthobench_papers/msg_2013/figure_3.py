"""Figure 3: suboptimality after one pass over MNIST, and the estimated runtime sum k'²."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel
from orthobench_papers.drawing import band, over_seeds
from orthobench_papers.reproduce import Evidence, Rows, Run
from orthobench_papers.runs import final_ratios, samples_taken, traced

SUITE, KS = "mnist", (1, 4, 8)
INCREMENTAL = "incremental-pca"
OTHERS = ("msg", "capped-msg", "warmuth-kuzmin", "grassmannian-sgd")


AXES = {
    "iterations": Axis("samples", "iterations"),
    "runtime": Axis("runtime", "estimated runtime, sum of k'²"),
}


def problem(k: int) -> str:
    """Return the problem of the suites."""
    return f"mnist k={k}"


def ends_at(
    evidence: Evidence, solvers: tuple[str, ...], other: str, suite: str, ks: tuple[int, ...] = KS
) -> Rows:
    return {
        f"{solver}, k = {k}": final_ratios(
            evidence, suite, problem(k), (solver, other), "suboptimality"
        )
        for solver in solvers
        for k in ks
    }


def runtime(records: Sequence[Run], k: int) -> Array:
    """Return the paper's runtime, the sum of k'² up to each checkpoint, (seeds, checkpoints).

    k' is the size of a sample's eigenproblem (section 6): one more than the rank kept, k + 1 for
    incremental PCA, and k for Grassmannian SGD. By the trapezoidal rule.
    """
    marks = records[0].trace[1:]
    if "rank" in marks[0].metrics:
        sizes = traced(records, "rank") + 1
    else:
        size = k + 1 if records[0].solver.name == INCREMENTAL else k
        sizes = np.full((len(records), len(marks)), float(size))
    steps = np.diff(samples_taken(records), prepend=0.0)
    squares = np.concatenate([sizes[:, :1] ** 2, sizes**2], axis=1)
    found: Array = np.cumsum(steps * (squares[:, 1:] + squares[:, :-1]) / 2, axis=1)
    return found


def costs(evidence: Evidence, solvers: Sequence[str], other: str, ks: tuple[int, ...] = KS) -> Rows:
    def whole(solver: str, k: int) -> Array:
        return runtime(evidence.records(SUITE, problem(k), solver), k)[:, -1]

    return {f"{s}, k = {k}": whole(s, k) / whole(other, k) for s in solvers for k in ks}


def ranks(evidence: Evidence) -> Rows:
    rows = {}
    for k in KS:
        records = evidence.records(SUITE, problem(k), "msg")
        steps = np.diff(samples_taken(records), prepend=0.0)
        rows[f"k = {k}"] = traced(records, "rank") @ steps / steps.sum()
    return rows


def over_batch(evidence: Evidence) -> Rows:
    """Return the flops of an iteration over those of batch PCA."""
    rows = {}
    for k in KS:
        flops, steps = (
            evidence.finals(SUITE, problem(k), "warmuth-kuzmin", count)
            for count in ("flops", "steps")
        )
        batch = evidence.finals(SUITE, problem(k), "batch-pca", "flops")
        rows[f"k = {k}"] = flops / steps / batch
    return rows


def draw(evidence: Evidence) -> dict[str, Panel]:
    return {f"{x}, k={k}": _panel(evidence, x, k) for x in AXES for k in KS}


def _panel(evidence: Evidence, axis: str, k: int) -> Panel:
    lines = []
    for solver in (INCREMENTAL, *OTHERS):
        records = evidence.records(SUITE, problem(k), solver)
        x = samples_taken(records)
        if axis == "runtime":
            x = np.median(runtime(records, k), axis=0)
        lines.append(over_seeds(solver, x, traced(records, "suboptimality").T))
    y = Axis("suboptimality", f"suboptimality, k={k}")
    return Panel(AXES[axis], y, tuple(lines), band=band(len(records)))
