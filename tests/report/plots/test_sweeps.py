"""Sweeps: problems that differ in one number, with the medians of their final values."""

import math

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus, Target
from orthobench.report.plots.collection import comparison_plots
from orthobench.report.plots.sweeps import sweep, sweeps
from orthobench.results.tuning import choose


@pytest.fixture
def records(runs):
    """Two solvers on digits with k in {1, 4, 8} and two scalings."""
    found = []
    for scaling in ("common", "none"):
        for k in (1, 4, 8):
            settings = {"k": k, "scaling": scaling, "shuffled": False}
            for solver, factor in (("oja", 2.0), ("msg", 1.0)):
                label = f"digits k={k} {scaling}"
                found += [
                    altered(r, recipe="digits", settings=settings)
                    for r in runs(solver, factor * k, seeds=3, problem=label)
                ]
    return found


def names(swept):
    return list(dict.fromkeys(entry.solver for entry in swept.all))


def test_problems_that_differ_in_one_number_are_a_sweep(records):
    found = sweeps(choose(records))
    assert [one.name for one in found] == [
        "digits scaling=common against k", "digits scaling=none against k",
    ]  # fmt: skip
    assert [list(one.entries) for one in found] == [[1, 4, 8]] * 2
    assert names(found[0]) == ["oja", "msg"]


def test_two_values_are_no_sweep(records):
    assert not sweeps(choose([r for r in records if r.problem.parameters["k"] != 4]))


def test_points_are_medians_over_the_seeds(records):
    found = sweeps(choose(records))[0]
    finals = [
        r.trace[-1].metrics["gap"]
        for r in records
        if r.solver.label == "oja"
        and r.problem.parameters == {"k": 4, "scaling": "common", "shuffled": False}
    ]
    at, median, low, high = found.points("oja", "gap")[1]
    assert (at, median) == (4, pytest.approx(np.median(finals)))
    assert (low, high) == (min(finals), max(finals))
    assert [point[1] for point in found.points("oja", "flops")] == [600 * 4000] * 3


def test_each_level_has_a_sweep_of_its_own(records):
    levels = (Target("rank", 9.0), Target("rank", 12.0))
    found = sweeps(choose([altered(r, levels=levels) for r in records]))
    assert len(found) == 4
    assert found[0].name == "digits scaling=common against k, rank <= 9"


def test_a_solver_that_mostly_failed_is_infinite_there(records):
    broken = [
        altered(r, status=RunStatus.ERROR)
        if r.solver.label == "msg" and r.problem.parameters["k"] == 4 and r.seed < 2
        else r
        for r in records
    ]
    found = sweeps(choose(broken))[0]
    medians = {point[0]: point[1] for point in found.points("msg", "gap")}
    assert medians[4] == math.inf > max(medians[1], medians[8])
    (msg,) = [one for one in sweep(found).panel().series if one.solver == "msg"]
    assert msg.label == "msg (failed 2 of 9)"
    assert msg.crosses == ()
    assert not any("×" in text for text in sweep(found).about)
    assert np.isfinite(msg.y).tolist() == [True, False, True]


def test_a_missing_run_does_not_count(records):
    missing = [
        r for r in records if (r.solver.label, r.seed, r.problem.parameters["k"]) != ("msg", 2, 4)
    ]
    _, median, low, high = sweeps(choose(missing))[0].points("msg", "gap")[1]
    assert 0 < low < median < high < math.inf


def test_the_plot_has_a_panel_for_each_metric_and_cost(records):
    plots = [plot for plot in comparison_plots(choose(records)) if plot.kind == "sweep"]
    assert [plot.name for plot in plots] == [
        "digits scaling=common against k", "digits scaling=none against k",
    ]  # fmt: skip
    plot = plots[1]
    assert plot.choices["y"] == ("gap", "flops", "seconds", "rank", "val", "constraint_violation")
    assert plot.sheet == [("gap",), ("flops",), ("seconds",)]
    panel = plot.panel("val")
    assert (panel.x.key, panel.y.key) == ("k", "val")
    assert panel.x.ticks == (1, 4, 8)
    assert panel.band == "min to max"
    points = sweeps(choose(records))[1].points("msg", "val")
    (msg,) = [one for one in panel.series if one.solver == "msg"]
    drawn = zip(msg.x, msg.y, msg.low, msg.high, strict=True)
    assert [tuple(point) for point in drawn] == points
    assert len(list(panel.rows())) == 2 * 3


def test_a_parameter_over_decades_has_a_logarithmic_axis(records):
    wide = {1: 1, 4: 3, 8: 10}
    scaled = [
        altered(r, settings=r.problem.parameters | {"k": wide[r.problem.parameters["k"]]})
        for r in records
    ]
    assert sweep(sweeps(choose(scaled))[0]).panel().x.log
    near = [
        altered(r, settings=r.problem.parameters | {"k": {1: 1, 4: 3, 8: 9}[k]})
        for r in records
        for k in [r.problem.parameters["k"]]
    ]
    assert not sweep(sweeps(choose(near))[0]).panel().x.log
    zero = [
        altered(r, settings=r.problem.parameters | {"k": r.problem.parameters["k"] - 1})
        for r in records
    ]
    assert not sweep(sweeps(choose(zero))[0]).panel().x.log
