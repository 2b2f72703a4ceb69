"""What counts as another result of another array library, and as a value brought to the host."""

from types import SimpleNamespace

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.registry.plugins import catalogue
from orthobench.testing import NotCheckable, NotConforming
from orthobench.testing.check_of_libraries import (
    LEAST,
    TOLERANCE,
    _check_readings,
    _difference,
    begun,
    check_libraries,
    readings,
)


def outcome(*gaps, reason="so"):
    marks = tuple(Checkpoint(0.0, 0.0, Work(i, 0, 0), {"gap": g}) for i, g in enumerate(gaps))
    return Outcome(Termination(RunStatus.DONE, reason), marks)


def test_metrics_may_differ_by_rounding_of_their_largest_value():
    ours = outcome(4.0, 2.0)
    assert _difference(ours, outcome(4.0, 2.0 + 2 * TOLERANCE), TOLERANCE) is None
    for sign in (1, -1):
        theirs = outcome(4.0, 2.0 + sign * 8 * TOLERANCE)
        assert _difference(ours, theirs, TOLERANCE).startswith("the metric gap differs by ")
    assert _difference(outcome(0.0), outcome(TOLERANCE * LEAST / 2), TOLERANCE) is None


def test_a_metric_that_is_not_a_number_differs():
    assert "differs by nan" in _difference(outcome(1.0), outcome(float("nan")), TOLERANCE)


def test_runs_end_alike_unless_the_tolerance_is_that_of_single_precision():
    ours, theirs = outcome(1.0, 0.5, reason="used up"), outcome(1.0, reason="converged")
    assert _difference(ours, theirs, TOLERANCE) == (
        "it ends otherwise: converged, in NumPy: used up"
    )
    assert _difference(ours, theirs, 2 * TOLERANCE) is None


def test_one_value_a_call_and_so_many_a_step_may_be_brought_to_the_host():
    for seen, steps, allowed in ((1, 40, 0), (5, 2, 2), (21, 40, 0.5)):
        _check_readings(seen, steps, allowed)
        with pytest.raises(NotConforming, match=f"bring {seen + 1} values .* allow {seen}:"):
            _check_readings(seen + 1, steps, allowed)


@pytest.fixture(scope="module")
def instance():
    return ob.stochastic_pca(np.random.default_rng(0).standard_normal((200, 6)), k=2)


def test_what_has_no_run_in_numpy_or_none_elsewhere_is_not_checkable(instance):
    pytest.importorskip("array_api_strict")
    elsewhere = SimpleNamespace(place=SimpleNamespace(library="torch"))
    with pytest.raises(NotCheckable, match="computes with torch only"):
        check_libraries(elsewhere, instance)
    with pytest.raises(NotCheckable):
        check_libraries(elsewhere, instance, on="cupy")


def test_what_a_call_reads_is_counted(instance):
    pytest.importorskip("array_api_strict")
    import array_api_strict as strict

    solver = catalogue().solver("oja")
    assert readings(solver, instance, 3) <= 1 + 3 * getattr(solver, "readings", 0)
    begun(solver, instance, 3, "array-api-strict")()

    class Reads(type(solver)):
        def advance(self, oracle, state, count):
            for _ in range(count):
                x = strict.asarray(2.0)
                bool(x), float(x), int(strict.asarray(2))

    assert readings(Reads(), instance, 3) == 9
