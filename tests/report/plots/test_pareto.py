"""Quality against cost: geometric means of what is left and of what is spent, and its front."""

import numpy as np
import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.pareto import FRONT, LEAST, pareto
from orthobench.results.tuning import choose


def points(plot, *key):
    panel = plot.panel(*key)
    return {s.solver: (s.x[0], s.y[0]) for s in panel.series if s.solver}, panel


def test_points_are_what_the_traces_say(runs):
    levels = {"a": 1.0, "b": 2.0, "c": 4.0}
    records = {s: runs(s, v, seeds=5) for s, v in levels.items()}
    plot = pareto(choose([r for own in records.values() for r in own]))
    found, _ = points(plot, "flops")
    lows = [min(r.trace[i].metrics["gap"] for own in records.values() for r in own[s : s + 1]
                for i in range(len(r.trace))) for s in range(5)]  # fmt: skip
    for solver, own in records.items():
        left = []
        for seed, record in enumerate(own):
            values = [mark.metrics["gap"] for mark in record.trace]
            start = max(records[s][seed].trace[0].metrics["gap"] for s in levels)
            left.append(max(LEAST, (min(values) - lows[seed]) / (start - lows[seed])))
        assert found[solver] == pytest.approx((own[0].trace[-1].work.flops, np.median(left)))


def test_over_problems_costs_are_multiples_of_the_least(runs):
    records = [r for p in "pq" for s in ("a", "bb") for r in runs(s, len(s), problem=p)]
    slow = [
        altered(r, trace=tuple(m.__class__(3 * m.seconds, 3 * m.readout_seconds, m.work, m.metrics)
                               for m in r.trace)) if r.solver.label == "bb" else r
        for r in records
    ]  # fmt: skip
    found, panel = points(pareto(choose(slow)), "seconds")
    assert found["a"][0] == pytest.approx(1.0)
    assert found["bb"][0] == pytest.approx(3.0)
    assert "multiple" in panel.x.label


def test_a_solver_whose_runs_all_failed_has_no_point(runs):
    failed = [altered(r, status=RunStatus.ERROR) for r in runs("b", 1.0)]
    found, _ = points(pareto(choose([*runs("a", 1.0), *failed])), "seconds")
    assert set(found) == {"a"}


def test_the_front_falls_and_no_point_is_below_it(runs):
    records = [r for i, s in enumerate("abcde") for r in runs(s, 1.0 + (3 * i) % 5)]
    found, panel = points(pareto(choose(records)), "seconds")
    fronts = [s for s in panel.series if s.label == FRONT]
    for front in fronts:
        assert (np.diff(front.x) > 0).all()
        assert (np.diff(front.y) < 0).all()
        for x, y in found.values():
            assert not any(x < fx and y < fy for fx, fy in zip(front.x, front.y, strict=True))


def test_a_solver_on_fewer_problems_says_so(runs):
    records = [r for p in "pq" for r in runs("a", 1.0, problem=p)]
    records += runs("b", 2.0, problem="p")
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("b", 1.0, problem="q")]
    _, panel = points(pareto(choose([*records, *refused])), "seconds")
    assert "b (1 of 2 problems)" in [s.label for s in panel.series]


def test_a_problem_that_is_still_to_come_does_not_count(runs):
    waiting = {"status": RunStatus.MISSING, "trace": ()}
    later = [altered(r, **waiting) for s in "ab" for r in runs(s, 1.0, problem="q")]
    found, panel = points(pareto(choose([*runs("a", 1.0), *runs("b", 2.0), *later])), "seconds")
    assert {s.label for s in panel.series if s.solver} == {"a", "b"}
    assert "multiple" not in panel.x.label
    assert set(found) == {"a", "b"}
