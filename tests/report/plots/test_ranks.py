"""Critical-difference diagrams: a row for each solver, a line for each group not told apart."""

import math

import pytest

from orthobench.report.families import Family
from orthobench.report.plots.ranks import ranks
from orthobench.stats.ranks import Ranks

GROUPS = (("x", "y"), ("y", "z"))


def family(p=0.01, alike=GROUPS):
    found = Ranks({"x": 1.2, "y": 2.0, "z": 2.8}, 12, p, 1.2, 9.0, alike)
    return Family("PCA", ("a", "b"), (), found, (), {}, {})


def test_solvers_have_rows_and_groups_have_lines():
    plot = ranks(family())
    panel = plot.panel()
    assert (plot.kind, plot.name, list(plot.keys())) == ("ranks", "PCA: mean ranks", [()])
    assert panel.y.categories == ("z", "y", "x")  # the first is the lowest
    *solvers, lines = panel.series
    assert {s.solver: (*s.x, *s.y) for s in solvers} == {"x": (1.2, 2), "y": (2, 1), "z": (2.8, 0)}
    assert lines.x == pytest.approx([1.2, 2.0, math.nan, 2.0, 2.8, math.nan], nan_ok=True)
    assert lines.y == pytest.approx([2, 1, math.nan, 1, 0, math.nan], nan_ok=True)
    assert panel.stepped  # so that what is between the ends of a line is inside its corner


def test_rows_name_solvers_and_groups():
    rows = list(ranks(family()).panel().rows())
    assert rows[0] == {"solver": "x", "label": "x", "rank": 1.2}
    ends = [row for row in rows if row["label"] == "not shown to differ"]
    assert [(row["solver"], row["rank"], row["note"]) for row in ends] == [
        ("x", 1.2, "x to y"), ("y", 2.0, "x to y"), ("y", 2.0, "y to z"), ("z", 2.8, "y to z"),
    ]  # fmt: skip


def test_says_what_was_tested():
    about = " · ".join(ranks(family()).about)
    assert "12 problems" in about
    assert "they are not all equal (Friedman's test, p = 0.0100)" in about
    assert "Nemenyi's critical difference 1.20" in about
    assert "a line joins the first and the last of those not shown to differ" in about
    apart = ranks(family(alike=()))
    assert "each differs from each" in " · ".join(apart.about)
    assert [s.solver for s in apart.panel().series] == ["x", "y", "z"]


@pytest.mark.parametrize("p", [0.05, 0.6, math.nan])
def test_says_that_no_difference_is_shown(p):
    about = " · ".join(ranks(family(p, (("x", "y", "z"),))).about)
    assert "no difference shown between any of them" in about
    assert "a line joins" not in about


def test_refuses_a_family_without_ranks():
    with pytest.raises(ValueError, match="too few problems for mean ranks"):
        ranks(Family("PCA", ("a",), (), None, (), {}, {}))
