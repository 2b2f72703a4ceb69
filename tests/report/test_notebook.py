"""ob.plots: every function draws the panel it returns into any axis, and knows its names."""

import subprocess
import sys
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
    ("convergence", ("digits k=4",), ("samples", "gap")),
    ("convergence", ("digits k=4", "flops", "val"), ("flops", "val")),
    ("tuning", ("digits k=4",), ("step", "score")),
    ("profile", (), ("ratio", "share")),
    ("profile", ("PCA", "samples", "1 %"), ("ratio", "share")),
    ("expected", ("PCA", "steps"), ("problem", "steps")),
])  # fmt: skip
@pytest.mark.wide
def test_every_function_draws_what_it_returns(results, name, words, keys):
    ax = axis()
    panel = getattr(ob.plots, name)(ax, results, *words)
    assert (panel.x.key, panel.y.key) == keys
    assert_drawn(ax, panel)
    ax.legend()
    ax.figure.draw_without_rendering()


def test_curves_are_loaded_and_drawn(results, load, monkeypatch):
    monkeypatch.setattr(ob.Results, "exhibits", lambda self, records: load(records))
    ax = axis()
    panel = ob.plots.curves(ax, results, "digits k=4", "ROC")
    assert [one.label.split(" ")[0] for one in panel.series] == ["chance", "a", "b", "c"]
    assert ax.get_xlabel() == "false positives"


@pytest.mark.parametrize(("name", "words", "message"), [
    ("convergence", ("digit k=4",), "unknown convergence plot .*did you mean 'digits k=4'"),
    ("convergence", ("digits k=4", "second"), "did you mean 'seconds'"),
    ("convergence", ("digits k=4", "seconds", "gaps"), "did you mean 'gap'"),
    ("tuning", ("digits k=4", "stepp"), "unknown parameter .*did you mean 'step'"),
    ("profile", ("PCB",), "unknown profile plot 'PCB'"),
    ("profile", ("PCA", "secs"), "unknown cost of PCA: performance profiles 'secs'"),
    ("profile", ("PCA", "seconds", "2 %"), "unknown accuracy"),
])  # fmt: skip
def test_names_that_nobody_has_are_told_what_is_near(results, name, words, message):
    with pytest.raises(ob.UsageError, match=message):
        getattr(ob.plots, name)(axis(), results, *words)


def test_one_of_several_plots_must_be_named(results):
    other = [altered(r, family="Tucker", problem=f"t {r.problem.label}", recipe="t")
             for r in results.records]  # fmt: skip
    both = replace(results, records=[*results.records, *other])
    with pytest.raises(ob.UsageError, match="name one of the plots: PCA, Tucker"):
        ob.plots.profile(axis(), both)


def test_nothing_heavy_is_imported_before_something_is_drawn():
    code = "import sys, orthobench as ob; ob.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_plots_that_runs_do_not_allow_are_refused(results, runs):
    untuned = ob.Results("toys", Path("none"), runs("a", 1.0))
    for kind, message in (
        ("tuning", "there is no tuning plot of toys: its runs do not allow one"),
    ):
        with pytest.raises(ob.UsageError, match=message):
            getattr(ob.plots, kind)(axis(), untuned)
