"""Which plots a comparison has, and in which order."""

import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.collection import family_plots
from orthobench.report.plots.problems import problem_plots
from orthobench.results.tuning import choose


@pytest.fixture
def entries(runs):
    """Two solvers on PCA and on Tucker, and one alone on another family."""
    tucker = [altered(r, problem="t", family="Tucker") for s in "ab" for r in runs(s, 1.0)]
    alone = [altered(r, problem="o", family="other") for r in runs("a", 1.0)]
    refused = [altered(r, solver="b", status=RunStatus.REFUSED) for r in alone]
    return choose([*runs("a", 1.0), *runs("b", 2.0), *tucker, *alone, *refused])


def test_across_has_the_plots_of_each_family_with_two_solvers(entries):
    assert [(p.kind, p.name.split(":")[0]) for p in family_plots(entries)] == [
        ("profile", "PCA"), ("expected", "PCA"), ("profile", "Tucker"), ("expected", "Tucker"),
    ]  # fmt: skip


def test_problem_has_a_tuning_plot_if_it_was_tuned(runs):
    assert [p.kind for p in problem_plots(choose(runs("a", 1.0)))] == ["convergence"]
    tuned = [r for step in (1.0, 2.0) for r in runs("a", step, tuned={"step": step})]
    assert [p.kind for p in problem_plots(choose(tuned))] == ["convergence", "tuning"]


def test_every_panel_of_every_plot_can_be_drawn(entries):
    for plot in (*family_plots(entries), *problem_plots(entries[:2])):
        for key in list(plot.keys()):
            panel = plot.panel(*key)
            assert panel.series
