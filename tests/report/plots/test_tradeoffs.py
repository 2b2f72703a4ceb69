"""Trade-offs: medians over seeds of what each trial reaches, and at what cost."""

from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus, Target
from orthobench.report.plots.collection import comparison_plots
from orthobench.report.plots.sweeps import points, tradeoffs
from orthobench.results.tuning import choose

LEVELS = (Target("density", 0.2), Target("density", 0.6))
DENSITIES = {0.1: 0.8, 0.2: 0.5, 0.4: 0.15}


@pytest.fixture
def entries(runs):
    """Two solvers, three values of gamma each; the second is twice as good at each density."""
    records = []
    for solver, factor in (("givens", 2.0), ("gpower", 1.0)):
        for gamma, density in DENSITIES.items():
            for r in runs(solver, factor * gamma, seeds=3, samples=False, tuned={"gamma": gamma}):
                trace = [
                    replace(m, metrics={**m.metrics, "density": density + 0.01 * r.seed})
                    for m in r.trace
                ]
                records.append(altered(r, trace=tuple(trace), levels=LEVELS))
    return choose(records)


def test_points_are_the_medians_of_every_trial(entries):
    for entry in entries:
        own = points(entry, "density")
        assert [at["density"] for _, at in own] == pytest.approx([0.16, 0.51, 0.81])
        assert [tuned["gamma"] for tuned, _ in own] == [0.4, 0.2, 0.1]
    entry = next(e for e in entries if e.solver == "gpower")
    trial = next(t for t in entry.trials if t.tuned == {"gamma": 0.2})
    finals = [r.trace[-1].metrics["gap"] for r in trial.records]
    assert points(entry, "density")[1][1]["gap"] == pytest.approx(np.median(finals))
    assert points(entry, "density")[1][1]["flops"] == 600 * 4000


def test_a_trial_that_mostly_failed_has_no_point_and_is_counted(entries):
    broken = [
        altered(r, status=RunStatus.ERROR) if r.solver.tuned["gamma"] == 0.2 and r.seed < 2 else r
        for trial in entries[0].trials
        for r in trial.records
    ]
    chosen = choose(broken)
    assert [tuned["gamma"] for tuned, _ in points(chosen[0], "density")] == [0.4, 0.1]
    (plot,) = tradeoffs(chosen)
    assert plot.panel().series[0].label == "givens (failed 1 of 3 trials)"


def test_the_panels_have_the_points_with_their_values_and_the_levels(entries):
    (plot,) = tradeoffs(entries)
    assert (plot.name, plot.kind) == ("digits k=4 by density", "tradeoff")
    assert plot.choices == {"y": ("gap", "flops", "seconds")}
    assert plot.sheet == [("gap",), ("flops",), ("seconds",)]
    for y in ("gap", "flops", "seconds"):
        panel = plot.panel(y)
        assert (panel.x.key, panel.y.key, panel.rules) == ("density", y, (0.2, 0.6))
        own = {entry.solver: points(entry, "density") for entry in entries}
        for series in panel.series:
            assert series.x.tolist() == [at["density"] for _, at in own[series.solver]]
            assert series.y.tolist() == [at[y] for _, at in own[series.solver]]
            assert series.notes == ("gamma=0.4", "gamma=0.2", "gamma=0.1")


def test_only_problems_with_levels_have_one_that_some_trial_ran_on(entries, runs):
    plain = choose(runs("msg", 0.1, problem="faces"))
    kinds = [plot.name for plot in comparison_plots([*plain, *entries]) if plot.kind == "tradeoff"]
    assert kinds == ["digits k=4 by density"]
    failed = [
        altered(r, status=RunStatus.ERROR, trace=())
        for entry in entries
        for trial in entry.trials
        for r in trial.records
    ]
    assert tradeoffs(choose(failed)) == []


def test_bounds_are_one_grey_line_through_the_points_of_all_solvers(entries):
    (plot,) = tradeoffs(entries)
    assert [one.label for one in plot.panel("gap").series] == ["givens", "gpower"]
    bounded = []
    for r in (r for entry in entries for trial in entry.trials for r in trial.records):
        trace = [replace(m, metrics={**m.metrics, "gap_bound": 0.01}) for m in r.trace]
        bounded.append(altered(r, trace=tuple(trace), levels=LEVELS))
    (plot,) = tradeoffs(choose(bounded))
    line = plot.panel("gap").series[-1]
    assert (line.label, line.solver) == ("bound", "")
    own = {entry.solver: points(entry, "density") for entry in entries}
    assert line.x.tolist() == sorted(at["density"] for found in own.values() for _, at in found)
    assert set(line.y) == {0.01}
    assert [one.label for one in plot.panel("flops").series] == ["givens", "gpower"]
