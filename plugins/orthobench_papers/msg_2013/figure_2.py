"""Figure 2: all methods on the same samples of the orthogonal distribution."""

from __future__ import annotations

from orthobench.contract.panel import Axis, Panel, Plot
from orthobench_papers.drawing import band, over_seeds, side_by_side
from orthobench_papers.msg_2013.orthogonal import DIMENSION, half_gap, probabilities
from orthobench_papers.reproduce import (
    Evidence,
    Measurement,
    average,
    median_within,
    ratio_within,
    share_within,
)
from orthobench_papers.runs import for_each_k, samples_taken, traced

SUITE = "figure-2"
KS = (1, 2, 4)
INCREMENTAL = ("incremental-pca ties=old", "incremental-pca ties=new")
OTHERS = ("msg", "warmuth-kuzmin", "capped-msg")
SIMILAR = 1.5
"""Maximum ratio of two similar numbers."""


def problem(k: int) -> str:
    """Return the problem of the suite."""
    return f"orthogonal-distribution k={k}"


def incremental_ends(evidence: Evidence, ks: tuple[int, ...], stuck: bool) -> Measurement:
    rows = {}
    for solver in INCREMENTAL:
        gaps = {k: evidence.finals(SUITE, problem(k), solver, "suboptimality") for k in ks}
        hits = [[bool(gap > half_gap(k)) == stuck for gap in gaps[k]] for k in ks]
        rows[solver] = [share_within(of_k, 0.5, 1.0) for of_k in hits]
    what = "share of runs that end stuck" if stuck else "share of runs that end at the optimum"
    return for_each_k(what, ks, rows)


def others_converge(evidence: Evidence) -> Measurement:
    rows: dict[str, list[Measurement]] = {solver: [] for solver in OTHERS}
    for solver, row in rows.items():
        for k in KS:
            random = probabilities()[:k].sum() - k / DIMENSION
            ends = evidence.finals(SUITE, problem(k), solver, "suboptimality")
            row.append(median_within(ends / random, -1e-12, 0.1))
    return for_each_k("suboptimality over that of a random subspace", KS, rows)


def others_similar(evidence: Evidence) -> Measurement:
    row = _areas(evidence, "warmuth-kuzmin", "msg", 1 / SIMILAR)
    return for_each_k("average suboptimality over the run, W&K / MSG,", KS, {"": row})


def capped_behind(evidence: Evidence) -> Measurement:
    rows = {other: _areas(evidence, "capped-msg", other, 0.0) for other in OTHERS[:2]}
    return for_each_k("average suboptimality over the run, capped MSG / others,", KS, rows)


def _areas(evidence: Evidence, a: str, b: str, low: float) -> list[Measurement]:
    def area(solver: str, k: int) -> list[float]:
        records = evidence.records(SUITE, problem(k), solver)
        return [average(record, "suboptimality") for record in records]

    return [ratio_within(area(a, k), area(b, k), low, SIMILAR) for k in KS]


def draw(evidence: Evidence) -> Plot:
    panels = {f"k={k}": _panel(evidence, k) for k in KS}
    about = ("the paper shows single runs",)
    return side_by_side("Figure 2: the orthogonal distribution", panels, about)


def _panel(evidence: Evidence, k: int) -> Panel:
    lines = []
    for solver in (*INCREMENTAL[:1], *OTHERS):
        records = evidence.records(SUITE, problem(k), solver)
        values = traced(records, "suboptimality").T
        lines.append(over_seeds(solver, samples_taken(records), values))
    x = Axis("samples", "iterations")
    y = Axis("suboptimality", f"suboptimality, k={k}", log=False)
    return Panel(x, y, tuple(lines), band=band(len(records)))
