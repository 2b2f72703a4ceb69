"""Plots as data of a page: nothing is lost that can be seen, and little is there twice."""

import gzip
import json
import math
from base64 import b64decode

import numpy as np
import pytest

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.page import plot_data as module
from orthobench.report.page.plot_data import plot_data
from orthobench.report.plots.problems import convergence
from orthobench.report.style import solver_styles
from orthobench.results.tuning import choose


def read(found):
    return json.loads(gzip.decompress(b64decode(found)))


def test_equal_arrays_are_stored_once():
    x, ends = np.array([1.0, 2.0]), np.array([1.0, math.inf])
    lines = (Series("a", x, x), Series("b", x.copy(), ends))
    panel = Panel(Axis("x", "x"), Axis("y", "y"), lines)
    data = read(plot_data([Plot("p", "k", {"c": ("a",)}, lambda key: panel)], {}))
    (drawn,) = data["plots"][0]["panels"]
    assert [(one["x"], one["y"]) for one in drawn["series"]] == [(0, 0), (0, 1)]
    assert data["pool"] == [[1.0, 2.0], [1.0, None]]


def test_a_panel_comes_back_as_it_was(runs):
    entries = choose([*runs("a", 1.0, failed=1), *runs("b", 2.0)])
    plot = convergence(entries)
    styles = solver_styles(["a", "b"])
    data = read(plot_data([plot], styles))
    for key, panel in zip(plot.keys(), data["plots"][0]["panels"], strict=True):
        whole = plot.draw(key)
        assert panel["x"]["label"] == whole.x.label
        for one, series in zip(panel["series"], whole.series, strict=True):
            assert data["solvers"][one["solver"]]["name"] == series.solver
            for name in ("x", "y", "low", "high"):
                drawn = np.array(data["pool"][one[name]], dtype=float)
                wanted = np.where(np.isfinite(values := getattr(series, name)), values, math.nan)
                assert drawn == pytest.approx(wanted, rel=6e-5, nan_ok=True)
            assert np.allclose(one["crosses"], series.crosses or [], rtol=6e-5)


def test_an_axis_of_values_below_zero_is_linear(runs):
    entries = choose([*runs("a", -1.0), *runs("b", -2.0)])
    data = read(plot_data([convergence(entries)], (solver_styles(["a", "b"]))))
    first, *others = data["plots"][0]["panels"]
    assert first["x"]["log"]
    assert not first["y"]["log"]
    assert (first["zero"], first["floor"]) == (None, None)
    rank = data["plots"][0]["choices"][1]["options"].index("rank")
    assert others[rank - 1]["y"]["log"]
    assert others[rank - 1]["zero"] > 0


@pytest.mark.parametrize("log", [False, True])
def test_axes_have_two_to_six_ticks_inside_their_ends(log):
    rng = np.random.default_rng(0)
    for decades in (0.01, 0.5, 1.0, 2.0, 3.5, 9.0, 17.0):
        for low in 10 ** rng.uniform(-9, 6, 20):
            x = np.array([low, low * 10**decades])
            panel = Panel(Axis("x", "x", log), Axis("y", "y"), (Series("s", x, x, solver="s"),))
            plot = Plot("p", "k", {"c": ("a",)}, lambda key, panel=panel: panel)
            (drawn,) = read(plot_data([plot], solver_styles("s")))["plots"][0]["panels"]
            values = [value for value, _ in drawn["x"]["ticks"]]
            first, last = drawn["x"]["range"]
            assert 2 <= len(values) <= module.MOST_TICKS
            assert values == sorted(values)
            assert first <= values[0] <= values[-1] <= last


def test_references_take_looks_of_their_own_and_points_their_notes():
    x = np.arange(1.0, 4.0)
    series = (
        Series("r1", x, x), Series("r2", x, 2 * x), Series("r3", x, x), Series("r4", x, x),
        Series("s", x, 3 * x, solver="s", chosen=1, notes=("a", "b\n", "c")),
    )  # fmt: skip
    panel = Panel(Axis("x", "x"), Axis("y", "y"), series, rules=(2.0,), stepped=True, band="b")
    plot = Plot("p", "k", {"c": ("one_two", "b"), "d": ("e",)}, lambda key: panel)
    data = read(plot_data([plot], solver_styles("s")))
    drawn, _ = data["plots"][0]["panels"]
    assert [one["solver"] for one in drawn["series"]] == [-1, -2, -3, -1, 0]
    last = drawn["series"][-1]
    assert last["chosen"] == 1
    assert drawn["series"][0]["chosen"] is None
    assert (drawn["rules"], drawn["stepped"], drawn["band"]) == ([2], True, "b")
    assert data["pool"][last["x"]] == [1, 2, 2, 3, 3]
    assert data["pool"][last["y"]] == [3, 3, 6, 6, 9]
    assert data["plots"][0]["choices"] == [{"name": "c", "options": ["one two", "b"]}]


def test_menus_are_shorter_with_very_many_curves(monkeypatch):
    x = np.arange(1.0, 4.0)
    panel = Panel(Axis("x", "x"), Axis("y", "y"), (Series("s", x, x, solver="s"),))
    plot = Plot("p", "k", {"x": ("a", "b"), "y": ("c", "d", "e")}, lambda key: panel)
    for numbers, panels in ((6 * 72, 6), (2 * 72, 2), (1, 1)):
        monkeypatch.setattr(module, "NUMBERS", numbers)
        (drawn,) = read(plot_data([plot], solver_styles("s")))["plots"]
        assert len(drawn["panels"]) == panels
