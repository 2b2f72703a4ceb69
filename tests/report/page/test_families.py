"""The matrix of a family: factors as found, failures and absences visible."""

from dataclasses import replace

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.families import conclusions
from orthobench.report.page.failures import failure_groups, refusal_groups
from orthobench.report.page.families import family_section
from orthobench.report.ranking import rank
from orthobench.results.tuning import choose


def found(records):
    entries = choose(records)
    ranked = [r for r in rank(entries) if r.entry.finished and not r.entry.refused]
    ids = {entry.problem: entry.problem for entry in entries}
    return family_section(conclusions(rank(entries))[0], entries, ranked, ids)


def refusing(runs, solver, problem):
    return [
        altered(r, status=RunStatus.REFUSED, reason="needs more", trace=())
        for r in runs(solver, 1.0, problem=problem)
    ]


def cells(shown):
    return {
        (line.problem, solver): cell
        for line in shown.matrix
        for solver, cell in zip(shown.solvers, line.cells, strict=True)
    }


def test_factors_stand_in_their_cells(runs):
    solvers = {"a": 1.0, "bb": 4.0, "ccc": 20.0}
    shown = cells(found([r for s, level in solvers.items() for r in runs(s, level, seeds=7)]))
    kinds = {solver: cell.kind for (_, solver), cell in shown.items()}
    assert kinds == {"a": "best", "bb": "other", "ccc": "other"}
    assert shown["digits k=4", "a"].text == "1.00"
    assert 3.5 < float(shown["digits k=4", "bb"].text) < 4.5
    assert [cell.tint for cell in shown.values()] == [0, 2, 3]


def test_what_was_not_run_yet_is_no_failure(runs):
    waiting = [
        altered(r, status=RunStatus.MISSING, reason="not run yet", trace=())
        for r in runs("b", 2.0, problem="q")
    ]
    records = [*runs("a", 1.0, problem="q"), *waiting, *runs("b", 2.0, problem="p")]
    shown = found(records)
    assert cells(shown)["q", "b"].tooltip == "not run yet"
    assert not any(row.fails for row in shown.ranking)
    assert "Not run yet, and not counted: b 5 of 10 runs." in shown.sentences


def test_failures_stay_visible(runs):
    shown = cells(found([*runs("a", 1.0), *runs("b", 0.5, failed=2), *runs("c", 2.0, failed=5)]))
    assert shown["digits k=4", "a"].kind == "best"
    assert (shown["digits k=4", "b"].failed, shown["digits k=4", "c"].failed) == ("2/5", "5/5")
    assert shown["digits k=4", "c"].kind == "failed"


def test_who_takes_no_part_has_a_cell_that_says_so(runs):
    records = [
        *runs("a", 1.0, problem="p"), *runs("b", 2.0, problem="p"),
        *runs("a", 1.0, problem="q"), *refusing(runs, "b", "q"), *refusing(runs, "c", "q"),
    ]  # fmt: skip
    shown = found(records)
    cell = cells(shown)["q", "b"]
    assert (cell.kind, cell.tooltip) == ("absent", "takes no part: needs more")
    assert shown.absent == ("c",)


def test_medians_stand_where_there_are_no_factors(runs):
    zeros = [
        replace(r, trace=tuple(replace(m, metrics={**m.metrics, "gap": -1.0}) for m in r.trace))
        for r in runs("a", 1.0)
    ]
    shown = found([*zeros, *runs("b", 2.0)])
    assert shown.has_medians
    assert all(cell.is_median for cell in cells(shown).values() if cell.kind != "best")


def test_reasons_are_told_once_for_all_that_share_them(runs):
    records = [
        *runs("a", 1.0, problem="p"), *refusing(runs, "b", "p"), *refusing(runs, "c", "p"),
        *runs("a", 1.0, problem="q"), *refusing(runs, "b", "q"), *refusing(runs, "c", "q"),
    ]  # fmt: skip
    (one,) = refusal_groups(choose(records))
    assert (one.reason, one.solvers, one.problems) == ("needs more", ("b", "c"), ("p", "q"))


def test_failures_of_trials_not_chosen_are_told_apart(runs, made):
    bad = runs("a", 1.0, seeds=3, failed=3, tuned={"step": 8.0})
    results = made([*bad, *runs("a", 1.0, seeds=3, tuned={"step": 1.0})])
    (one,) = failure_groups(results, rank(results.entries))
    assert (one.tuned, one.chosen, one.runs, one.seeds) == ("step=8", False, 3, "0-2")


def test_a_run_without_its_metric_is_a_failure(runs, made):
    good, *rest = runs("a", 1.0, seeds=3)
    trace = tuple(replace(mark, metrics={"val": 1.0}) for mark in good.trace)
    results = made([replace(good, trace=trace), *rest])
    (one,) = failure_groups(results, rank(results.entries))
    assert (one.seeds, one.reason) == ("0", "the judge did not report gap")


def test_who_wins_leads_and_nobody_where_all_failed(runs):
    shown = found([*runs("a", 1.0), *runs("b", 2.0)])
    assert [place.leads for place in shown.ranking] == [True, False]
    shown = found([*runs("a", 1.0, failed=5), *runs("b", 2.0, failed=5)])
    assert [place.leads for place in shown.ranking] == [False, False]


def test_a_factor_that_rounding_makes_is_told_as_large(runs):
    shown = cells(found([*runs("a", 1e-9), *runs("b", 1.0)]))
    assert shown["digits k=4", "b"].text == "> 1.00e6"
