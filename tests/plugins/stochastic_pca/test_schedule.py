from dataclasses import dataclass

import numpy as np
import pytest
from orthobench_stochastic_pca.schedule import Scheduled

from orthobench.contract.parameters import check_parameters, make, parameters_of
from orthobench.errors import UsageError


@dataclass(frozen=True)
class Stepping(Scheduled):
    def __post_init__(self) -> None:
        check_parameters(self)


@pytest.mark.parametrize(("schedule", "power"), [("1/sqrt(t)", 0.5), ("constant", 0), ("1/t", 1)])
def test_the_schedule_falls_from_c_with_its_power(schedule, power):
    etas = Stepping(step_size=3.0, schedule=schedule).etas(1, 50)
    np.testing.assert_allclose(etas, 3.0 * np.arange(1, 51.0) ** -power, rtol=1e-15)


@pytest.mark.parametrize("schedule", ["1/sqrt(t)", "constant", "1/t"])
def test_cutting_the_schedule_changes_no_bit(schedule):
    stepping = Stepping(step_size=0.7, schedule=schedule)
    parts = [stepping.etas(1, 5), stepping.etas(6, 1), stepping.etas(7, 94)]
    assert np.array_equal(np.concatenate(parts), stepping.etas(1, 100))


def test_a_step_that_is_no_positive_number_is_refused():
    for step in (0, 0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="step must be > 0"):
            make(Stepping, {"step": step}, "solver stepping")


def test_users_call_the_field_step():
    assert [p.name for p in parameters_of(Stepping)] == ["step", "schedule", "relative"]
