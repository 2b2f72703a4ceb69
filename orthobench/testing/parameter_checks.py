"""Whether a solver or a problem refuses parameters that make no sense, and says which."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Iterator
from typing import Any

from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.errors import UsageError
from orthobench.testing.findings import NotConforming

LARGEST_RECIPE = 100_000
"""Bytes that the pickle of a recipe may take: settings, no data."""


class Unfit:
    """A value that no parameter can have."""

    def __repr__(self) -> str:
        return "<no value at all>"


def check_parameters(item: Any) -> None:
    """Raise where a wrong value is taken, an error does not name it, or one is not documented."""
    for p in parameters_of(type(item)):
        if not p.help:
            mend = f"Declare it: {p.field}: {p.type_name} = parameter(..., help='...')"
            raise NotConforming(f"the parameter {p.name!r} says nothing about itself", mend)
        for value in unfit(p):
            _refused(item, p, value)


def check_recipe(item: Any) -> None:
    """Raise where settings cannot be compared, hashed and sent to another process."""
    same = dataclasses.replace(item)
    if item != same or hash(item) != hash(same):
        mend = "Make it @dataclass(frozen=True), with parameters that compare and hash by value"
        raise NotConforming("two of it with equal parameters are not equal", mend)
    try:
        pickled = pickle.dumps(item)
        again = pickle.loads(pickled)  # noqa: S301 - of our own making
    except Exception as error:
        mend = "Define its class at the top of a module, and keep no functions or files in it"
        raise NotConforming(f"it does not pickle: {error!r}", mend) from error
    if again != item:
        raise NotConforming("its pickle is another one", "Keep its parameters in fields only")
    if len(pickled) > LARGEST_RECIPE:
        mend = "Keep data out of it: it is a recipe, that `build` reads its data by"
        raise NotConforming(f"its pickle takes {len(pickled)} bytes", mend)


def unfit(p: Parameter) -> Iterator[Any]:
    """Yield values that a parameter must refuse, by its declaration."""
    yield Unfit()
    if p.choices:
        yield "".join(p.choices) + "?"
        return
    whole = int in _kinds(p) and float not in _kinds(p)
    if float in _kinds(p):
        yield math.nan
    if p.low > -math.inf:
        yield int(p.low) - 1 if whole else math.nextafter(p.low, -math.inf)
    if p.high < math.inf:
        yield int(p.high) + 1 if whole else math.nextafter(p.high, math.inf)
    yield from (int(bound) if whole else bound for bound in (p.above, p.below) if _finite(bound))


def _kinds(p: Parameter) -> tuple[Any, ...]:
    import typing

    return typing.get_args(p.type) or (p.type,)


def _finite(bound: float) -> bool:
    return math.isfinite(bound)


def _refused(item: Any, p: Parameter, value: Any) -> None:
    mend = (
        "Declare parameters with orthobench.contract.parameter, and where the class has a "
        "__post_init__ of its own, call super().__post_init__() in it"
    )
    try:
        dataclasses.replace(item, **{p.field: value})
    except UsageError as error:
        if p.name not in str(error):
            seen = f"{p.name}={value!r} is refused by an error that does not name it: {error}"
            raise NotConforming(seen, f"Raise a ParameterError that names {p.name!r}") from error
    except Exception as error:
        seen = f"{p.name}={value!r} raises {error!r}, not a UsageError"
        raise NotConforming(seen, mend) from error
    else:
        raise NotConforming(f"{p.name}={value!r} is taken without an error", mend)
