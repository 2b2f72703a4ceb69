"""Mean ranks as a plot: two solvers differ where their bars do not overlap."""

import math
from types import SimpleNamespace

import pytest

from orthobench.report.families import Family
from orthobench.report.plots.ranks import ranks


def family(p=0.01, cd=1.2):
    mean = {"x": 1.2, "y": 2.0, "z": 2.8}
    found = SimpleNamespace(mean=mean, problems=12, p=p, critical_difference=cd)
    return Family("PCA", ("a", "b"), (), found, (), {}, {})


def test_each_solver_has_a_bar_of_one_critical_difference():
    plot = ranks(family())
    panel = plot.panel()
    assert (plot.kind, plot.name, list(plot.keys())) == ("ranks", "PCA: mean ranks", [()])
    assert panel.x.categories == ("x", "y", "z")
    bars = {s.solver: (s.x[0], s.y[0], s.low[0], s.high[0]) for s in panel.series}
    assert bars["x"] == pytest.approx((0, 1.2, 0.6, 1.8))
    assert bars["z"] == pytest.approx((2, 2.8, 2.2, 3.4))
    differ = bars["x"][3] < bars["z"][2]
    assert differ == (2.8 - 1.2 > 1.2)
    assert not bars["x"][3] < bars["y"][2]


def test_rows_name_the_solvers():
    row = next(ranks(family()).panel().rows())
    assert row == {"solver": "x", "label": "x", "rank": 1.2,
                   "low": pytest.approx(0.6), "high": pytest.approx(1.8)}  # fmt: skip


def test_says_what_was_tested():
    about = " · ".join(ranks(family()).about)
    assert "12 problems" in about
    assert "they are not all equal (Friedman's test, p = 0.0100)" in about
    assert "Nemenyi's critical difference 1.20" in about


@pytest.mark.parametrize("p", [0.05, 0.6, math.nan])
def test_says_that_no_difference_is_shown(p):
    about = " · ".join(ranks(family(p)).about)
    assert "no difference shown between any of them" in about
    assert "not overlap" not in about


def test_refuses_a_family_without_ranks():
    with pytest.raises(ValueError, match="too few problems for mean ranks"):
        ranks(Family("PCA", ("a",), (), None, (), {}, {}))
