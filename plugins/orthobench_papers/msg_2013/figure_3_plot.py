"""The six plots of Figure 3."""

from __future__ import annotations

from functools import partial

import numpy as np

from orthobench.contract import Axis, Panel, Plot
from orthobench.reproduce import Evidence, Picture, spread_name
from orthobench_papers.msg_2013.figure_3 import DATA, KS, OTHERS, SUITE, problem
from orthobench_papers.msg_2013.runs import line, runtime, samples, traced

SOLVERS = ("incremental-pca", *OTHERS)
AXES = {
    "iterations": Axis("samples", "iterations"),
    "runtime": Axis("runtime", "estimated runtime, sum of k'²"),
}


def plot(evidence: Evidence) -> Plot:
    """Return the plots of Figure 3: against iterations above, against estimated runtime below."""
    ks = tuple(f"k={k}" for k in KS)
    return Plot(
        "Figure 3: MNIST",
        "figure",
        {"x": tuple(AXES), "k": ks},
        partial(_panel, evidence),
        sheet=tuple((x, k) for x in AXES for k in ks),
        about=("10,000 images in place of 70,000", "medians over random splits, on the test part"),
    )


def _panel(evidence: Evidence, key: tuple[str, ...]) -> Panel:
    axis, k = key[0], int(key[1].removeprefix("k="))
    lines = []
    for solver in SOLVERS:
        records = evidence.records(SUITE, problem(k), solver)
        x = samples(records)
        if axis == "runtime":
            x = np.median(runtime(records, k), axis=0)
        lines.append(line(solver, x, traced(records, "suboptimality")))
    y = Axis("suboptimality", f"suboptimality, {key[1]}")
    return Panel(AXES[axis], y, tuple(lines), band=spread_name(len(records)))


PICTURE = Picture(
    "figure-3",
    "Figure 3",
    "One pass over 4,000 images of MNIST for k = 1, 4 and 8, against iterations (above) and "
    "against the estimated runtime (below): MSG and Warmuth and Kuzmin's algorithm get furthest "
    "with the samples, incremental PCA and capped MSG with the runtime.",
    plot,
    DATA,
)
