"""Plots as data of a page: nothing is lost that can be seen, and little is there twice."""

import gzip
import json
import math
from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.page import plot_data as module
from orthobench.report.page.plot_data import (
    Pool,
    _by_importance,
    json_number,
    plot_data,
    thinned,
)
from orthobench.report.plots.convergence import convergence
from orthobench.report.style import solver_styles
from orthobench.results.tuning import choose


def read(found):
    return json.loads(gzip.decompress(b64decode(found[0])))


@given(st.floats(-1e308, 1e308) | st.sampled_from([math.inf, -math.inf, math.nan]))
def test_numbers_are_json_to_five_digits(value):
    assert json_number(1.23456789) == "1.2346"
    back = json.loads(json_number(value))
    if math.isnan(value):
        assert back is None
    else:
        assert back == pytest.approx(value, rel=6e-5)


@given(st.integers(1, 500), st.integers(2, 100))
def test_thinning_keeps_both_ends(count, most):
    kept = np.arange(count)[thinned(count, most)].tolist()
    assert {0, count - 1} <= set(kept)
    assert len(kept) == min(count, most)
    assert kept == sorted(set(kept))


def test_equal_arrays_are_stored_once():
    pool = Pool()
    first = pool.index(np.array([1.0, 2.0]))
    assert pool.index(np.array([1.0, 2.0 + 1e-9])) == first
    assert pool.index(np.array([1.0, math.inf])) != first
    assert json.loads(pool.as_json()) == [[1.0, 2.0], [1.0, math.inf]]
    assert pool.size == 4


def test_a_panel_comes_back_as_it_was(runs):
    entries = choose([*runs("a", 1.0, failed=1), *runs("b", 2.0)])
    plot = convergence(entries)
    styles = solver_styles(["a", "b"])
    data = read(plot_data([plot], styles))
    options = list(plot.choices.values())
    for place, panel in data["plots"][0]["panels"].items():
        key = tuple(o[int(at)] for o, at in zip(options, place.split(","), strict=True))
        whole = plot.draw(key)
        assert panel["x"]["label"] == whole.x.label
        for one, series in zip(panel["series"], whole.series, strict=True):
            assert data["solvers"][one["solver"]]["name"] == series.solver
            for name in ("x", "y", "low", "high"):
                drawn = np.array(data["pool"][one[name]])
                assert drawn == pytest.approx(getattr(series, name), rel=6e-5)
            crosses = [data["pool"][number] for number in one.get("crosses", [])]
            assert np.allclose(np.array(crosses).T, np.array(series.crosses), rtol=6e-5)
            assert len(one["runs"]) == len(series.runs)


def test_an_axis_of_values_below_zero_is_linear(runs):
    entries = choose([*runs("a", -1.0), *runs("b", -2.0)])
    data = read(plot_data([convergence(entries)], (solver_styles(["a", "b"]))))
    panels = data["plots"][0]["panels"]
    assert panels["0,0"]["x"]["log"]
    assert not panels["0,0"]["y"]["log"]
    assert (panels["0,0"]["zero"], panels["0,0"]["floor"]) == (None, None)
    rank = data["plots"][0]["choices"][1]["options"].index("rank")
    assert panels[f"0,{rank}"]["y"]["log"]
    assert panels[f"0,{rank}"]["floor"] > 0


def a_plot(name, length=50, count=4, runs=0):
    def draw(key):
        x = np.arange(1.0, length + 1)
        shift = int(key[0]) + 10 * len(name)
        single = tuple((x, x + shift + 0.1 * r) for r in range(runs))
        return Panel(
            Axis("x", "x"), Axis("y", "y"), (Series("s", x, x * 1.01 + shift, runs=single),)
        )

    return Plot(name, "kind", {"choice": tuple(map(str, range(count)))}, draw)


def test_if_not_all_fits_every_plot_keeps_its_first_panel(monkeypatch):
    monkeypatch.setattr(module, "NUMBERS", 100)
    found = plot_data([a_plot("a"), a_plot("bb")], {})
    plots = read(found)["plots"]
    assert all("0" in plot["panels"] for plot in plots)
    left_out = 8 - sum(len(plot["panels"]) for plot in plots)
    assert left_out > 0
    assert f"Of 8 combinations of axes and metrics {8 - left_out} are drawn" in found[1]


def test_panels_beyond_the_limit_have_no_single_runs(monkeypatch):
    monkeypatch.setattr(module, "RUNS", 300)
    found = plot_data([a_plot("a", runs=6)], {})
    panels = [*read(found)["plots"][0]["panels"].values()]
    assert ["runs" in p["series"][0] for p in panels] == [True, False, False, False]
    assert "4 are drawn and 1 have single runs" in found[1]


def test_curves_are_thinned_as_far_as_needed_and_the_page_says_how_far(monkeypatch):
    assert "at most 80 points" in plot_data([a_plot("a", length=30)], {})[1]
    monkeypatch.setattr(module, "NUMBERS", 1)
    found = plot_data([a_plot("a", length=30)], {})
    assert "at most 24 points" in found[1]
    series = read(found)["plots"][0]["panels"]["0"]["series"][0]
    assert len(read(found)["pool"][series["x"]]) == 24


def test_first_choices_come_first_then_those_with_one_other():
    plots = [a_plot("a", count=2), Plot("b", "k", {"x": tuple("xyz"), "m": tuple("mn")}, None)]
    assert [*_by_importance(plots)] == [
        (0, (0,)), (1, (0, 0)), (0, (1,)), (1, (0, 1)), (1, (1, 0)), (1, (2, 0)), (1, (1, 1)),
        (1, (2, 1)),
    ]  # fmt: skip


def test_references_take_looks_of_their_own_and_points_their_notes():
    x = np.arange(1.0, 4.0)
    series = (
        Series("r1", x, x), Series("r2", x, 2 * x), Series("r3", x, x), Series("r4", x, x),
        Series("s", x, 3 * x, solver="s", chosen=1, notes=("a", "b\n", "c"), ended="done"),
    )  # fmt: skip
    panel = Panel(Axis("x", "x"), Axis("y", "y"), series, rules=(2.0,), stepped=True, band="b")
    plot = Plot("p", "k", {"c": ("one_two",)}, lambda key: panel)
    data = read(plot_data([plot], solver_styles("s")))
    (drawn,) = data["plots"][0]["panels"].values()
    assert [one["solver"] for one in drawn["series"]] == [-1, -2, -3, -1, 0]
    last = drawn["series"][-1]
    assert (last["chosen"], last["ended"], last["notes"]) == (1, "done", ["a", "b", "c"])
    assert "chosen" not in drawn["series"][0]
    assert (drawn["rules"], drawn["stepped"], drawn["band"]) == ([2], True, "b")
    assert data["plots"][0]["choices"] == [{"name": "c", "options": ["one two"]}]
