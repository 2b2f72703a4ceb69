"""Checks of parameters, recipes, output and random states."""

import math
import os
import random
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from orthobench.contract.parameters import check_parameters as converted
from orthobench.contract.parameters import parameter, parameters_of
from orthobench.errors import UsageError
from orthobench.testing import NotConforming
from orthobench.testing.shared_checks import (
    captured,
    check_parameters,
    check_random,
    check_recipe,
    check_silent,
    unfit,
)


@dataclass(frozen=True)
class Every:
    plain: str = parameter("x", help="any text")
    word: str = parameter("a", help="one of two", choices=("a", "b"))
    count: int = parameter(3, help="from 2 to 7", low=2, high=7)
    open: int = parameter(3, help="between 1 and 9", above=1, below=9)
    rate: float = parameter(0.5, help="from 0 to 1", low=0, high=1)
    share: float | None = parameter(0.5, help="between 0 and 1", above=0, below=1)
    free: float = parameter(0.5, help="any")

    def __post_init__(self):
        converted(self)


def test_a_value_outside_of_each_bound_must_be_refused():
    values = {p.name: [*unfit(p)][1:] for p in parameters_of(Every)}
    assert math.isnan(values["rate"].pop(0))
    assert math.isnan(values["share"].pop(0))
    assert math.isnan(values.pop("free")[0])
    assert values == {
        "plain": [], "word": ["ab?"], "count": [1, 8], "open": [1, 9],
        "rate": [-5e-324, 1 + 2**-52], "share": [0, 1],
    }  # fmt: skip
    assert {type(value) for value in values["count"] + values["open"]} == {int}
    assert all(next(unfit(p)) is ... for p in parameters_of(Every))


@dataclass(frozen=True)
class Single:
    rate: float = parameter(0.5, help="a part", low=0)


def refusing(error):
    @dataclass(frozen=True)
    class Refusing(Single):
        def __post_init__(self):
            if self.rate != 0.5:
                raise error

    return Refusing()


def test_a_wrong_value_that_is_not_refused_by_name_fails():
    for item, said in (
        (Single(), "rate=Ellipsis is allowed"),
        (refusing(UsageError("no")), "is refused by an error that does not name it"),
        (refusing(ValueError("no")), r"raises ValueError\('no'\), not a UsageError"),
    ):
        with pytest.raises(NotConforming, match=said):
            check_parameters(item)
    check_parameters(refusing(UsageError("rate: no")))
    check_parameters(Every())


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True, eq=False)
class Unequal:
    text: str = ""


@dataclass(frozen=True)
class HashesByPlace:
    text: str = ""

    def __hash__(self):
        return id(self)


@dataclass(frozen=True)
class LosesText:
    text: str = "x"

    def __reduce__(self):
        return LosesText, ("y",)


def test_a_recipe_compares_hashes_and_pickles_by_parameters():
    for item in (Unequal(), HashesByPlace()):
        with pytest.raises(NotConforming, match="are not equal"):
            check_recipe(item)
    with pytest.raises(NotConforming, match="its pickle is not equal to it"):
        check_recipe(LosesText())
    with pytest.raises(NotConforming, match="cannot be pickled"):
        check_recipe(Text(lambda: None))


def test_output_of_python_and_of_c_is_captured(capfd):
    def loud():
        print("first", "line", "x" * 100)  # noqa: T201
        print("second")  # noqa: T201

    with pytest.raises(NotConforming) as found:
        check_silent(loud)
    assert str(found.value).startswith("it prints 'first line...'. ")
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        with captured() as written:
            getattr(sys, name).write("by Python,")
            os.write(descriptor, b" below it \xff")
            assert written == []
        assert written == [" below it \ufffdby Python,"]
        os.write(descriptor, b"after")
    assert capfd.readouterr() == ("after", "after")


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: np.random.rand(), "numpy.random"),  # noqa: NPY002
        (lambda: random.random(), "random"),  # noqa: S311
        (lambda: (random.seed(1), np.random.seed(1)), "numpy.random and random"),  # noqa: NPY002
    ],
)
def test_global_generators_that_were_used_are_named_and_are_as_before(call, where):
    before = np.random.get_state()[1].tobytes(), random.getstate()  # noqa: NPY002
    with pytest.raises(NotConforming, match=f"the global random state of {where}\\. "):
        check_random(call)
    check_random(lambda: np.random.default_rng(0).random())
    assert (np.random.get_state()[1].tobytes(), random.getstate()) == before  # noqa: NPY002
