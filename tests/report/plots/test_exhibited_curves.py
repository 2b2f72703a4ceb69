"""Overlays: the curves that solutions exhibit, as panels."""

import numpy as np
import pytest

from orthobench.contract.exhibits import Curve
from orthobench.report.plots.collection import exhibit_plots
from orthobench.report.plots.exhibits import POINTS, curves, exhibitions, thinned
from orthobench.results.tuning import choose


@pytest.fixture
def shown(three, load):
    (found,) = exhibitions(three, load)
    return found


def test_a_panel_has_references_first_then_the_curve_of_each_solver(shown, exhibit):
    (plot,) = exhibit_plots([shown])
    assert (plot.name, plot.kind) == ("digits k=4: curves", "curves")
    assert plot.choices == {"curve": ("ROC",)}
    panel = plot.panel("ROC")
    assert (panel.x.label, panel.y.label) == ("false positives", "true positives")
    assert (panel.x.log, panel.y.log, panel.title) == (False, False, "ROC")
    assert [(one.solver, one.label) for one in panel.series] == [
        ("", "chance"), ("hooi", "hooi"), ("pgd", "pgd"), ("spgd", "spgd"),
    ]  # fmt: skip
    assert panel.series[0].x.tolist() == [0, 1]
    for one in panel.series[1:]:
        curve = exhibit(one.solver, shown.seed)["ROC"]
        np.testing.assert_array_equal(one.x, curve.x)
        np.testing.assert_array_equal(one.y, curve.y)


def test_one_panel_for_each_name_and_pair_of_labels(three):
    x = np.arange(5.0)
    of_one = {
        "before": Curve(x, x, "day", "return"),
        "after": Curve(x, x**2, "day", "return"),
        "equal weights": Curve(x, x / 2, "day", "return", reference=True),
        "spectrum": Curve(x, -x, "index", "value"),
        "bound": Curve(x, x, "step", "bound", reference=True),
    }
    (shown,) = exhibitions(three, lambda records: {r.key: of_one for r in records})
    plot = curves(shown)
    panels = [plot.panel(*key) for key in plot.sheet]
    assert [(p.title, (p.x.label, p.y.label), p.series[0].label) for p in panels] == [
        ("before", ("day", "return"), "equal weights"),
        ("after", ("day", "return"), "equal weights"),
        ("spectrum", ("index", "value"), "hooi"),
        ("references", ("step", "bound"), "bound"),
    ]
    assert plot.choices["curve"] == ("before", "after", "spectrum", "references")
    assert [len(plot.panel(*key).series) for key in plot.sheet] == [4, 4, 3, 1]


def test_curves_of_one_name_and_other_labels_are_other_options(three):
    x = np.arange(5.0)

    def differing(records):
        found = {
            r.key: Curve(x, x, "day", "%" if r.solver.label == "pgd" else "EUR") for r in records
        }
        return {key: {"return": curve} for key, curve in found.items()}

    (shown,) = exhibitions(three, differing)
    assert curves(shown).choices["curve"] == ("return", "return (day / %)")


def test_solvers_without_curve_are_named(three, runs, exhibit):
    every = choose([r for e in three for r in e.records] + runs("meg", 1.0, failed=5))

    def lacking(records):
        found = {r.key: exhibit(r.solver.label, r.seed) for r in records}
        return {
            key: {n: e for n, e in own.items() if " pgd " not in key or n != "ROC"}
            for key, own in found.items()
        }

    (shown,) = exhibitions(every, lacking)
    plot = curves(shown)
    assert "pgd has no curve" in plot.about
    assert "meg is not shown (diverged)" in plot.about
    assert [one.solver for one in plot.panel().series] == ["", "hooi", "spgd"]


def test_thinning_keeps_the_early_rise_of_a_roc():
    rng = np.random.default_rng(0)
    truth = np.sort(rng.random(50_000))[::-1] > 0.998
    truth = truth[np.argsort(np.arange(50_000) + 200 * rng.standard_normal(50_000))]
    y, x = np.cumsum(truth) / truth.sum(), np.cumsum(~truth) / (~truth).sum()
    thin_x, thin_y = thinned(Curve(x, y, "", ""))
    assert len(thin_x) <= POINTS + 2
    assert {(thin_x[0], thin_y[0]), (1, 1)} <= set(zip(thin_x, thin_y, strict=True))
    steps = np.hypot(np.diff(thin_x), np.diff(thin_y))
    assert steps.max() < 2 * 2 / POINTS + 1 / truth.sum()


def test_thinning_keeps_gaps_and_short_curves():
    x = np.arange(10_000.0)
    y = np.where((x > 500) & (x < 503), np.nan, np.sin(x))
    _, thin = thinned(Curve(x, y, "", ""))
    assert np.isnan(thin).any()
    short = Curve(x[:POINTS], y[:POINTS], "", "")
    assert thinned(short)[0].tolist() == short.x.tolist()
    _, flat = thinned(Curve(np.zeros(9999), np.zeros(9999), "", ""))
    assert set(flat.tolist()) == {0.0}
