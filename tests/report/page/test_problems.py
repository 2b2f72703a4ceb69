"""Sections of problems: marks, refusals, failures and choices."""

from dataclasses import replace

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.page.content import cell, page_content


def refusing(runs, solver, problem):
    return [
        altered(r, status=RunStatus.REFUSED, reason="needs more", trace=())
        for r in runs(solver, 1.0, problem=problem)
    ]


def kinds(page):
    """The marks of the first screen."""
    (section,) = page["families"]
    return {
        (comparison.problem, solver): cell(comparison, solver)[0]
        for comparison in section["answer"].comparisons
        for solver in section["solvers"]
    }


def test_marks_stand_in_their_cells(runs, made):
    levels = {"a": 1.0, "bb": 20.0}
    page = page_content(made([r for s, level in levels.items() for r in runs(s, level, seeds=7)]))
    assert kinds(page) == {("digits k=4", "a"): "star", ("digits k=4", "bb"): "worse"}
    assert page["families"][0]["answer"].solver == "a"


def test_refusing_solver_has_a_cell_without_numbers(runs, made):
    records = [
        *runs("a", 1.0, problem="p"), *runs("b", 2.0, problem="p"),
        *runs("a", 1.0, problem="q"), *refusing(runs, "b", "q"),
    ]  # fmt: skip
    assert kinds(page_content(made(records)))["q", "b"] == "absent"


def test_every_choice_of_the_switch_has_its_answer(runs, made):
    (section,) = page_content(made([*runs("a", 1.0), *runs("b", 2.0)]))["families"]
    costs = ("seconds", "flops", "samples", "steps")
    assert list(section["answers"]) == [(c, t) for c in costs for t in ("1 %", "0.0001 %")]
    assert (section["costs"], section["tolerances"]) == ([*costs], ["1 %", "0.0001 %"])


def test_costs_that_all_runs_measured_are_offered_too(runs, made):
    def measured(run, **spent):
        return replace(run, trace=tuple(
            replace(mark, metrics={**mark.metrics, **{n: v * i for n, v in spent.items()}})
            for i, mark in enumerate(run.trace, 1)
        ))  # fmt: skip

    frugal = [measured(r, peak_bytes=10.0, passes=2.0, products=3.0) for r in runs("a", 1.0)]
    greedy = [measured(r, peak_bytes=90.0, passes=1.0) for r in runs("b", 1.0)]
    (section,) = page_content(made([*frugal, *greedy]))["families"]
    costs = ("seconds", "flops", "samples", "steps", "passes", "memory")
    assert list(dict.fromkeys(cost for cost, _ in section["answers"])) == list(costs)
    for (cost, _), found in section["answers"].items():
        assert found.cost == cost


def test_refusals_of_some_problems_name_these(runs, made):
    records = [
        *runs("a", 1.0, problem="p"), *refusing(runs, "b", "p"), *refusing(runs, "c", "p"),
        *runs("a", 1.0, problem="q"), *refusing(runs, "b", "q"), *runs("c", 2.0, problem="q"),
    ]  # fmt: skip
    assert page_content(made(records))["troubles"] == [
        "1 solver did not run: b (needs more)", "p: c takes no part: needs more",
    ]  # fmt: skip


def test_failures_of_trials_not_chosen_are_apart(runs, made):
    bad = runs("a", 1.0, seeds=3, failed=3, tuned={"step": 8.0})
    results = made([*bad, *runs("a", 1.0, seeds=3, tuned={"step": 1.0})])
    (line,) = page_content(results)["troubles"]
    assert line.startswith("digits k=4: a, not chosen: diverged: ")
    assert line.endswith("(3 runs)")


def test_a_run_without_its_metric_is_a_failure(runs, made):
    good, *rest = runs("a", 1.0, seeds=3)
    trace = tuple(replace(mark, metrics={"val": 1.0}) for mark in good.trace)
    results = made([replace(good, trace=trace), *rest])
    (line,) = page_content(results)["troubles"]
    assert "the judge did not report gap (seed 0)" in line


def test_facts_name_the_samples_of_runs_that_leave_some_of_the_budget(runs, made):
    for budget, told in ((9000.0, ["the longest run used 4,000"]), (4000.0, [])):
        records = [altered(r, budget={"samples": budget}) for r in runs("a", 1.0)]
        (problem,) = page_content(made(records))["problems"]
        assert [fact for fact in problem["facts"] if "used" in fact] == told
