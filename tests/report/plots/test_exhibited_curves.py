"""Overlays: the curves that solutions exhibit, as panels."""

import numpy as np
import pytest

from orthobench.contract.exhibits import Curve
from orthobench.report.plots.exhibits import curves, exhibitions
from orthobench.results.tuning import choose


@pytest.fixture
def shown(three, load):
    (found,) = exhibitions(three, load)
    return found


def test_a_panel_has_references_first_then_the_curve_of_each_solver(shown, exhibit):
    (plot,) = curves(shown)
    assert (plot.name, plot.kind) == ("digits k=4: curves", "curves")
    assert plot.choices == {"curve": ["ROC"]}
    panel = plot.panel("ROC")
    assert (panel.x.label, panel.y.label) == ("false positives", "true positives")
    assert (panel.x.log, panel.y.log, panel.title) == (False, False, "ROC")
    assert [(one.solver, one.label) for one in panel.series] == [
        ("", "chance"), ("hooi", "hooi"), ("pgd", "pgd"), ("spgd", "spgd"),
    ]  # fmt: skip
    assert panel.series[0].x.tolist() == [0, 1]
    for one in panel.series[1:]:
        curve = exhibit(one.solver, 0)["ROC"]
        np.testing.assert_array_equal(one.x, curve.x)
        np.testing.assert_array_equal(one.y, curve.y)


def test_references_are_in_the_panels_with_their_labels(three):
    x = np.arange(5.0)
    of_one = {
        "before": Curve(x, x, "day", "return"),
        "after": Curve(x, x**2, "day", "return"),
        "equal weights": Curve(x, x / 2, "day", "return", reference=True),
        "spectrum": Curve(x, -x, "index", "value"),
    }
    (shown,) = exhibitions(three, lambda records: {r.key: of_one for r in records})
    (plot,) = curves(shown)
    panels = [plot.panel(*key) for key in plot.sheet]
    assert [(p.title, (p.x.label, p.y.label), p.series[0].label) for p in panels] == [
        ("before", ("day", "return"), "equal weights"),
        ("after", ("day", "return"), "equal weights"),
        ("spectrum", ("index", "value"), "hooi"),
    ]
    assert [len(panel.series) for panel in panels] == [4, 4, 3]


def test_solvers_without_curve_are_named(three, runs, exhibit):
    every = choose([r for e in three for r in e.records] + runs("meg", 1.0, failed=5))

    def lacking(records):
        found = {r.key: exhibit(r.solver.label, r.seed) for r in records}
        return {
            key: {n: e for n, e in own.items() if " pgd " not in key or n != "ROC"}
            for key, own in found.items()
        }

    (shown,) = exhibitions(every, lacking)
    (plot,) = curves(shown)
    assert {"without exhibits: meg", "without curves: pgd"} <= {*plot.about}
    assert [one.solver for one in plot.panel().series] == ["", "hooi", "spgd"]
