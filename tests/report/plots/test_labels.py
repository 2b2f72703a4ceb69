"""Labels and captions: what they say of solvers, costs, seeds, and who is left out and why."""

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.families import (
    caption,
    costs,
    expected_panel,
)
from orthobench.report.plots.labels import (
    about,
    medians,
)
from orthobench.results.tuning import choose
from orthobench.stats.targets import run_matrix


def test_captions_name_families_budgets_and_what_is_not_empty(runs):
    entries = choose([altered(r, budget={"steps": 9.0}) for r in runs("a", 1.0) + runs("b", 2.0)])
    assert about(entries, "more", "") == ("PCA", "budget 9 steps", "more")
    assert medians(entries) == ["median over 5 seeds, band: 25 to 75 %", ""]
    assert medians(entries, banded=False) == ["median over 5 seeds", ""]
    failed = choose(runs("a", 1.0, failed=1))
    assert medians(failed)[1] == "× where a run failed"
    assert medians(failed, crossed=False)[1] == ""


def test_captions_of_families_count_what_is_not_solved(runs):
    records = [
        *runs("a", 1.0, problem="p"), *runs("b", 2.0, problem="p", failed=1),
        *runs("a", 1.0, problem="q", seeds=2),
    ]  # fmt: skip
    entries = choose([altered(r, budget={"steps": 9.0}) for r in records])
    said = caption(entries, run_matrix(entries), "a plot")
    assert said[:5] == (
        "PCA", "budget 9 steps", "7 instances: 2 problems, each with its seeds", "a plot",
        "failed runs solve nothing",
    )  # fmt: skip
    assert "b takes no part in 1 of 2 problems, which count as not solved: q" in said
    other = choose([*runs("a", 1.0), *[altered(r, budget={"steps": 9.0}) for r in runs("b", 1.0)]])
    said = caption(other, run_matrix(other), "")
    assert said[1:] == ("problems have budgets of their own", "5 instances: 1 problem × 5 seeds")


def test_costs_that_runs_may_lack_are_offered_where_all_have_them(runs):
    def measured(records, *values):
        ends = [
            altered(r, trace=(*r.trace[:-1], _with(r.trace[-1], passes=value)))
            for r, value in zip(records, values, strict=True)
        ]
        return costs(choose(ends))

    assert "passes" in measured(runs("a", 1.0, seeds=2), 3.0, 1.0)
    assert "passes" not in measured(runs("a", 1.0, seeds=2), 3.0, 0.0)
    assert "passes" not in costs(choose(runs("a", 1.0)))
    one = [altered(r, trace=r.trace[:1]) for r in runs("b", 1.0, samples=False)]
    assert "samples" in costs(choose([*runs("a", 1.0), *one]))  # they have done nothing yet
    refused = [altered(r, status=RunStatus.REFUSED) for r in runs("b", 1.0, samples=False)]
    assert "samples" in costs(choose([*runs("a", 1.0), *refused]))
    assert "samples" not in costs(choose(runs("a", 1.0, samples=False)))


def _with(mark, **metrics):
    from dataclasses import replace

    return replace(mark, metrics={**mark.metrics, **metrics})


def test_expected_costs_stand_above_their_problems_with_how_many_runs_got_there(runs):
    records = [*runs("a", 1.0, problem="p"), *runs("b", 9.0, problem="p")]
    panel = expected_panel(run_matrix(choose(records)), "flops", "10 %")
    assert panel.x.categories == ("p",)
    notes = {series.solver: series.notes for series in panel.series}
    assert notes["a"] == ("5 of 5 runs reached it",)
    assert notes["b"][0].endswith("of 5 runs reached it")
