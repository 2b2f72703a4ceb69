"""Runs on other array libraries: equal metrics, and values brought to the host."""

from types import SimpleNamespace

import numpy as np
import pytest

import orthobench as ob
from orthobench.registry.plugins import catalogue
from orthobench.testing import NotCheckable, NotConforming
from orthobench.testing.check_of_libraries import (
    TOLERANCE,
    _difference,
    begun,
    check_libraries,
    readings,
)


@pytest.fixture(scope="module")
def instance():
    return ob.stochastic_pca(np.random.default_rng(0).standard_normal((200, 6)), k=2)


def test_a_solver_of_one_library_is_not_checkable(instance):
    pytest.importorskip("array_api_strict")
    elsewhere = SimpleNamespace(place=SimpleNamespace(library="torch"))
    with pytest.raises(NotCheckable, match="computes with torch only"):
        check_libraries(elsewhere, instance)
    with pytest.raises(NotCheckable):
        check_libraries(elsewhere, instance, on="cupy")


def test_values_brought_to_the_host_are_counted(instance):
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
    with pytest.raises(NotConforming):
        check_libraries(Reads(), instance)


def test_runs_differ_by_their_end_or_by_a_metric():
    def ran(*gaps):
        trace = [SimpleNamespace(metrics={"gap": gap}) for gap in gaps]
        return SimpleNamespace(trace=trace, stop=SimpleNamespace(reason=""))

    assert _difference(ran(1.0), ran(1.0), TOLERANCE) is None
    assert _difference(ran(1.0), ran(2.0), TOLERANCE)
    assert _difference(ran(1.0, 0.5), ran(1.0), TOLERANCE)
    assert _difference(ran(1.0, 0.5), ran(1.0), 2 * TOLERANCE) is None
