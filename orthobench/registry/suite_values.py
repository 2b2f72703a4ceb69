"""Values in suites, checked: budgets, levels, targets, seeds, counts and specifications."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from orthobench.errors import UsageError, quoted, unknown
from orthobench.harness.cell import Level
from orthobench.harness.execution import MEASURES
from orthobench.harness.stopping import Budget, Target
from orthobench.harness.suite import END, SCORES

_TABLE = re.compile(r"^\s*\[\s*([\w.\-]+)\s*\]")
_ARRAY = re.compile(r"^\s*\[\[\s*([\w.\-]+)\s*\]\]")
_KEY = re.compile(r"""^\s*["']?([\w\-]+)["']?\s*(?:\.[\w\-.\s]+)?=""")

KeyPath: TypeAlias = tuple[str | int, ...]
"""The path of a table or key: ``("solver", 0, "step")``."""

MOST = 1_000_000
"""The largest number of threads or trials."""

LARGEST_SEED = 2**63 - 1
"""The largest whole number that a store can keep."""
TUNING = ("trials", "seeds", "score")
"""The keys of ``[tuning]``."""


class SuiteError(Exception):
    """An error at a key of a suite.

    Parameters
    ----------
    path : tuple
        The path of the key.
    message : str
    """

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path, self.message = path, message

    def as_usage_error(self, source: str, numbers: dict[KeyPath, int]) -> UsageError:
        """Return the error for users, with the source, the line where it is known, and the key."""
        line = line_of(self.path, numbers)
        where = source if line is None else f"{source}, line {line}"
        key = ".".join(str(part) for part in self.path if not isinstance(part, int))
        return UsageError(f"{where}: {key}: {self.message}" if key else f"{where}: {self.message}")


def budget_of(value: Any, path: KeyPath) -> Budget:
    """Return the budget in a table: ``{ samples = 5000 }``."""
    if not isinstance(value, dict):
        raise SuiteError(path, "must be a table such as { samples = 5000 }")
    known = [f.name for f in fields(Budget)]
    for key in value:
        if key not in known:
            raise SuiteError((*path, key), str(unknown("kind of budget", key, known)))
    try:
        return Budget(**value)
    except UsageError as error:
        raise SuiteError(path, str(error)) from None


def levels_of(value: Any, path: KeyPath) -> tuple[Level, ...]:
    """Return the levels in a table: ``{ density = [0.05, 0.1] }``."""
    if not isinstance(value, Mapping):
        raise SuiteError(path, "must be a table such as { density = [0.05, 0.1] }")
    return tuple(
        Level(metric, most) for metric in value for most in _numbers(value[metric], (*path, metric))
    )


def _numbers(value: Any, path: KeyPath) -> list[float]:
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    if not numbers or not all(map(_finite, numbers)):
        raise SuiteError(path, f"must be a number or a list of numbers, not {quoted(value)}")
    if len(set(numbers)) < len(numbers):
        raise SuiteError(path, f"a level is listed twice in {quoted(value)}")
    return [float(n) for n in numbers]


def target_of(value: Any) -> Target | None:
    """Return the target in a table: ``{ metric = "suboptimality", value = 1e-3 }``."""
    if value is None:
        return None
    complete = isinstance(value, dict) and set(value) == {"metric", "value"}
    if not complete or not isinstance(value["metric"], str) or not _finite(value["value"]):
        raise SuiteError(("target",), 'must be { metric = "suboptimality", value = 1e-3 }')
    return Target(value["metric"], float(value["value"]))


def seeds_of(value: Any) -> tuple[int, ...]:
    """Return the seeds: a list of them, or as many as a number says, from 0."""
    seeds = range(value) if _positive(value) else value
    whole = isinstance(seeds, (range, list)) and all(_positive(s) or s == 0 for s in seeds)
    if not whole or len(seeds) == 0:
        raise SuiteError(
            ("seeds",), f"must be a number of seeds or a list of seeds, not {quoted(value)}"
        )
    if max(seeds) > LARGEST_SEED:
        raise SuiteError(("seeds",), f"a seed is at most {LARGEST_SEED}")
    if len(set(seeds)) < len(seeds):
        raise SuiteError(("seeds",), "a seed that is listed twice would count one run twice")
    return tuple(seeds)


def tuning_of(table: Any) -> Mapping[str, Any]:
    """Return the table ``[tuning]``, with its keys checked."""
    if not isinstance(table, dict):
        raise SuiteError(("tuning",), "must be a table")
    for key in table:
        if key not in TUNING:
            raise SuiteError(("tuning", key), str(unknown("key", key, TUNING)))
    return table


def score_of(tuning: Mapping[str, Any]) -> str:
    """Return what parameters are chosen by."""
    score = tuning.get("score", END)
    if score not in SCORES:
        names = " or ".join(map(repr, SCORES))
        raise SuiteError(("tuning", "score"), f"must be {names}, not {score!r}")
    return str(score)


def measure_of(table: Mapping[str, Any]) -> str:
    """Return what runs measure beside time; empty where they measure nothing."""
    measure = text_of(table, "measure")
    if measure and measure not in MEASURES:
        raise SuiteError(("measure",), str(unknown("measure", measure, MEASURES)))
    return measure


def count_of(table: Mapping[str, Any], key: str, path: KeyPath, default: int) -> int:
    """Return a whole number >= 1 in a table."""
    value = table.get(key, default)
    if not _positive(value):
        raise SuiteError((*path, key), f"must be a whole number >= 1, not {quoted(value)}")
    if value > MOST:
        raise SuiteError((*path, key), f"must be at most {MOST:,}")
    return int(value)


def text_of(table: Mapping[str, Any], key: str, path: KeyPath = ()) -> str:
    """Return a text in a table; empty where there is none."""
    value = table.get(key, "")
    if not isinstance(value, str):
        raise SuiteError((*path, key), f"must be a str, not {quoted(value)}")
    return value


def _finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def refuse_clusters(table: Mapping[str, Any]) -> None:
    """Refuse a file that names the address of a Dask cluster.

    Who owns a cluster can run code where it is used, and a suite may be a stranger's.

    Raises
    ------
    SuiteError
    """
    entries = table.get("solver")
    named: list[tuple[KeyPath, Any]] = [(("on",), table.get("on"))]
    if isinstance(entries, list):
        tables = ((i, entry) for i, entry in enumerate(entries) if isinstance(entry, Mapping))
        named += [(("solver", i, "on"), entry.get("on")) for i, entry in tables]
    for path, value in named:
        for on in _texts(value):
            if "://" in on:
                raise SuiteError(
                    path, "a file names no cluster, whose owner could run code here: leave it out, "
                    f"and say --on {on} if you trust it",
                )  # fmt: skip


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value, however deep in lists and tables."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, Mapping)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def specification(text: str) -> dict[str, Any]:
    """Parse ``NAME key=value ...``; a value that is not TOML is taken as a string.

    Raises
    ------
    UsageError
        If a word has no ``=``.
    """
    try:
        name, *words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read {text!r}: {error}; write NAME key=value ...") from None
    entry: dict[str, Any] = {"name": name}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"cannot read {word!r} in {text!r}; write NAME key=value ...")
        entry[key] = _value(value)
    return entry


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def line_numbers(text: str) -> dict[KeyPath, int]:
    """Return the number of the line, from 1, of each table and key.

    Parameters
    ----------
    text : str
        A TOML document.

    Returns
    -------
    dict
        Numbers by path: ``("solver", 0, "step")`` is the key ``step`` of the first ``[[solver]]``.
    """
    numbers: dict[KeyPath, int] = {}
    counts: Counter[str] = Counter()
    table: KeyPath = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _ARRAY.match(line):
            name = match[1]
            table = (name, counts[name])
            counts[name] += 1
            numbers.setdefault((name,), number)
            numbers[table] = number
        elif match := _TABLE.match(line):
            table = tuple(match[1].split("."))
            numbers[table] = number
        elif match := _KEY.match(line):
            numbers.setdefault((*table, match[1]), number)
    return numbers


def line_of(path: KeyPath, numbers: dict[KeyPath, int]) -> int | None:
    """Return the number of a path's line, or else of the innermost table around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in numbers:
            return numbers[path[:length]]
    return None
