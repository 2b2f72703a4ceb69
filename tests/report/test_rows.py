"""Rows of tables: what they count, and values at rounding level."""

import math
from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.decide.comparisons import compare
from orthobench.harness.stopping import RunStatus
from orthobench.report.rows import rows_by_problem
from orthobench.results.tuning import choose
from orthobench.stats.values import metric_of

ROUNDING = 1e-12


def rows(records):
    entries = choose(records)
    ((_, found),) = rows_by_problem(entries, compare(entries))
    return found


def test_rows_of_a_problem_are_made_of_its_results_alone(runs):
    names = [f"problem {number}" for number in range(3)]
    records = [
        altered(run, problem=name)
        for name in names for solver in "ab" for run in runs(solver, 1.0)
    ]  # fmt: skip
    entries = choose(records)
    for name, (comparison, own) in zip(
        names, rows_by_problem(entries, compare(entries)), strict=True
    ):
        assert comparison.problem == name
        assert [row.result.problem for row in own] == [name] * 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1e-12, "<1e-12"), (-1e-12, "<1e-12"), (1e-300, "<1e-12"),
        (1.01e-12, "1.01e-12"), (0.5, "0.500"), (math.inf, "inf"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_values_at_rounding_level_are_only_said_to_be_below_it(runs, value, text):
    (row,) = rows(runs("a", 1.0))
    assert replace(row, rounding=1e-12).text(value) == text
    assert replace(row, rounding=3e-13).text(1e-13) == "<1e-12"


def test_runs_are_counted_by_how_they_ended(runs):
    missing = altered(runs("a", 1.0)[4], status=RunStatus.MISSING, trace=())
    (row,) = rows([*runs("a", 1.0, failed=1)[:4], missing])
    assert row.runs == {"planned": 5, "ok": 3, "failed": 1, "missing": 1}


def test_metrics_are_medians_over_the_runs_that_did_not_fail(runs):
    records = runs("a", 1.0, failed=2)
    (row,) = rows(records)
    ends = [r.trace[-1].metrics["gap"] for r in records[2:]]
    assert row.metrics["gap"] == pytest.approx(np.median(ends))
    assert row.median_of(metric_of("rank")) == 9
    assert set(row.metrics) == {"gap", "rank", "val", "constraint_violation"}
