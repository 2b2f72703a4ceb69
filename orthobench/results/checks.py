"""Checks of the JSON in a store, possibly a stranger's; they raise `MisfitError`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from orthobench.harness.stopping import Target
from orthobench.harness.trace import fits_store
from orthobench.tools.machine import Load

LONGEST_SUITE = 2**20
"""Maximum length of a suite, in characters."""


class MisfitError(ValueError):
    """Something in a store that orthobench did not write."""


ERRORS = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""The errors of code that reads such a store."""


def document(text: str) -> Any:
    """Return a value from JSON, not nested deeper than Python follows."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisfitError(f"{text!r:.60} is not JSON: {error}") from None


def _need(good: bool, what: str, value: Any) -> None:
    if not good:
        raise MisfitError(f"{what}, but {value!r:.60}")


def scalars(value: Any, what: str) -> Mapping[str, Any]:
    """Return single values by name."""
    good = isinstance(value, dict) and all(
        one is None or isinstance(one, (str, float)) or fits_store(one) for one in value.values()
    )
    _need(good, f"{what} are not single values by name", value)
    return dict(value)


def texts(value: Any, what: str) -> Mapping[str, str]:
    """Return texts by name."""
    good = isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    _need(good, f"{what} are not texts by name", value)
    return dict(value)


def catalogued(value: Any, what: str) -> Mapping[str, Any]:
    """Return name and parameters of a problem or a solver."""
    _need(isinstance(value["name"], str), f"the {what} is not a name with parameters", value)
    scalars(value.get("parameters"), f"the parameters of the {what}")
    return dict(value)


def settings(value: Any) -> Mapping[str, Any]:
    """Return the settings of a cell."""
    limits = scalars(value.get("budget"), "the budget")
    _need(all(map(fits_store, limits.values())), "the budget is not of numbers", limits)
    texts(value.get("versions"), "the versions")
    texts(value.get("imported") or {}, "the facts about another harness")
    until, measure = value.get("until") or {"metric": ""}, value.get("measure", "")
    good = isinstance(until["metric"], str) and isinstance(measure, str)
    _need(good, "the target and the measure are not names", (until, measure))
    return dict(value)


def levels(value: Any) -> tuple[Target, ...]:
    """Return the levels of a plan."""
    good = all(isinstance(metric, str) and fits_store(most) for metric, most in value)
    _need(good, "the levels are not metrics with numbers", value)
    return tuple(Target(metric, most) for metric, most in value)


def session(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a session, its environment as values."""
    _need(len(row["text"]) <= LONGEST_SUITE, "the suite of a session is too long", row["text"])
    for when in (row["started"], row["ended"]):
        datetime.fromisoformat(when or row["started"])
    environment = document(row["environment"])
    for part in ("packages", "run", "git"):
        scalars(environment.get(part) or {}, f"the {part} of a session")
    for pool in environment.get("blas") or []:
        scalars(pool, "the BLAS of a session")
    return {**row, "environment": environment}


def names(value: Any) -> tuple[str, ...]:
    """Return different names."""
    good = isinstance(value, list) and all(isinstance(name, str) for name in value)
    _need(good and len({*value}) == len(value), "the metrics are not different names", value)
    return tuple(value)


def load(text: str | None) -> tuple[Load, Load] | None:
    """Return the load of the machine before and after a run."""
    if text is None:
        return None
    before, after = (Load(*one[:2]) for one in document(text))
    for one in (before, after):
        good = all(x is None or fits_store(x) for x in one) and one.processors > 0
        _need(good, "its load is not of numbers", text)
    return before, after
