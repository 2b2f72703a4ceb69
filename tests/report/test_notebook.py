"""Plots of results: each kind draws the panel it returns into any axis, and knows its names."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from records import altered

import orthobench as ob
from orthobench.report.style import solver_styles


@pytest.fixture(scope="module")
def results(runs):
    """Three solvers on six problems that differ in k, tuned."""
    records = []
    for k in (1, 2, 4, 8, 16, 32):
        for i, solver in enumerate("abc"):
            for step in (1.0, 2.0):
                more = {"problem": f"digits k={k}", "tuned": {"step": step}}
                found = runs(solver, k * (i + step), seeds=3, **more)
                settings = {"k": k}
                records += [altered(r, recipe="digits", settings=settings) for r in found]
    return ob.Results("toys", Path("none"), records)


def axis():
    return Figure(figsize=(6, 4)).add_subplot()


def assert_drawn(ax, panel):
    """The finite points of the panel are on the axis, in the solvers' colours."""
    looks = solver_styles("abc")
    aside = 0.5 if panel.x.categories else 0.0  # solvers stand side by side there
    for one in panel.series:
        there = np.isfinite(one.y) & ((one.x > 0) | (not panel.x.log))
        same = [
            line for line in ax.lines
            if len(line.get_xdata()) == len(one.x)
            and np.allclose(line.get_xdata(), one.x, atol=aside, equal_nan=True)
            and np.allclose(np.asarray(line.get_ydata())[there], one.y[there])
        ]  # fmt: skip
        assert same
        colours = {line.get_color() for line in same}
        assert not one.solver or looks[one.solver].colour in colours


@pytest.mark.parametrize(("name", "words", "keys"), [
    ("convergence", {"of": "digits k=4"}, ("samples", "gap")),
    ("convergence", {"of": "digits k=4", "x": "flops", "metric": "val"}, ("flops", "val")),
    ("tuning", {"of": "digits k=4"}, ("step", "score")),
    ("profile", {}, ("ratio", "share")),
    ("profile", {"of": "PCA", "cost": "samples", "accuracy": "1 %"}, ("ratio", "share")),
    ("expected", {"of": "PCA", "cost": "steps"}, ("problem", "steps")),
])  # fmt: skip
@pytest.mark.wide
def test_every_kind_draws_what_it_returns(results, name, words, keys):
    ax = axis()
    panel = results.plot(ax, name, **words)
    assert (panel.x.key, panel.y.key) == keys
    assert_drawn(ax, panel)
    ax.legend()
    ax.figure.draw_without_rendering()


def test_curves_are_loaded_and_drawn(results, load, monkeypatch):
    monkeypatch.setattr(ob.Results, "exhibits", lambda self, records: load(records))
    ax = axis()
    panel = results.plot(ax, "curves", "digits k=4", curve="ROC")
    assert [one.label.split(" ")[0] for one in panel.series] == ["chance", "a", "b", "c"]
    assert ax.get_xlabel() == "false positives"


@pytest.mark.parametrize(("name", "words", "message"), [
    ("convergence", {"of": "digit k=4"}, "unknown convergence plot .*did you mean 'digits k=4'"),
    ("convergence", {"of": "digits k=4", "x": "second"}, "did you mean 'seconds'"),
    ("convergence", {"of": "digits k=4", "y": "gap"}, "unknown option of digits k=4 'y'"),
    ("tuning", {"of": "digits k=4", "parameter": "stepp"}, "unknown parameter .*mean 'step'"),
    ("profile", {"of": "PCB"}, "unknown profile plot 'PCB'"),
    ("profile", {"of": "PCA", "accuracy": "2 %"}, "unknown accuracy"),
    ("profiles", {}, "there is no profiles plot .*allow convergence, expected, profile and tuning"),
])  # fmt: skip
def test_unknown_names_are_refused_with_those_known(results, name, words, message):
    with pytest.raises(ob.UsageError, match=message):
        results.plot(axis(), name, **words)


def test_one_of_several_plots_must_be_named(results):
    other = [altered(r, family="Tucker", problem=f"t {r.problem.label}", recipe="t")
             for r in results.records]  # fmt: skip
    both = replace(results, records=[*results.records, *other])
    with pytest.raises(ob.UsageError, match="name one of the plots: PCA, Tucker"):
        both.plot(axis(), "profile")


def test_plots_that_runs_do_not_allow_are_refused(runs):
    untuned = ob.Results("toys", Path("none"), runs("a", 1.0))
    with pytest.raises(ob.UsageError, match="there is no tuning plot of toys"):
        untuned.plot(axis(), "tuning")
