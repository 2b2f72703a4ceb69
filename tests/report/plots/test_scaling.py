"""Strong and weak scaling: efficiency against the worker-seconds of one worker."""

import math
from dataclasses import replace

import numpy as np
import pytest
from records import altered, record

from orthobench.contract.solver import Work
from orthobench.harness.reducing.parts import WORKER_SECONDS, WORKERS
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.report.plots.collection import comparison_plots
from orthobench.report.plots.scaling import points, scalings, strong, weak
from orthobench.results.tuning import choose

RATE = 1e-6
"""Worker-seconds of a sample."""


def run(workers, rows, seed=0, solver="batch-pca", on=None):
    """A run whose workers wait for 0.1 s, and for twice as long with each seed more."""
    on = on or f"dask:{workers}"
    busy = RATE * rows
    metrics = {"gap": 0.1, WORKERS: workers, WORKER_SECONDS: busy}
    last = Checkpoint(busy / workers + 0.1 * 2**seed, 0.0, Work(1, rows, 10), metrics)
    return record(
        f"{solver} {on} {rows} {seed}", problem=f"p rows={rows}", recipe="p",
        settings={"rows": rows}, solver=f"{solver} on={on}", parameters={"on": on, "size": 3},
        seed=seed, trace=(replace(last, work=Work()), last),
    )  # fmt: skip


def test_efficiency_is_one_workers_seconds_over_those_of_all():
    found = strong(choose([run(w, 10**6, seed) for w in (1, 2, 4) for seed in (0, 1)]))
    own = found["batch-pca"]
    workers, _, low, high = np.array(points(own, "efficiency")).T
    assert workers.tolist() == [1, 2, 4]
    assert high == pytest.approx([1 / 1.1, 1 / (2 * 0.6), 1 / (4 * 0.35)])
    assert low == pytest.approx([1 / 1.2, 1 / (2 * 0.7), 1 / (4 * 0.45)])
    assert np.array(points(own, "seconds"))[:, 2] == pytest.approx([1.1, 0.6, 0.35])


def test_weak_scaling_takes_as_many_samples_for_each_worker():
    runs = [run(w, rows) for w in (1, 2, 4) for rows in (10**6, 2 * 10**6, 4 * 10**6 + 9)]
    entries = choose(runs)
    assert points(weak(entries)["batch-pca"], "efficiency") == [
        (w, *[pytest.approx(1 / 1.1, rel=1e-4)] * 3) for w in (1, 2, 4)
    ]
    names = [plot.name for plot in scalings(entries)]
    assert names == [
        *(f"p rows={n}: strong scaling" for n in (1000000, 2000000, 4000009)),
        "p against rows: weak scaling",
    ]


def test_the_place_blocks_stands_for_one_worker_where_no_cluster_does():
    entries = choose([run(1, 10**6, on="blocks"), run(2, 10**6)])
    assert list(strong(entries)["batch-pca"]) == [1, 2]
    both = choose([run(1, 10**6, on="blocks"), run(1, 10**6), run(2, 10**6)])
    assert strong(both)["batch-pca"][1].solver == "batch-pca on=dask:1"


def test_without_one_worker_or_more_there_is_no_plot():
    assert not scalings(choose([run(2, 10**6), run(4, 10**6)]))
    assert not scalings(choose([run(1, 10**6)]))
    plain = altered(run(1, 10**6), trace=(Checkpoint(1.0, 0.0, Work(1, 5, 5), {"gap": 0.1}),))
    assert not scalings(choose([plain]))


def test_the_plot_shows_what_is_ideal_and_is_among_those_of_a_comparison():
    entries = choose([run(w, 10**6) for w in (1, 2)])
    (plot,) = [p for p in comparison_plots(entries) if p.kind == "scaling"]
    panel = plot.panel()
    assert [one.label for one in panel.series] == ["batch-pca (0.833 at 2)", "ideal"]
    assert panel.series[1].y.tolist() == [1, 1]
    assert len(plot.panel("seconds").series) == 1


def test_a_failed_run_has_no_efficiency():
    failed = altered(run(2, 10**6), status=RunStatus.ERROR)
    (own,) = strong(choose([run(1, 10**6), failed, run(4, 10**6)])).values()
    assert [math.isnan(at[1]) for at in points(own, "efficiency")] == [False, True, False]
