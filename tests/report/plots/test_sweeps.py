"""Sweeps: problems that differ in one number, with the medians of their final values."""

import math

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus, Target
from orthobench.report.plots.collection import comparison_plots
from orthobench.report.plots.sweeps import sweeps
from orthobench.results.tuning import choose


@pytest.fixture
def records(runs):
    """Return runs of two solvers on digits with k in {1, 4, 8} and two scalings."""
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


def of_solver(plot, solver, y="gap"):
    (one,) = [series for series in plot.panel(y).series if series.solver == solver]
    return one


def test_problems_that_differ_in_one_number_are_a_sweep(records):
    plots = [plot for plot in comparison_plots(choose(records)) if plot.kind == "sweep"]
    assert [plot.name for plot in plots] == [
        "digits scaling=common against k", "digits scaling=none against k",
    ]  # fmt: skip
    plot = plots[1]
    assert plot.choices["y"] == ("gap", "flops", "seconds", "rank", "val", "constraint_violation")
    panel = plot.panel("val")
    assert (panel.x.key, panel.y.key, panel.band) == ("k", "val", "min to max")
    assert panel.x.ticks == (1, 4, 8)
    assert [series.solver for series in panel.series] == ["oja", "msg"]
    assert len(list(panel.rows())) == 2 * 3


def test_two_values_are_no_sweep(records):
    assert not sweeps(choose([r for r in records if r.problem.parameters["k"] != 4]))


def test_points_are_medians_over_the_seeds(records):
    found = sweeps(choose(records))[0]
    settings = {"k": 4, "scaling": "common", "shuffled": False}
    finals = [r.trace[-1].metrics["gap"] for r in records
              if r.solver.label == "oja" and r.problem.parameters == settings]  # fmt: skip
    oja = of_solver(found, "oja")
    assert (oja.x[1], oja.y[1]) == (4, pytest.approx(np.median(finals)))
    assert (oja.low[1], oja.high[1]) == (min(finals), max(finals))
    assert of_solver(found, "oja", "flops").y.tolist() == [600 * 4000] * 3


def test_each_level_has_a_sweep(records):
    levels = (Target("rank", 9.0), Target("rank", 12.0))
    found = sweeps(choose([altered(r, levels=levels) for r in records]))
    assert len(found) == 4
    assert found[0].name == "digits scaling=common against k, rank <= 9"


def test_solver_that_mostly_failed_is_infinite(records):
    broken = [
        altered(r, status=RunStatus.ERROR)
        if r.solver.label == "msg" and r.problem.parameters["k"] == 4 and r.seed < 2
        else r
        for r in records
    ]
    found = sweeps(choose(broken))[0]
    msg = of_solver(found, "msg")
    assert np.isfinite(msg.y).tolist() == [True, False, True]
    assert msg.label == "msg (failed 2 of 9)"


def test_missing_run_does_not_count(records):
    missing = [
        r for r in records if (r.solver.label, r.seed, r.problem.parameters["k"]) != ("msg", 2, 4)
    ]
    msg = of_solver(sweeps(choose(missing))[0], "msg")
    assert 0 < msg.low[1] < msg.y[1] < msg.high[1] < math.inf


@pytest.mark.parametrize(
    ("values", "log"), [((1, 3, 10), True), ((1, 3, 9), False), ((0, 3, 9), False)]
)
def test_axis_over_a_decade_is_logarithmic(records, values, log):
    by_k = dict(zip((1, 4, 8), values, strict=True))
    scaled = [
        altered(r, settings=r.problem.parameters | {"k": by_k[r.problem.parameters["k"]]})
        for r in records
    ]
    assert sweeps(choose(scaled))[0].panel().x.log is log
