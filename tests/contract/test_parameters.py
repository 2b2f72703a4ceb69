import math
from dataclasses import dataclass
from datetime import UTC, date, datetime

import numpy as np
import pytest

from orthobench.contract.parameters import (
    ParameterError,
    check_parameters,
    make,
    parameter,
    values_of,
)
from orthobench.errors import UsageError


@dataclass(frozen=True)
class Thing:
    """A thing."""

    size: int = parameter(help="how big", low=1, high=9)
    step_size: float = parameter(0.5, name="step", help="step size", above=0)
    cap: int | None = parameter(None, help="cap", low=1)
    mode: str = parameter("slow", help="mode", choices=("slow", "fast"))
    flag: bool = parameter(False, help="flag")
    share: float = parameter(0.5, help="part", below=1.0)

    def __post_init__(self):
        check_parameters(self)


def test_values_go_by_public_names():
    thing = make(Thing, {"size": 3, "step": 2}, "thing")
    assert values_of(thing) == {
        "size": 3, "step": 2.0, "cap": None, "mode": "slow", "flag": False, "share": 0.5,
    }  # fmt: skip
    assert isinstance(thing.step_size, float)


def test_numbers_of_numpy_are_taken_as_those_of_python():
    thing = make(Thing, {"size": np.int64(3), "step": np.float32(0.5), "flag": np.True_}, "thing")
    assert values_of(thing) == {**values_of(Thing(3)), "flag": True}
    assert (type(thing.size), type(thing.step_size), type(thing.flag)) == (int, float, bool)
    with pytest.raises(ParameterError, match="must be int"):
        make(Thing, {"size": np.float64(3)}, "thing")


def test_whole_numbers_of_64_bits_with_sign_are_taken():
    assert make(Thing, {"size": 3, "cap": 2**63 - 1}, "thing").cap == 2**63 - 1


def test_wrong_values_are_named_with_what_is_right():
    for settings, named, said in (
        ({}, "size", "how big"),
        ({"size": 0}, "size", ">= 1 and <= 9"),
        ({"size": 10}, "size", "<= 9"),
        ({"size": 2.5}, "size", "int"),
        ({"size": True}, "size", "int"),
        ({"size": 2**63}, "size", "more than 64 bits"),
        ({"size": 1, "share": 1.0}, "share", "< 1"),
        ({"size": 1, "step": 0}, "step", "> 0"),
        ({"size": 1, "step": math.nan}, "step", "> 0"),
        ({"size": 1, "step": "x"}, "step", "float"),
        ({"size": 1, "cap": 0}, "cap", ">= 1"),
        ({"size": 1, "mode": "fats"}, "mode", "did you mean 'fast'"),
        ({"size": 1, "mode": "caf\udce9"}, "mode", "not UTF-8 here: rename the file"),
        ({"size": 1, "flag": 1}, "flag", "bool"),
        ({"size": 1, "stp": 1.0}, "stp", "did you mean 'step'"),
        ({"size": 1, "step_size": 1.0}, "step_size", "step"),
    ):
        with pytest.raises(ParameterError, match=said) as caught:
            make(Thing, settings, "thing")
        assert caught.value.parameter == named, settings
        assert isinstance(caught.value, UsageError), settings


@dataclass(frozen=True)
class Period:
    """A period."""

    first: int | str = parameter(help="a year or a day")
    length: int = parameter(1, help="how long")

    def __post_init__(self):
        check_parameters(self)


def test_a_date_is_text_where_text_is_allowed():
    assert make(Period, {"first": date(2013, 1, 2)}, "period") == Period("2013-01-02")


def test_a_date_where_no_text_is_allowed_and_a_time_are_refused():
    for settings in (
        {"first": datetime(2013, 1, 2, tzinfo=UTC)},
        {"first": 1, "length": date(2013, 1, 2)},
    ):
        with pytest.raises(ParameterError, match=r"must be int( or str)?, not datetime"):
            make(Period, settings, "period")
