"""Convergence: what the legend and the small print say of runs that failed."""

import math
from dataclasses import replace

import pytest

from orthobench.contract.solver import Work
from orthobench.decide.comparisons import compare
from orthobench.report.plots.problems import convergence
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


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_run_with_an_infinite_metric_has_failed(runs, value):
    entries = choose(ending_at(runs("a", 1.0), value, 2))
    plot = convergence(entries)
    (series,) = plot.panel().series
    assert len(series.crosses) == compare(entries)[0].of("a").n_failed == 2
    assert series.label == "a (failed 2 of 5)"
    assert f"{PRINT} or its metric was no longer finite" in plot.about


def counting(records, samples):
    """Return runs with this number of samples at the end, and one at the first checkpoint."""
    counted = []
    for r in records:
        work = [Work(m.work.steps, samples, m.work.flops) for m in r.trace]
        first = replace(work[0], samples=1)
        marks = zip(r.trace, [first, *work[1:]], strict=True)
        counted.append(replace(r, trace=tuple(replace(m, work=w) for m, w in marks)))
    return counted


def test_samples_are_the_first_cost_if_all_draw_some(runs):
    some, none = (counting(runs(name, 1.0), count) for name, count in (("a", 9), ("b", 0)))
    costs = {
        "all": ("samples", "seconds", "flops", "steps"),
        "some": ("flops", "samples", "seconds", "steps"),
        "none": ("flops", "seconds", "steps"),
    }
    # those that draw some in their last step alone do, too
    late = [
        replace(r, trace=(*[replace(m, work=replace(m.work, samples=0)) for m in r.trace[:-1]],
                          r.trace[-1]))
        for r in some
    ]  # fmt: skip
    for records, which in ((some, "all"), (some + none, "some"), (none, "none"), (late, "all")):
        assert convergence(choose(records)).choices["x"] == costs[which]


def test_first_metric_is_the_target_or_the_primary_one(runs):
    records = []
    for r in runs("a", 1.0):
        early = replace(r.trace[0], metrics={**r.trace[0].metrics, "early": 1.0})
        records.append(replace(r, trace=(early, *r.trace[1:])))
    plot = convergence(choose(records))
    assert plot.choices["metric"] == ("gap", "rank", "val", "constraint_violation")
    assert plot.sheet == [("samples", "gap"), ("seconds", "gap")]
    targeted = convergence(choose([replace(r, target="rank") for r in records]))
    assert targeted.choices["metric"] == ("rank", "gap", "val", "constraint_violation")


@pytest.mark.parametrize("tolerance", [None, 1e-6])
def test_axis_ends_a_hundredth_of_the_tolerance_below_the_start(runs, tolerance):
    both = choose(runs("a", 1.0) + runs("b", 1e-9))
    entries = [replace(entry, tolerance=tolerance) for entry in both]
    panel = convergence(entries).panel()
    one, other = panel.series
    assert 0.1 < panel.least / (one.y[0] * (tolerance or 0.01) / 100) <= 1
    assert other.y[0] == pytest.approx(1e-9, rel=0.2)  # the numbers themselves stay
    assert convergence(entries).panel("seconds", "rank").least == 0
