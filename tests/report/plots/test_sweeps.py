"""Sweeps: problems that differ in one number, with the medians of their final values."""

from dataclasses import replace

import numpy as np
import pytest

from orthobench.report.figures.save import save_figures
from orthobench.report.plots.sweeps import sweeps
from orthobench.stopping import Ending
from orthobench.suite import Level
from orthobench.tuning import choose


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
                    replace(r, recipe="digits", settings=settings)
                    for r in runs(solver, factor * k, seeds=3, problem=label)
                ]
    return found


def test_problems_that_differ_in_one_number_are_a_sweep(records):
    found = sweeps(choose(records))
    assert [sweep.name for sweep in found] == [
        "digits scaling=common against k", "digits scaling=none against k",
    ]  # fmt: skip
    assert [list(sweep.entries) for sweep in found] == [[1, 4, 8]] * 2
    assert found[0].solvers == ["oja", "msg"]


def test_two_values_are_no_sweep(records):
    assert not sweeps(choose([r for r in records if r.settings["k"] != 4]))


def test_points_are_medians_over_the_seeds(records):
    sweep = sweeps(choose(records))[0]
    finals = [
        r.trace[-1].metrics["gap"]
        for r in records
        if r.solver == "oja" and r.settings == {"k": 4, "scaling": "common", "shuffled": False}
    ]
    at, median, low, high = sweep.points("oja", "gap")[1]
    assert (at, median) == (4, pytest.approx(np.median(finals)))
    assert (low, high) == (min(finals), max(finals))
    assert [point[1] for point in sweep.points("oja", "flops")] == [600 * 4000] * 3


def test_each_level_has_a_sweep_of_its_own(records):
    levels = (Level("rank", 9.0), Level("rank", 12.0))
    found = sweeps(choose([replace(r, levels=levels) for r in records]))
    assert len(found) == 4
    assert found[0].name == "digits scaling=common against k, rank <= 9"


def test_a_solver_that_mostly_failed_has_no_point_there(records):
    broken = [
        replace(r, status=Ending.ERROR)
        if r.solver == "msg" and r.settings["k"] == 4 and r.seed < 2
        else r
        for r in records
    ]
    sweep = sweeps(choose(broken))[0]
    assert [point[0] for point in sweep.points("msg", "gap")] == [1, 8]


def test_a_solver_that_takes_no_part_is_not_in_it(records):
    refusal = {"status": Ending.REFUSED, "reason": "solves k = 1 only", "trace": ()}
    refused = [replace(r, **refusal) if r.solver == "msg" else r for r in records]
    assert sweeps(choose(refused))[0].solvers == ["oja"]


def test_figures_come_with_their_data(records, tmp_path):
    names = {path.name for path in save_figures(choose(records), tmp_path, formats=["csv", "png"])}
    assert {"digits-scaling-none-against-k.csv", "digits-scaling-none-against-k.png"} < names
    rows = (tmp_path / "digits-scaling-none-against-k.csv").read_text().splitlines()
    assert rows[0] == "sweep,solver,k,value,median,low,high"
    assert len(rows) == 1 + 2 * 3 * 3
