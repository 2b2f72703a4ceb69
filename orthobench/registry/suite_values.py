"""The values of a suite's keys, each checked; a wrong one is a `SuiteError` with its path."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

from orthobench.contract.parameters import ParameterError
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.errors import UsageError, quoted, unknown
from orthobench.harness.identity import label
from orthobench.harness.stopping import Budget, Target
from orthobench.harness.suite import FULL, SIZES
from orthobench.registry.entries import KeyPath, SuiteError

T = TypeVar("T")
Item = TypeVar("Item", bound=AnyProblem | AnySolver)

MOST_CELLS = 2_000_000
"""Maximum number of cells of a suite."""

MOST = 1_000_000
"""Maximum number of threads or trials."""

LARGEST_SEED = 2**63 - 1
"""The largest whole number that a store can keep."""


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


Kind: TypeAlias = tuple[Callable[[Any], bool], str]
"""A test of a value, and the words for what it must be."""

Kinds: TypeAlias = Mapping[str, Kind]
"""The kind of the value of each key."""

COUNT: Kind = (
    lambda value: type(value) is int and 1 <= value <= MOST, f"a whole number from 1 to {MOST:,}"
)  # fmt: skip
PART: Kind = (
    lambda value: is_finite(value) and 0 < value < 1,
    "a part of the gap between 0 and 1 such as 0.01",
)
TEXT: Kind = (lambda value: isinstance(value, str), "a str")


def require(condition: object, path: KeyPath, message: str) -> None:
    """Raise a `SuiteError` unless a condition holds."""
    if not condition:
        raise SuiteError(path, message)


def require_known(names: Collection[str], path: KeyPath, kind: str, known: Collection[str]) -> None:
    """Refuse unknown names; the message has the nearest known one."""
    for name in names:
        if name not in known:
            raise SuiteError((*path, name), str(unknown(kind, name, known)))


def require_few(count: int, path: KeyPath) -> None:
    """Refuse too many cells, from their number alone."""
    cells = f"{count:,}" if count < 10**15 else "over 10^15"
    most = f"but a suite has at most {MOST_CELLS:,}: divide it"
    require(count <= MOST_CELLS, path, f"{cells} cells, {most}")


def checked(table: Mapping[str, Any], kinds: Kinds, path: KeyPath = ()) -> dict[str, Any]:
    """Return the values of keys that a table has, each of which has to be of its kind."""
    found = {key: table[key] for key in kinds if table.get(key) is not None}
    for key, value in found.items():
        right, must = kinds[key]
        require(right(value), (*path, key), f"must be {must}, not {quoted(value)}")
    return found


def one_of(words: Collection[str]) -> Kind:
    """Return the kind of one of several words."""
    return (lambda value: value in words), " or ".join(map(repr, words))


def listed(value: Any) -> list[Any]:
    """Return the items of a list or tuple, or a list of any other value."""
    return [*value] if isinstance(value, (list, tuple)) else [value]


def budget_of(value: Any, path: KeyPath) -> Budget:
    """Return the budget of a table."""
    require(isinstance(value, dict), path, "must be a table such as { samples = 5000 }")
    require_known(value, path, "kind of budget", [f.name for f in fields(Budget)])
    try:
        return Budget(**value)
    except UsageError as error:
        raise SuiteError(path, str(error)) from None


def levels_of(value: Any, path: KeyPath) -> tuple[Target, ...]:
    """Return the levels of a table of metrics."""
    table = isinstance(value, Mapping)
    require(table, path, "must be a table such as { density = [0.05, 0.1] }")
    levels = []
    for metric, most in value.items():
        numbers, where = listed(most), (*path, metric)
        right = numbers and all(map(is_finite, numbers))
        require(right, where, f"must be a number or a list of numbers, not {quoted(most)}")
        once = len(set(numbers)) == len(numbers)
        require(once, where, f"a level is listed twice in {quoted(most)}")
        levels += [Target(metric, float(number)) for number in numbers]
    return tuple(levels)


def target_of(value: Any) -> Target | None:
    """Return the target of a table; None without one."""
    match value:
        case None:
            return None
        case {"metric": str(metric), "value": number, **rest} if not rest and is_finite(number):
            return Target(metric, float(number))
    raise SuiteError(("target",), 'must be { metric = "suboptimality", value = 1e-3 }')


def seeds_of(value: Any) -> tuple[int, ...]:
    """Return the seeds of a list, or a number of them."""
    counted = type(value) is int and value >= 1
    require_few(value if counted else len(listed(value)), ("seeds",))
    seeds = range(value) if counted else value
    whole = isinstance(seeds, (range, list)) and all(type(s) is int and s >= 0 for s in seeds)
    wrong = f"must be a number of seeds or a list of seeds, not {quoted(value)}"
    require(whole and len(seeds), ("seeds",), wrong)
    require(max(seeds) <= LARGEST_SEED, ("seeds",), f"a seed is at most {LARGEST_SEED}")
    once = len(set(seeds)) == len(seeds)
    require(once, ("seeds",), "a seed that is listed twice would count one run twice")
    return tuple(seeds)


def crossed(settings: Mapping[str, Any], path: KeyPath) -> Iterator[dict[str, Any]]:
    """Yield all combinations of settings."""
    values = {key: listed(value) for key, value in settings.items()}
    for key, own in values.items():
        require(own, (*path, key), "an empty list leaves nothing to run")
    require_few(math.prod(map(len, values.values())), path)
    for point in itertools.product(*values.values()):
        yield dict(zip(settings, point, strict=True))


def grid_of(value: Mapping[str, Any], path: KeyPath, declared: Sequence[Any]) -> list[Any]:
    """Return the values to tune over; `declared` are those of the solver."""
    match value:
        case {"tune": True, **rest} if not rest and declared:
            return list(declared)
        case {"tune": [*points], **rest} if not rest and points:
            once = all(point not in points[:i] for i, point in enumerate(points))
            require(once, path, f"a value is listed twice in {quoted(points)}")
            return points
    example = "{ tune = [0.5, 1, 2] }" + (" or { tune = true }" if declared else "")
    raise SuiteError(path, f"a table must be {example}, not {quoted(dict(value))}")


def sized(values: Mapping[str, T], size: str) -> T:
    """Return the value for a size of `SIZES`, or the next larger one."""
    larger = SIZES[SIZES.index(size) :: -1]
    return next(values[name] for name in larger if name in values)


def of_size(part: Any, size: str) -> Any:
    """Return a part of a suite file with the values for a size."""
    if isinstance(part, list):
        return [of_size(item, size) for item in part]
    if not isinstance(part, dict):
        return part
    if FULL in part and part.keys() <= set(SIZES):
        return of_size(sized(part, size), size)
    return {key: of_size(value, size) for key, value in part.items()}


@contextmanager
def naming(path: KeyPath) -> Iterator[None]:
    """Give an error about a name or a parameter the path of its key."""
    try:
        yield
    except ParameterError as error:
        raise SuiteError((*path, error.parameter), str(error)) from None
    except UsageError as error:
        raise SuiteError((*path, "name"), str(error)) from None


def variants(
    entry: Mapping[str, Any],
    settings: Mapping[str, Any],
    make: Callable[[str, Mapping[str, Any]], Item],
    path: KeyPath,
    taken: set[str],
    grid: Sequence[Mapping[str, Any]] = ({},),
) -> Iterator[tuple[str, list[Item]]]:
    """Yield the label of each combination of settings, and an item for each point of a grid.

    A label that is ``taken`` is refused; the others are added.
    """
    own = checked(entry, {"label": TEXT}, path).get("label", "")
    lists = [key for key, value in settings.items() if isinstance(value, list)]
    for given in crossed(settings, path):
        with naming(path):
            items = [make(entry["name"], {**given, **point}) for point in grid]
        named = " ".join([own, *(f"{key}={given[key]}" for key in lists)])
        text = named if own else label(items[0], given)
        why = f"two entries are both called {quoted(text)}; give one a `label`"
        require(text not in taken, path, why)
        taken.add(text)
        yield text, items
