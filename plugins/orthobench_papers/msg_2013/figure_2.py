"""Figure 2: all methods on the same samples of the orthogonal distribution."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel
from orthobench_papers.drawing import along_runs
from orthobench_papers.msg_2013.orthogonal import DIMENSION, half_gap, probabilities
from orthobench_papers.reproduce import Evidence, Rows, average

SUITE = "figure-2"
KS = (1, 2, 4)
INCREMENTAL = ("incremental-pca ties=old", "incremental-pca ties=new")
OTHERS = ("msg", "warmuth-kuzmin", "capped-msg")


def problem(k: int) -> str:
    """Return the problem of the suite."""
    return f"orthogonal-distribution k={k}"


def incremental_ends(evidence: Evidence, ks: tuple[int, ...], stuck: bool) -> Rows:
    rows = {}
    for solver in INCREMENTAL:
        for k in ks:
            gaps = evidence.finals(SUITE, problem(k), solver, "suboptimality")
            rows[f"{solver}, k = {k}"] = (gaps > half_gap(k)) == stuck
    return rows


def others_converge(evidence: Evidence) -> Rows:
    rows = {}
    for solver in OTHERS:
        for k in KS:
            random = probabilities()[:k].sum() - k / DIMENSION
            ends = evidence.finals(SUITE, problem(k), solver, "suboptimality")
            rows[f"{solver}, k = {k}"] = ends / random
    return rows


def areas(evidence: Evidence, solver: str, others: tuple[str, ...]) -> Rows:
    """Return average suboptimalities over the run, over those of others."""

    def area(name: str, k: int) -> Array:
        records = evidence.records(SUITE, problem(k), name)
        return np.array([average(record, "suboptimality") for record in records])

    return {f"{other}, k = {k}": area(solver, k) / area(other, k) for other in others for k in KS}


def draw(evidence: Evidence) -> dict[str, Panel]:
    return {f"k={k}": _panel(evidence, k) for k in KS}


def _panel(evidence: Evidence, k: int) -> Panel:
    solvers = (*INCREMENTAL[:1], *OTHERS)
    runs = {solver: evidence.records(SUITE, problem(k), solver) for solver in solvers}
    y = Axis("suboptimality", f"suboptimality, k={k}", log=False)
    return along_runs(Axis("samples", "iterations"), y, runs)
