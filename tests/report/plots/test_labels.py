"""Labels and captions of solvers, costs and seeds."""

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.families import costs, expected_panel
from orthobench.results.tuning import choose
from orthobench.stats.targets import run_matrix


def test_optional_costs_are_offered_if_all_runs_have_them(runs):
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


def test_expected_costs_have_notes_with_the_number_of_hits(runs):
    records = [*runs("a", 1.0, problem="p"), *runs("b", 9.0, problem="p")]
    panel = expected_panel(run_matrix(choose(records)), "flops", "10 %")
    assert panel.x.categories == ("p",)
    notes = {series.solver: series.notes for series in panel.series}
    assert notes["a"] == ("5 of 5 runs reached it",)
    assert notes["b"][0].endswith("of 5 runs reached it")
