"""Fronts: medians over seeds of what each trial reaches, and at what cost."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from orthobench.report.figures.save import save_figures
from orthobench.report.plots.fronts import fronts, plot_front
from orthobench.report.style import styles
from orthobench.stopping import Ending
from orthobench.suite import Level
from orthobench.tuning import choose

LEVELS = (Level("density", 0.2), Level("density", 0.6))
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
                records.append(replace(r, trace=tuple(trace), levels=LEVELS))
    return choose(records)


def test_a_front_has_the_medians_of_every_trial(entries):
    found = fronts(entries)
    assert [front.solver for front in found] == ["givens", "gpower"]
    for front in found:
        assert [at["density"] for _, at in front.points] == pytest.approx([0.16, 0.51, 0.81])
        assert [tuned["gamma"] for tuned, _ in front.points] == [0.4, 0.2, 0.1]
    entry = next(e for e in entries if e.solver == "gpower")
    trial = next(t for t in entry.trials if t.tuned == {"gamma": 0.2})
    finals = [r.trace[-1].metrics["gap"] for r in trial.records]
    assert found[1].points[1][1]["gap"] == pytest.approx(np.median(finals))
    assert found[1].points[1][1]["flops"] == 600 * 4000


def test_a_trial_that_mostly_failed_has_no_point(entries):
    broken = [
        replace(r, status=Ending.ERROR) if r.tuned["gamma"] == 0.2 and r.seed < 2 else r
        for trial in entries[0].trials
        for r in trial.records
    ]
    (front,) = fronts(choose(broken))
    assert [tuned["gamma"] for tuned, _ in front.points] == [0.4, 0.1]


def test_the_panel_shows_points_and_levels(entries):
    ax = Figure().subplots()
    plot_front(ax, fronts(entries), "gap", styles(["givens", "gpower"]), [0.2, 0.6])
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert lines["gpower"].get_xdata() == pytest.approx([0.16, 0.51, 0.81])
    assert ax.get_xlabel() == "density"
    assert sorted(line.get_xdata()[0] for line in ax.get_lines()[:2]) == [0.2, 0.6]


def test_figures_of_levels_come_with_the_front(entries, tmp_path):
    names = {path.name for path in save_figures(entries, tmp_path, formats=["csv", "png"])}
    stems = {"digits-k-4-density-0.2", "digits-k-4-density-0.6", "digits-k-4-by-density"}
    assert names == {f"{stem}.{kind}" for stem in stems for kind in ("csv", "png")}
    rows = (tmp_path / "digits-k-4-by-density.csv").read_text().splitlines()
    assert rows[0] == "problem,solver,tuned,density,gap,flops,seconds"
    assert len(rows) == 1 + 6


def test_where_nothing_ran_there_is_no_figure(entries, tmp_path):
    failed = [
        replace(r, status=Ending.ERROR, trace=())
        for entry in entries[:2]
        for trial in entry.trials
        for r in trial.records
    ]
    paths = save_figures(choose(failed), tmp_path, formats=["csv"])
    assert all("by-density" not in path.name for path in paths)
