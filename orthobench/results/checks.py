"""Checks of what a store holds, which a stranger may have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from orthobench.harness.stopping import Target
from orthobench.harness.trace import is_number
from orthobench.results.runs import HERE, Imported
from orthobench.tools.machine import Load

LONGEST_SUITE = 2**20
"""Most characters of a suite."""


class MisfitError(ValueError):
    """Something in a store that was not written by orthobench; says what."""


ERRORS = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""What is raised where a store holds what was not written so."""


def document(text: str) -> Any:
    """Return what JSON says.

    Raises
    ------
    MisfitError
        Where it is none, or nested deeper than Python follows.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"{text!r:.60} is not JSON: {error}") from None


def scalars(value: Any, what: str) -> Mapping[str, Any]:
    """Return single values by name, as parameters are, or raise MisfitError."""
    if not isinstance(value, dict) or not all(map(_is_scalar, value.values())):
        raise MisfitError(f"{what} are not single values by name, but {value!r:.60}")
    return value


def texts(value: Any, what: str, *needed: str) -> Mapping[str, str]:
    """Return texts by name, those needed among them, or raise MisfitError."""
    if (
        not isinstance(value, dict)
        or not all(isinstance(text, str) for text in value.values())
        or not value.keys() >= set(needed)
    ):
        wanted = f" with {', '.join(needed)}" if needed else ""
        raise MisfitError(f"{what} are not texts by name{wanted}, but {value!r:.60}")
    return value


def catalogued(value: Any, what: str) -> Mapping[str, Any]:
    """Return the name and the parameters of a problem or a solver, or raise MisfitError."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise MisfitError(f"the {what} is not a name with parameters, but {value!r:.60}")
    scalars(value.get("parameters"), f"the parameters of the {what}")
    return value


def settings(value: Any) -> Mapping[str, Any]:
    """Return the settings of a cell, or raise MisfitError."""
    if not isinstance(value, dict):
        raise MisfitError(f"the settings are not values by name, but {value!r:.60}")
    limits = scalars(value.get("budget"), "the budget")
    if not all(is_number(limit) for limit in limits.values()):
        raise MisfitError(f"the budget is not of numbers, but {limits!r:.60}")
    texts(value.get("versions"), "the versions")
    until = value.get("until")
    if not (until is None or (isinstance(until, dict) and isinstance(until.get("metric"), str))):
        raise MisfitError(f"the target is not one of a metric, but {until!r:.60}")
    if not isinstance(value.get("measure", ""), str):
        raise MisfitError(f"what was measured is {value['measure']!r:.60}")
    return value


def imported(settings: Mapping[str, Any]) -> Imported:
    """Return what the settings of a cell say of another harness, or raise MisfitError."""
    facts = settings.get("imported")
    return HERE if facts is None else Imported(**texts(facts, "the facts about another harness"))


def levels(value: Any) -> tuple[Target, ...]:
    """Return the levels that a plan keeps, or raise MisfitError."""
    pairs = value if isinstance(value, list) else [value]
    for pair in pairs:
        named = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
        if not (named and is_number(pair[1])):
            raise MisfitError(f"the levels are not metrics with numbers, but {value!r:.60}")
    return tuple(Target(metric, most) for metric, most in pairs)


def session(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a session with its environment as values, or raise MisfitError."""
    if len(row["text"]) > LONGEST_SUITE:
        raise MisfitError(f"the suite of a session has {len(row['text'])} characters")
    for when in (row["started"], row["ended"]):
        datetime.fromisoformat(when or row["started"])
    return {**row, "environment": environment_of(document(row["environment"]))}


def environment_of(value: Any) -> Mapping[str, Any]:
    """Return what a session ran on, or raise MisfitError."""
    if not isinstance(value, dict):
        raise MisfitError(f"the environment of a session is {value!r:.60}")
    for part in ("packages", "run", "git"):
        scalars(value.get(part) or {}, f"the {part} of a session")
    pools = value.get("blas") or []
    for pool in pools if isinstance(pools, list) else [pools]:
        scalars(pool, "the BLAS of a session")
    return value


def names(value: Any) -> tuple[str, ...]:
    """Return names, all of them different, or raise MisfitError."""
    texts_only = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not texts_only or len(set(value)) < len(value):
        raise MisfitError(f"the metrics are not different names, but {value!r:.60}")
    return tuple(value)


def metrics(text: str, count: int) -> list[float | None]:
    """Return the values of so many metrics at a checkpoint, or raise MisfitError."""
    values = document(text)
    if not isinstance(values, list) or len(values) != count:
        raise MisfitError(f"its {count} metrics are {text:.60}")
    if not all(value is None or isinstance(value, float) for value in values):
        raise MisfitError(f"its metrics are not numbers, but {text:.60}")
    return values


def load(text: str | None) -> tuple[Load, Load] | None:
    """Return how busy the machine was before and after a run, or raise MisfitError."""
    if text is None:
        return None
    before, after = (Load(*one[:2]) for one in document(text))
    for one in (before, after):
        if not all(x is None or is_number(x) for x in one) or not one.processors > 0:
            raise MisfitError(f"its load is {text:.60}")
    return before, after


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, float)) or is_number(value)
