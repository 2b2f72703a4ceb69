"""Parameters of solvers and problems: dataclass fields, declared by `parameter` and checked."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, TypeVar

import numpy as np

from orthobench.errors import NOT_TEXT, UsageError, is_text, quoted, unknown

T = TypeVar("T")


class ParameterError(UsageError):
    """An unknown or missing parameter, or a value of a wrong type or range."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    help: str,  # noqa: A002
    name: str | None = None,
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    choices: tuple[str, ...] = (),
    grid: tuple[Any, ...] = (),
) -> Any:
    """Declare a field of a solver or a problem as a parameter, checked when the object is made.

    Its type is the annotation of the field: ``bool``, ``int``, ``float`` or ``str``, or one of
    them ``| None``.

    Parameters
    ----------
    default : object
        Without it the parameter is required.
    help : str
        One line for ``orthobench show``.
    name : str, optional
        The name for users, by default that of the field: ``step`` for the field ``step_size``.
    unit : str
    low, high, above, below : float
        Bounds; the last two are excluded.
    choices : tuple of str
        All values of a ``str``.
    grid : tuple
        The values that tuning tries.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from orthobench.contract import parameter
    >>> @dataclass(frozen=True)
    ... class Settings:
    ...     rate: float = parameter(0.1, help="step size", above=0, grid=(0.01, 0.1, 1.0))
    ...     order: str = parameter("cyclic", help="order of pairs", choices=("cyclic", "random"))
    """
    settings = {
        "help": help, "name": name, "unit": unit, "low": low, "high": high,
        "above": above, "below": below, "choices": choices, "grid": grid,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=settings)


@dataclass(frozen=True)
class Parameter:
    """The declaration of one parameter, as in `parameter`.

    `name` is that for users, `field` that of the dataclass field, `type` its resolved annotation;
    `default` is ``dataclasses.MISSING`` if the parameter is required.
    """

    name: str
    field: str
    type: Any
    default: Any
    help: str = ""
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    choices: tuple[str, ...] = ()
    grid: tuple[Any, ...] = ()

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is dataclasses.MISSING

    @property
    def type_name(self) -> str:
        """The type, for users: ``float``, ``int or none``, ``a | b``."""
        if self.choices:
            return " | ".join(self.choices)
        names = [t.__name__ for t in _alternatives(self.type) if t is not types.NoneType]
        return " or ".join([*names, "none"] if self.optional else names)

    @property
    def optional(self) -> bool:
        """Whether its value may be ``None``."""
        return types.NoneType in _alternatives(self.type)

    @property
    def bounds(self) -> str:
        """The range allowed, as inequalities."""
        lower = [f">= {self.low:g}"] if self.low > -math.inf else []
        lower += [f"> {self.above:g}"] if self.above > -math.inf else []
        upper = [f"<= {self.high:g}"] if self.high < math.inf else []
        upper += [f"< {self.below:g}"] if self.below < math.inf else []
        return " and ".join(lower + upper)

    def convert(self, value: Any) -> Any:
        """Return a value in the declared type.

        Raises
        ------
        ParameterError
            If it is of another type, out of range, or not one of the choices.
        """
        if value is None and self.optional:
            return None
        value = self._typed(value)
        if isinstance(value, str) and not is_text(value):
            raise self._error(f"is {quoted(value)}, {NOT_TEXT}")
        if self.choices and value not in self.choices:
            message = str(unknown(f"value of {self.name}", str(value), self.choices))
            raise ParameterError(self.name, message)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and self._is_out(value):
            raise self._error(f"must be {self.bounds or 'a number'}, not {quoted(value)}")
        return value

    def _error(self, why: str) -> ParameterError:
        return ParameterError(self.name, f"{self.name} {why}")

    def _typed(self, value: Any) -> Any:
        kinds = _alternatives(self.type)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, date) and not isinstance(value, datetime) and str in kinds:
            return value.isoformat()  # TOML reads a bare 2013-01-02 as a date
        if isinstance(value, bool):
            if bool in kinds:
                return value
        elif isinstance(value, int):
            if value.bit_length() > 63:
                raise self._error("has more than 64 bits")
            if int in kinds:
                return value
            if float in kinds:
                return float(value)
        elif isinstance(value, kinds):
            return value
        raise self._error(f"must be {self.type_name}, not {quoted(value)}")

    def _is_out(self, value: float) -> bool:
        outside = not self.low <= value <= self.high
        outside |= self.above > -math.inf and value <= self.above
        return outside or (self.below < math.inf and value >= self.below)


def parameters_of(cls: type) -> tuple[Parameter, ...]:
    """Return the parameters that a solver or problem class declares, in order."""
    return _parameters_of(cls)


@cache  # apart, since mypy does not know that types can be hashed
def _parameters_of(cls: Any) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(cls)
    # keyword-only parameters of a base class come last
    fields = sorted(dataclasses.fields(cls), key=lambda field: bool(field.kw_only))
    return tuple(_declared(field, hints[field.name]) for field in fields)


def make(cls: type[T], settings: Mapping[str, Any], what: str) -> T:
    """Make a solver or a problem from the values of parameters, by their names for users.

    ``what`` is its name in messages: ``"solver msg"``.

    Raises
    ------
    ParameterError
        On an unknown or missing parameter, or one of a wrong type or range.
    """
    known = {p.name: p for p in parameters_of(cls)}
    for name in settings:
        if name not in known:
            raise ParameterError(name, str(unknown(f"parameter of {what}:", name, known)))
    missing = [p.name for p in known.values() if p.required and p.name not in settings]
    if missing:
        first = known[missing[0]]
        message = f"{what} needs {' and '.join(missing)} ({first.name}: {first.help})"
        raise ParameterError(first.name, message)
    try:
        return cls(**{known[name].field: value for name, value in settings.items()})
    except ParameterError as error:
        raise ParameterError(error.parameter, f"{what}: {error}") from None


def values_of(item: Any) -> dict[str, Any]:
    """Return the values of all parameters of a solver or a problem, by their names for users.

    A solver with restarts includes those of its single solver.
    """
    values = {p.name: getattr(item, p.field) for p in parameters_of(type(item))}
    if not dataclasses.is_dataclass(single := values.get("solver")):
        return values
    del values["solver"]
    return values_of(single) | values


def changed_values(item: Any) -> dict[str, Any]:
    """Return the values of `values_of` that differ from the defaults."""
    classes = {type(item), type(getattr(item, "single", item))}
    defaults = {p.name: p.default for cls in classes for p in parameters_of(cls)}
    return {name: value for name, value in values_of(item).items() if value != defaults[name]}


def check_parameters(item: Any) -> None:
    """Check all parameters of a frozen dataclass, and convert them to their types in place."""
    for p in parameters_of(type(item)):
        object.__setattr__(item, p.field, p.convert(getattr(item, p.field)))


def _declared(field: dataclasses.Field[Any], kind: Any) -> Parameter:
    settings = dict(field.metadata)
    name = settings.pop("name", None) or field.name
    return Parameter(name=name, field=field.name, type=kind, default=field.default, **settings)


def _alternatives(kind: Any) -> tuple[type, ...]:
    union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    return typing.get_args(kind) if union else (kind,)
