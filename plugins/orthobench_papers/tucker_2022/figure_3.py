"""Figure 3: streaming compared with all samples at once."""

from __future__ import annotations

from math import sqrt

import numpy as np

from orthobench.contract import Array
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.drawing import along, band
from orthobench_papers.reproduce import Evidence, Measurement, median_within, together
from orthobench_papers.runs import timed

PAPER = sqrt(2)
"""The paper's error |QQ' - Q*Q*'| over the judge's, |(I - QQ')Q*|."""

NEGLIGIBLE = 0.1
"""Maximum ratio to the time of all samples that is nearly negligible."""

RANK = 5

POOL, ALL, PCA = "nig-factor", "figure-3-full", ("figure-3-pca", "batch-pca")

STREAMS = {
    "a": ("figure-3a", {f"shoevd b={b}": f"shoevd batch={b} step=1" for b in (20, 50, 100)}),
    "b": ("figure-3b", {f"spgd b={b}": f"spgd batch={b}" for b in (50, 100)}),
}
"""The suite and the solvers of each part, by name."""

WHOLE = {"a": ("hoevd full", "hoevd"), "b": ("spgd full", "pgd")}
"""The suite of all samples in each part, and its solver."""

PRINTED = "shoevd step=0.05"
"""The solver with the printed step size."""

TITLES = {"a": "(a) Phase I, HOEVD", "b": "(b) both phases"}


def errors(evidence: Evidence, suite: str, solver: str) -> Array:
    """Return the paper's subspace errors at the end, seed by seed."""
    return PAPER * evidence.finals(suite, POOL, solver, "subspace_error")


def loss(evidence: Evidence, part: str) -> tuple[Array, dict[str, str]]:
    """Return the error of the stream with the largest batches over that of all samples."""
    (suite, solvers), (full, solver) = STREAMS[part], WHOLE[part]
    found = {name: errors(evidence, suite, stream) for name, stream in solvers.items()}
    whole = errors(evidence, ALL, solver)
    medians = [f"{np.median(v):.3f} ({name})" for name, v in {**found, full: whole}.items()]
    last = [*found][-1]
    return found[last] / np.median(whole), {"last": last, "medians": ", ".join(medians)}


def seconds(evidence: Evidence) -> Measurement:
    found = []
    for part, (suite, solvers) in STREAMS.items():
        full, solver = WHOLE[part]
        whole = evidence.finals(ALL, POOL, solver, "seconds")
        for name, stream in solvers.items():
            streamed = evidence.finals(suite, POOL, stream, "seconds")
            text = f"{name} / {full}, seconds"
            places = ((ALL, solver), (suite, stream))
            runs = [run for where, who in places for run in evidence.records(where, POOL, who)]
            ratios = streamed / np.median(whole)
            found.append(timed(median_within(ratios, 0, NEGLIGIBLE, text), runs))
    return together(found)


def printed_step(evidence: Evidence) -> tuple[Array, dict[str, float]]:
    found = errors(evidence, "figure-3a", PRINTED)
    whole = errors(evidence, ALL, "hoevd")
    return found / np.median(whole), {"median": np.median(found), "largest": sqrt(2 * RANK)}


def covariance(evidence: Evidence) -> tuple[Array, dict[str, float]]:
    pca = np.median(errors(evidence, *PCA))
    return errors(evidence, ALL, "hoevd") / pca, {"pca": pca}


def phases(evidence: Evidence) -> tuple[Array, dict[str, float]]:
    whole = errors(evidence, ALL, "pgd")
    records = evidence.records(ALL, POOL, "pgd")
    start = PAPER * np.array([record.trace[0].metrics["subspace_error"] for record in records])
    return whole / start, {"start": np.median(start)}


def draw(evidence: Evidence) -> dict[str, Panel]:
    return {TITLES[part]: panel(evidence, part) for part in STREAMS}


def panel(evidence: Evidence, part: str) -> Panel:
    """Draw one part of the figure."""
    (suite, solvers), (full, solver) = STREAMS[part], WHOLE[part]
    shown = {name: (suite, stream) for name, stream in solvers.items()}
    if part == "a":
        shown["shoevd b=100 c=0.05"] = (suite, PRINTED)
    shown[full] = (ALL, solver)
    runs = {name: evidence.records(where, POOL, who) for name, (where, who) in shown.items()}
    series = [
        along(name, records, "seconds", "subspace_error", PAPER) for name, records in runs.items()
    ]
    pca = float(np.median(errors(evidence, *PCA)))
    ends = np.array([min(s.x[0] for s in series), max(s.x[-1] for s in series)])
    level = Series("PCA of the covariance", ends, np.array([pca, pca]))
    x = Axis("seconds", f"seconds, {TITLES[part]}")
    y = Axis("subspace_error", "subspace error |QQ' - Q*Q*'|")
    return Panel(x, y, (*series, level), band=band(len(runs[full])))
