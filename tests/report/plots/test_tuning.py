"""Tuning curves, against the scores that tuning itself chose by."""

import math

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.problems import tuning
from orthobench.results.tuning import choose


def grid(runs, solver, levels, **more):
    """Return the runs of a solver at several tuned values, with a level of the end for each."""
    return [
        record for values, level in levels for record in runs(solver, level, tuned=values, **more)
    ]


@pytest.fixture
def records(runs):
    """Solver a is tuned in step and batch, b in step, c in nothing."""
    a = [({"step": s, "batch": b}, abs(math.log2(s / 2)) + b) for s in (1, 2, 40) for b in (1, 3)]
    b = [({"step": s}, s) for s in (8.0, 4.0)]
    return [*grid(runs, "a", a), *grid(runs, "b", b), *runs("c", 1.0)]


def test_offers_every_tuned_parameter(records):
    plot = tuning(choose(records))
    assert (plot.kind, plot.name) == ("tuning", "digits k=4: tuning")
    assert plot.choices == {"parameter": ("step", "batch")}
    assert set(plot.sheet) <= set(plot.keys())


def test_scores_have_other_parameters_at_their_chosen_values(records):
    entries = choose(records)
    a, b = tuning(entries).panel("step").series
    of_a = {tuple(t.tuned.items()): t.score for t in entries[0].trials}
    assert a.x.tolist() == [1, 2, 40]
    assert a.y.tolist() == [of_a[("step", s), ("batch", 1)] for s in (1, 2, 40)]
    assert a.notes == ("step=1, batch=1", "step=2, batch=1", "step=40, batch=1")
    assert (a.chosen, b.chosen) == (1, 0)
    assert a.y[a.chosen] == min(a.y)
    assert b.x.tolist() == [4, 8]
    (only,) = tuning(entries).panel("batch").series
    assert (only.solver, only.x.tolist(), only.chosen) == ("a", [1, 3], 0)


def test_failed_and_missing_runs_make_a_trial_infinite(runs):
    records = [*grid(runs, "a", [({"step": 1.0}, 1.0)]),
               *grid(runs, "a", [({"step": 2.0}, 0.1)], failed=2),
               *grid(runs, "a", [({"step": 4.0}, 0.1)])]  # fmt: skip
    waiting = {"status": RunStatus.MISSING, "reason": "not run yet", "trace": ()}
    records[-2:] = [altered(r, **waiting) for r in records[-2:]]
    entries = choose(records)
    score = tuning(entries).panel("step").series[0]
    assert np.isinf(score.y).tolist() == [False, True, True]
    assert score.notes == ("step=1", "step=2, failed 2 of 5", "step=4")
    assert score.chosen == 0


def test_values_that_are_no_numbers_are_categories(runs):
    a = [({"rule": "slow"}, 1.0), ({"rule": "fast"}, 2.0)]
    b = [({"rule": "slow"}, 2.0), ({"rule": True}, 1.0)]
    records = [*grid(runs, "a", a), *grid(runs, "b", b)]
    panel = tuning(choose(records)).panel("rule")
    assert set(panel.x.categories) == {"slow", "fast", "True"}
    assert not panel.x.log
    for series, best in zip(panel.series, ("slow", "True"), strict=True):
        assert panel.x.categories[int(series.x[series.chosen])] == best
        assert (np.diff(series.x) > 0).all()


def test_values_that_span_a_decade_are_on_a_logarithmic_axis(runs):
    for values, log in (
        ((1, 10), True), ((1, 9.5), False), ((0, 10), False), ((8.0, 9.0), False), ((-1, 1), False)
    ):  # fmt: skip
        entries = choose(grid(runs, "a", [({"step": v}, 1.0) for v in values], seeds=1))
        assert tuning(entries).panel().x.log is log, values


def test_solvers_without_tuning_are_left_out(runs, records):
    refusing = [altered(r, solver="d", status=RunStatus.REFUSED, trace=()) for r in records[:10]]
    entries = choose([*records, *refusing])
    assert {s.solver for s in tuning(entries).panel().series} == {"a", "b"}
    assert tuning(choose(runs("c", 1.0))) is None
