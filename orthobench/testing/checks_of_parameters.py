"""The checks that a solver or a problem refuses wrong parameters, and that it is a recipe."""

from __future__ import annotations

import dataclasses
import math
import pickle
import typing
from collections.abc import Iterator
from typing import Any

from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.errors import UsageError
from orthobench.testing.check import NotConforming

LARGEST_PICKLE = 100_000
"""The most bytes that the pickle of a solver or a problem may take: parameters, no data."""


class Unfit:
    """A value that no parameter allows."""

    def __repr__(self) -> str:
        return "<no value at all>"


def check_parameters(item: Any) -> None:
    """Raise where a parameter has no help, or a wrong value is allowed or not refused by name."""
    for p in parameters_of(type(item)):
        if not p.help:
            remedy = f"Declare it: {p.field}: {p.type_name} = parameter(..., help='...')"
            raise NotConforming(f"the parameter {p.name!r} has no help", remedy)
        for value in unfit(p):
            _check_refused(item, p, value)


def check_recipe(item: Any) -> None:
    """Raise where an item does not compare and hash by its parameters, or pickles badly."""
    same = dataclasses.replace(item)
    if item != same or hash(item) != hash(same):
        remedy = "Make it @dataclass(frozen=True), with parameters that compare and hash by value"
        raise NotConforming("two of it with equal parameters are not equal", remedy)
    try:
        pickled = pickle.dumps(item)
        again = pickle.loads(pickled)  # noqa: S301 - pickled in the line above
    except Exception as error:
        remedy = "Define its class at the top of a module, and keep no functions or files in it"
        raise NotConforming(f"it cannot be pickled: {error!r}", remedy) from error
    if again != item:
        raise NotConforming("its pickle is not equal to it", "Keep its parameters in fields only")
    if len(pickled) > LARGEST_PICKLE:
        remedy = "Keep no data in it: read them in `build`"
        raise NotConforming(f"its pickle takes {len(pickled)} bytes", remedy)


def unfit(p: Parameter) -> Iterator[Any]:
    """Yield values that a parameter must refuse by its declaration."""
    yield Unfit()
    if p.choices:
        yield "".join(p.choices) + "?"
        return
    types = typing.get_args(p.type) or (p.type,)
    whole = int in types and float not in types
    if float in types:
        yield math.nan
    if p.low > -math.inf:
        yield int(p.low) - 1 if whole else math.nextafter(p.low, -math.inf)
    if p.high < math.inf:
        yield int(p.high) + 1 if whole else math.nextafter(p.high, math.inf)
    for bound in (p.above, p.below):
        if math.isfinite(bound):
            yield int(bound) if whole else bound


def _check_refused(item: Any, p: Parameter, value: Any) -> None:
    remedy = (
        "Declare parameters with orthobench.contract.parameter, and call super().__post_init__() "
        "where the class has a __post_init__ of its own"
    )
    try:
        dataclasses.replace(item, **{p.field: value})
    except UsageError as error:
        if p.name not in str(error):
            observed = f"{p.name}={value!r} is refused by an error that does not name it: {error}"
            raise NotConforming(
                observed, f"Raise a ParameterError that names {p.name!r}"
            ) from error
    except Exception as error:
        observed = f"{p.name}={value!r} raises {error!r}, not a UsageError"
        raise NotConforming(observed, remedy) from error
    else:
        raise NotConforming(f"{p.name}={value!r} is allowed", remedy)
