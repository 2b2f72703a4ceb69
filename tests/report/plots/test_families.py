"""Profiles and expected costs as plots: choices, lines and captions."""

from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.families import target_plots
from orthobench.results.tuning import choose


def plots_of(entries):
    return {plot.kind: plot for plot in target_plots(entries)}


@pytest.fixture
def entries(runs):
    """Return three solvers on two problems: slow fails once, picky takes part in one."""
    records = [
        record
        for problem in ("digits k=1", "digits k=4")
        for record in (
            *runs("fast", 0.1, problem=problem),
            *runs("slow", 1.0, problem=problem, failed=1),
            *runs("picky", 0.2, problem=problem),
        )
    ]
    refusing = [
        altered(r, status=RunStatus.REFUSED, reason="too large", trace=())
        if r.solver.label == "picky" and r.problem.label == "digits k=4"
        else r
        for r in records
    ]
    return choose(refusing)


def test_plots_offer_costs_and_accuracies(entries):
    found = plots_of(entries)["profile"]
    assert found.name == "PCA: performance profiles"
    assert found.choices == {
        "cost": ("seconds", "flops", "samples", "steps"),
        "accuracy": ("10 %", "1 %", "0.1 %", "0.001 %"),
    }
    for plot in plots_of(entries).values():
        assert set(plot.sheet) <= set(plot.keys())


def test_profile_lines_rise_from_1_to_a_common_end(entries):
    panel = plots_of(entries)["profile"].panel("steps", "10 %")
    assert panel.stepped
    assert (panel.x.log, panel.y.log) == (True, False)
    assert [s.solver for s in panel.series] == ["fast", "slow", "picky"]
    assert {s.x[0] for s in panel.series} == {1.0}
    assert len({s.x[-1] for s in panel.series}) == 1
    for s in panel.series:
        assert (np.diff(s.x) > 0).all()
        assert (np.diff(s.y) >= 0).all()


def test_failures_and_absences_count_in_the_shares(entries):
    plot = plots_of(entries)["profile"]
    fast, slow, picky = plot.panel("steps", "10 %").series
    assert fast.y[-1] == 1
    assert slow.y[-1] <= 0.8
    assert picky.y[-1] <= 0.5
    assert slow.label == "slow (2 failed)"
    assert "10 instances of 2 problems" in plot.about
    assert "failed runs solve nothing" in plot.about
    said = "picky takes no part in 1 of 2 problems, which count as not solved: digits k=4"
    assert said in plot.about


def test_caption_counts_instances_without_progress_or_runs(runs):
    stuck = [replace(r, trace=r.trace[:1] * 2) for r in runs("a", 1.0, failed=2)]
    about = plots_of(choose(stuck))["profile"].about
    assert "on 5 instances no run got below the start: not solved" in about
    records = [*runs("a", 1.0), *runs("b", 2.0)]
    records[-1] = altered(records[-1], status=RunStatus.MISSING, trace=())
    about = plots_of(choose(records))["profile"].about
    assert "1 instance not counted: not run yet with all solvers" in about


def test_samples_are_offered_only_if_all_solvers_draw_some(runs):
    entries = choose([*runs("a", 1.0), *runs("b", 1.0, samples=False)])
    assert plots_of(entries)["profile"].choices["cost"] == ("seconds", "flops", "steps")
