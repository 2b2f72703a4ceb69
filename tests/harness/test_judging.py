"""The judgement of points that are written down here."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.contract import Instance, Solution
from orthobench.contract.solver import Work
from orthobench.errors import DataError
from orthobench.harness.judging import (
    feasible_up_to,
    judged,
    measured_at,
    stop_of,
)
from orthobench.harness.stopping import USED_UP, RunStatus, Target, Termination
from orthobench.harness.trace import Checkpoint, Recording

HERE, THERE = np.eye(3)[:, :1], np.eye(3)[:, 1:2]
CONVERGED = Termination(RunStatus.DONE, "converged after 7 steps")


def instance(metrics=None, **more):
    return Instance(
        SimpleNamespace(), lambda solution: dict(metrics or {"gap": float(solution.point[0, 0])}),
        **more,
    )  # fmt: skip


def recorded(*points, steps=None, curve=True, stop=CONVERGED):
    counts = steps or range(len(points))
    marks = [Checkpoint(float(i), 0.0, Work(i, 10 * i)) for i in counts]
    return Recording(marks, [Solution(point) for point in points], stop, curve)


def end(metrics, stop=CONVERGED, points=(HERE, THERE), steps=None, **more):
    return judged(instance(metrics, **more), recorded(*points, steps=steps, stop=stop)).stop


def test_convergence_is_believed_up_to_a_residual_of_a_thousandth():
    for name in ("relative_gradient", "relative_gradient_norm", "distance"):
        assert end({name: 1e-3}) == CONVERGED, name
        stop = end({name: 1.0001e-3})
        assert stop.status is RunStatus.NOT_STATIONARY, name
        kind = "distance to the solution" if name == "distance" else "relative gradient"
        assert stop.reason == f"converged after 7 steps, where the {kind} is 1.0e-03", name
        assert end({"gap": 1.0}) == CONVERGED, name


def test_largest_of_two_residuals_counts():
    for gradient, distance, kind in ((0.5, 0.25, "gradient"), (0.25, 0.5, "solution")):
        reason = end({"relative_gradient": gradient, "distance": distance}).reason
        assert reason.endswith(f"{kind} is 5.0e-01")


def test_run_that_ends_at_its_start_has_done_nothing():
    for stop, points, steps, residual, status in (
        (CONVERGED, (HERE, HERE), None, 1.0, RunStatus.NOTHING_DONE),
        (CONVERGED, (HERE, HERE), None, 1e-3, RunStatus.DONE),
        (CONVERGED, (HERE, THERE), (0, 0), 1.0, RunStatus.NOTHING_DONE),
        (CONVERGED, (HERE,), (0,), 1.0, RunStatus.NOTHING_DONE),
        (CONVERGED, (HERE,), (2,), 1e-3, RunStatus.DONE),
        (CONVERGED, (HERE,), (2,), 1.0, RunStatus.NOT_STATIONARY),
        (Termination(RunStatus.DONE, USED_UP), (HERE, HERE), None, 0.0, RunStatus.NOTHING_DONE),
        (Termination(RunStatus.DONE, USED_UP), (HERE, THERE), None, 1.0, RunStatus.DONE),
        (Termination(RunStatus.DONE, "complete after 1 steps"), (HERE, THERE), None, 1.0,
        RunStatus.DONE),
        (Termination(RunStatus.BUDGET, "spent"), (HERE, HERE), None, 1.0, RunStatus.BUDGET),
    ):  # fmt: skip
        found = end({"relative_gradient": residual}, stop, points, steps)
        assert found.status is status, (stop, steps, residual)
        if status is RunStatus.NOTHING_DONE:
            why = "no step was taken" if steps else "the solution is where it began"
            assert found.reason == f"{why}: {stop.reason}", (stop, steps, residual)


def test_a_known_optimum_may_be_where_it_began():
    for gap, status in (
        (0.5, RunStatus.DONE), (0.5 + 9e-10, RunStatus.DONE), (0.5 - 9e-10, RunStatus.DONE),
        (0.5 + 2e-9, RunStatus.NOTHING_DONE),
    ):  # fmt: skip
        metrics = {"gap": gap, "relative_gradient": 1.0}
        found = end(metrics, Termination(RunStatus.DONE, USED_UP), (HERE, HERE), best={"gap": 0.5})
        assert found.status is status, gap
        other = end(
            metrics, Termination(RunStatus.DONE, USED_UP), (HERE, HERE), best={"other": 0.5}
        )
        assert other.status is RunStatus.NOTHING_DONE, gap

    zero = {"gap": 1e-9, "relative_gradient": 1.0}
    least = end(zero, Termination(RunStatus.DONE, USED_UP), (HERE, HERE), best={"gap": 0.0})
    assert least.status is RunStatus.DONE


@pytest.mark.parametrize(
    ("claimed", "residual", "dtype", "status"),
    [
        (None, 1.0, float, RunStatus.DONE),
        (1e-6, 0.9e-4, float, RunStatus.DONE),
        (1e-6, 1.1e-4, float, RunStatus.NOT_CONVERGED),
        (0.0, 2.0**-26, float, RunStatus.DONE),
        (0.0, 1.1 * 2.0**-26, float, RunStatus.NOT_CONVERGED),
        (0.0, 2.0**-12, np.float32, RunStatus.DONE),
    ],
)
def test_a_claimed_tolerance_holds_up_to_a_hundredfold(claimed, residual, dtype, status):
    recording = recorded(HERE, THERE)
    recording.solutions[-1] = Solution(THERE.astype(dtype), tolerance=claimed)
    judge = instance({"gap": 1.0, "residual": residual}, residual="residual")
    for stop in (CONVERGED, Termination(RunStatus.DONE, "complete after 1 step")):
        found = judged(judge, replace(recording, stop=stop)).stop
        assert found.status is status
        assert found.status.failed is (status is RunStatus.NOT_CONVERGED)
    undeclared = judged(instance({"residual": residual}), recording).stop
    assert undeclared == CONVERGED


def test_the_trace_ends_where_a_rule_is_met_and_there_it_is_finished():
    finished = []
    outcome = judged(
        instance(finish=lambda solution: finished.append(solution.point) or solution),
        recorded(HERE, THERE, HERE), Target("gap", 0.5),
    )  # fmt: skip
    assert outcome.stop == Termination(RunStatus.TARGET, "gap <= 0.5")
    assert len(outcome.trace) == 2
    assert finished == [THERE] or np.array_equal(finished[0], THERE)
    assert len(finished) == 1


@pytest.mark.parametrize(("curve", "calls"), [(True, 0), (False, 1)])
def test_judge_settles_the_first_and_the_last_point(curve, calls):
    told = []
    judged(instance(settle=told.append), recorded(HERE, THERE, curve=curve))
    assert len(told) == calls
    assert all(len(solutions) == 2 for solutions in told)


def test_a_judge_that_raises_keeps_the_points_before():
    def measure(solution):
        return {"gap": 1 / solution.point[0, 0]}

    with np.errstate(divide="raise"):
        outcome = judged(Instance(SimpleNamespace(), measure), recorded(HERE, THERE, HERE))
    assert outcome.stop.status is RunStatus.ERROR
    assert outcome.stop.reason.startswith("the judge: FloatingPointError")
    assert len(outcome.trace) == 1
    assert isinstance(outcome.error, FloatingPointError)


def test_judge_of_a_moving_truth_gets_the_samples():
    moving = instance(measure_after=lambda solution, samples: {"gap": samples})
    outcome = judged(moving, recorded(HERE, THERE))
    assert [mark.metrics["gap"] for mark in outcome.trace] == [0, 10]


def test_low_precision_is_measured_at_the_nearest_feasible_point():
    shown = []
    single = np.float32(1.001) * HERE.astype(np.float32)
    mark = Checkpoint(0.0, 0.0, Work(), extra_metrics={"moved_seconds": 2.0})
    found = measured_at(
        Instance(SimpleNamespace(), lambda solution: shown.append(solution.point) or {"gap": 1.0}),
        mark, Solution(single),
    )  # fmt: skip
    assert shown[0] == pytest.approx(HERE, abs=1e-12)
    assert found.metrics["constraint_violation"] == pytest.approx(0.002, rel=1e-2)
    assert found.metrics["constraint_tolerance"] == feasible_up_to(single)
    assert (found.metrics["gap"], found.metrics["moved_seconds"]) == (1.0, 2.0)
    plain = measured_at(instance(), mark, Solution(HERE))
    assert "constraint_tolerance" not in plain.metrics
    assert plain.metrics["constraint_violation"] == 0.0


def test_tolerance_of_the_constraint_follows_the_precision():
    for dtype, most in (
        (np.float64, 1e-8),
        (np.float32, 20 * 2.0**-24 * 3 * 10),
        (np.float16, 20 * 2.0**-11 * 30),
    ):
        assert feasible_up_to(np.zeros((100, 3), dtype)) == pytest.approx(most, rel=1e-12), dtype


def test_infeasible_end_names_step_and_precision():
    for dtype, more in ((np.float64, ""), (np.float32, ", more than rounding in float32 explains")):
        points = [point.astype(dtype) for point in (HERE, 2 * THERE, 3 * HERE)]
        outcome = judged(instance(), recorded(*points))
        assert outcome.stop == Termination(
            RunStatus.INFEASIBLE,
            f"the solution leaves the constraint: violated by 3.0e+00 at step 1{more}",
        )
    failed = Termination(RunStatus.DIVERGED, "it is not finite")
    assert judged(instance(), recorded(2 * HERE, stop=failed)).stop == failed
    unknown = judged(instance(violation=lambda solution: np.nan), recorded(HERE, THERE))
    assert unknown.stop.status is RunStatus.INFEASIBLE


def test_an_error_is_said_with_its_culprit_unless_it_is_ours():
    for error, status, reason in (
        (MemoryError(), RunStatus.MEMORY, "the judge ran out of memory"),
        (DataError("no file"), RunStatus.ERROR, "no file"),
        (ValueError("no"), RunStatus.ERROR, "the judge: ValueError('no')"),
    ):
        stop = stop_of(error, "the judge")
        assert (stop.status, stop.reason) == (status, reason), reason
        assert type(error).__name__ in stop.traceback, reason
