"""Convergence: what the legend and the small print say of runs that failed."""

import math
from dataclasses import replace

import pytest

from orthobench.decide.comparisons import compare
from orthobench.report.plots.convergence import convergence
from orthobench.results.tuning import choose

PRINT = "× where a run failed"


def ending_at(records, value, count):
    """The first runs of these with another gap at their end."""
    broken = []
    for r in records[:count]:
        last = r.trace[-1]
        trace = (*r.trace[:-1], replace(last, metrics={**last.metrics, "gap": value}))
        broken.append(replace(r, trace=trace))
    return [*broken, *records[count:]]


def test_crosses_are_explained_where_a_run_failed(runs):
    assert PRINT not in convergence(choose(runs("a", 1.0))).about
    assert PRINT in convergence(choose(runs("a", 1.0, failed=1))).about


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_run_whose_metric_is_no_longer_finite_has_failed_as_in_the_table(runs, value):
    entries = choose(ending_at(runs("a", 1.0), value, 2))
    plot = convergence(entries)
    (series,) = plot.panel().series
    assert len(series.crosses) == compare(entries)[0].of("a").n_failed == 2
    assert series.label == "a (failed 2 of 5)"
    assert f"{PRINT} or its metric was no longer finite" in plot.about


def test_one_axis_counts_the_trials_that_were_not_chosen(runs):
    tuned = [r for step in (1.0, 2.0, 4.0) for r in runs("a", step, tuned={"step": step})]
    entries = choose([*tuned, *runs("b", 1.5)])
    plot = convergence(entries)
    assert plot.choices["x"][-1] == "total flops"
    own, all_trials = (plot.panel(x, "gap").series for x in ("flops", "total flops"))
    others = 2 * tuned[0].trace[-1].work.flops
    for before, after, more in zip(own, all_trials, (others, 0), strict=True):
        assert after.x == pytest.approx(before.x + more)
        assert after.runs[0][0] == pytest.approx(before.runs[0][0] + more)
        assert list(after.y) == list(before.y)
    assert "total flops" not in convergence(choose(runs("b", 1.5))).choices["x"]
