"""Profiles, ECDFs and expected costs as plots: what is offered, what is drawn, what is said."""

from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots import families
from orthobench.report.plots.families import (
    ecdf_panel,
    profile_panel,
    target_plots,
)
from orthobench.results.tuning import choose
from orthobench.stats.targets import run_matrix


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
            "ecdf": [("seconds", "of the gap"), ("flops", "of the gap")],
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


class TestEcdf:
    def test_offers_costs(self, entries):
        found = plots_of(entries)["ecdf"]
        assert (found.kind, found.name) == ("ecdf", "PCA: targets reached")
        assert found.choices == {
            "cost": ("seconds", "flops", "samples", "steps"),
            "targets": ("of the gap", "as in COCO"),
        }
        assert set(found.sheet) <= set(found.keys())
        assert "as in COCO 51: 100 down to 1e-08 above that best value" in found.about[2]
        assert "20 targets for each: at most 56.2 % down to 0.001 % of the gap" in found.about[2]

    def test_lines_begin_where_the_first_target_is_reached(self, entries):
        panel = plots_of(entries)["ecdf"].panel("steps")
        assert panel.stepped
        begins, ends = {s.x[0] for s in panel.series}, {s.x[-1] for s in panel.series}
        assert (len(begins), len(ends)) == (1, 1)
        assert max(s.y[0] for s in panel.series) > 0


@pytest.mark.parametrize("draw", [lambda r: profile_panel(r, "flops", "10 %"),
                                  lambda r: ecdf_panel(r, "flops")])  # fmt: skip
def test_long_lines_are_thinned_to_within_what_can_be_seen(runs, draw, monkeypatch):
    entries = choose(
        [r for i in range(12) for s in "ab" for r in runs(s, 1.0 + i, problem=f"p{i}", points=40)]
    )
    rng = np.random.default_rng(0)
    found = run_matrix(entries)
    jitter = rng.uniform(0.5, 2.0, found.spent["flops"].shape)
    found = replace(found, spent={"flops": found.spent["flops"] * jitter})
    monkeypatch.setattr(families, "LONGEST", 10**6)
    whole = draw(found)
    monkeypatch.setattr(families, "LONGEST", 10)
    for full, thin in zip(whole.series, draw(found).series, strict=True):
        assert len(thin.x) <= 13 < len(full.x)
        assert thin.x[[0, -1]].tolist() == full.x[[0, -1]].tolist()
        drawn = thin.y[np.searchsorted(thin.x, full.x, side="right") - 1]
        assert (drawn <= full.y).all()
        assert (full.y - drawn <= 0.1 + 1e-12).all()
        kept = np.isin(full.x, thin.x)
        np.testing.assert_array_equal(drawn[kept], full.y[kept])
