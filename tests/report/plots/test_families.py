"""Profiles and expected costs as plots: what is offered, what is drawn, what is said."""

from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.families import target_plots
from orthobench.results.tuning import choose


def plots_of(entries):
    return {plot.kind: plot for plot in target_plots(entries)}


@pytest.fixture
def entries(runs):
    """Three solvers on two problems, of which slow fails once and picky takes part in one."""
    records = [
        record
        for problem in ("digits k=1", "digits k=4")
        for record in (
            *runs("fast", 0.1, problem=problem),
            *runs("slow", 1.0, problem=problem, failed=1),
            *runs("picky", 0.2, problem=problem),
        )
    ]
    refusing = [
        altered(r, status=RunStatus.REFUSED, reason="too large", trace=())
        if r.solver.label == "picky" and r.problem.label == "digits k=4"
        else r
        for r in records
    ]
    return choose(refusing)


class TestProfile:
    def test_offers_costs_and_accuracies(self, entries):
        found = plots_of(entries)["profile"]
        assert found.kind == "profile"
        assert found.name == "PCA: performance profiles"
        assert found.choices == {
            "cost": ("seconds", "flops", "samples", "steps"),
            "accuracy": ("10 %", "1 %", "0.1 %", "0.001 %"),
        }
        assert set(found.sheet) <= set(found.keys())
        sheets = {kind: plot.sheet for kind, plot in plots_of(entries).items()}
        assert sheets == {
            "profile": [("seconds", at) for at in ("10 %", "1 %", "0.1 %")],
            "expected": [("seconds", "10 %"), ("seconds", "1 %")],
        }

    def test_draws_a_line_for_each_solver_from_1_to_the_same_end(self, entries):
        panel = plots_of(entries)["profile"].panel("steps", "10 %")
        assert panel.stepped
        assert panel.x.log
        assert not panel.y.log
        assert [s.solver for s in panel.series] == ["fast", "slow", "picky"]
        assert {s.x[0] for s in panel.series} == {1.0}
        assert len({s.x[-1] for s in panel.series}) == 1
        for s in panel.series:
            assert (np.diff(s.x) > 0).all()
            assert (np.diff(s.y) >= 0).all()
            assert s.y[0] >= 0

    def test_failures_and_absences_are_in_the_shares(self, entries):
        fast, slow, picky = plots_of(entries)["profile"].panel("steps", "10 %").series
        assert fast.y[-1] == 1
        assert slow.y[-1] <= 0.8
        assert picky.y[-1] <= 0.5

    def test_says_what_a_reader_must_know(self, entries):
        found = plots_of(entries)["profile"]
        text = " · ".join(found.about)
        assert "10 instances: 2 problems × 5 seeds" in text
        assert "picky takes no part in 1 of 2 problems, which count as not solved: digits k=4" in (
            text
        )
        assert "failed runs solve nothing" in text
        assert "no run" not in text
        assert [s.label for s in found.panel().series] == ["fast", "slow (2 failed)", "picky"]

    def test_says_on_how_many_instances_nobody_gets_anywhere(self, runs):
        stuck = [replace(r, trace=r.trace[:1] * 2) for r in runs("a", 1.0, failed=2)]
        text = " · ".join(plots_of(choose(stuck))["profile"].about)
        assert "on 2 instances no run finished: solved by nobody" in text
        assert "on 3 instances no run got below the start: solved by nobody" in text

    def test_says_which_instances_wait_for_a_run(self, runs):
        records = [*runs("a", 1.0), *runs("b", 2.0)]
        records[-1] = altered(records[-1], status=RunStatus.MISSING, trace=())
        about = plots_of(choose(records))["profile"].about
        assert "4 instances: 1 problem × 4 seeds" in about
        assert "1 instance not counted: not run yet with all solvers" in about
        assert not any("solve nothing" in part for part in about)

    def test_names_few_of_many_problems(self, runs):
        records = [*runs("picky", 1.0, problem="p0"), *runs("fast", 1.0, problem="p0")]
        for i in range(1, 9):
            records += runs("fast", 1.0, problem=f"p{i}")
        (said,) = (part for part in plots_of(choose(records))["profile"].about if "picky" in part)
        assert said.endswith("p1, p2, p3 and 5 others")

    def test_offers_samples_only_where_all_draw_some(self, runs):
        entries = choose([*runs("a", 1.0), *runs("b", 1.0, samples=False)])
        assert plots_of(entries)["profile"].choices["cost"] == ("seconds", "flops", "steps")

    def test_names_of_solvers_are_one_line_of_text(self, runs):
        entries = choose(runs("<b>a</b>\n\x1b[1m", 1.0))
        (series,) = plots_of(entries)["profile"].panel().series
        assert series.label == "<b>a</b> [1m"
        assert series.solver == "<b>a</b>\n\x1b[1m"
