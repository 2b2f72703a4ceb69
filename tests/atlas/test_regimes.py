"""What counts in a comparison, and who is best at that."""

import math
from dataclasses import replace

import pytest

from orthobench.atlas.regimes import LOWEST, compared, cost, within
from orthobench.atlas.table import SHARES
from orthobench.stats.paired import Decision


def test_the_best_is_that_of_the_smallest_median_and_the_others_are_tested(rows):
    found = compared(rows(problems=2, solvers=3, seeds=8), LOWEST)
    assert [one.rows[0].problem for one in found] == ["p0 k=2", "p1 k=3"]
    for one in found:
        assert one.contest.best == "solver-0"
        assert one.contest.shown
        assert {c.decision for c in one.contest.comparisons} == {Decision.BEHIND}
        assert one.factors["solver-0"] == 1
        assert one.factors["solver-2"] == pytest.approx(3, rel=0.3)


def test_a_solver_that_failed_once_or_has_no_run_is_failing(rows):
    made = rows(problems=1, seeds=6)
    made[0] = replace(made[0], value=math.inf, failed=True)
    (one,) = compared(made[:-1], LOWEST)
    assert one.failing == {"solver-0", "solver-3"}
    assert one.contest.best == "solver-1"


def test_withdrawn_rows_do_not_count(rows):
    made = [replace(row, tier="withdrawn") if row.solver == "solver-0" else row for row in rows()]
    assert all(one.contest.best == "solver-1" for one in compared(made, LOWEST))


def test_differences_at_rounding_level_are_ties(rows):
    made = [replace(row, value=1e-13 * (1 + row.seed)) for row in rows()]
    assert all(one.contest.equal for one in compared(made, LOWEST))


def test_costs_count_to_the_hundredth_of_the_gap(rows):
    row = rows(seeds=1)[0]
    assert cost("samples").value(row) == row.samples_to[SHARES.index(0.01)]


def test_within_a_budget_the_targets_reached_by_then_count(rows):
    row = rows(problems=1, solvers=1, seeds=1)[0]
    first, second, *_ = row.samples_to
    assert within("samples", 0.5 * first).value(row) == 1
    assert within("samples", first).value(row) == SHARES[0]
    assert within("samples", second).value(row) == SHARES[1]
    gap = (row.value - row.lowest) / (row.start - row.lowest)
    assert within("samples", row.samples).value(row) == pytest.approx(max(gap, 0))
    assert within("samples", 1).value(replace(row, failed=True)) == math.inf
