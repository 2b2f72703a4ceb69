"""Suites made on the command line: problems and solvers as ``NAME key=value ...``."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from orthobench.api import find_path
from orthobench.contract.parameters import parameters_of
from orthobench.errors import UsageError
from orthobench.harness.suite import Suite
from orthobench.registry.plugins import Registry, catalogue
from orthobench.registry.suite_file import from_table, load

DEFAULT = "quickstart"
"""The suite that is run where nothing is named."""

NAME = "command-line"
SAMPLES = 10_000
"""Budget of a comparison of problems named on the command line, where nothing else is said."""


def changed(
    suite: str | None = None,
    problems: Sequence[str] = (),
    solvers: Sequence[str] = (),
    seeds: int | None = None,
    samples: int | None = None,
    seconds: float | None = None,
) -> Suite:
    """Return the suite that a command line means.

    Parameters
    ----------
    suite : str, optional
        Name or file; `DEFAULT` where none is given, and no problem either.
    problems, solvers : sequence of str
        Specifications ``NAME key=value ...``. Problems make a suite of their own, with every
        solver that can take them unless `solvers` names some; solvers without problems replace
        those of the suite.
    seeds, samples, seconds
        What replaces the suite's own.

    Raises
    ------
    UsageError
        Where a specification is malformed, the suite cannot be run, or there are problems beside
        a suite.
    """
    if suite is not None and problems:
        raise UsageError(
            f"problems make a comparison of their own, without the suite {suite!r}: leave one out"
        )
    limits = {"samples": samples, "seconds": seconds}
    changes: dict[str, Any] = {
        "seeds": seeds,
        "budget": {key: value for key, value in limits.items() if value is not None},
        "solver": [specification(text) for text in solvers],
    }
    changes = {key: value for key, value in changes.items() if value}
    if problems:
        entries = [specification(text) for text in problems]
        return from_table(_own(entries, changes), NAME, catalogue())
    return load(find_path(suite or DEFAULT), catalogue(), changes)


def _own(problems: list[dict[str, Any]], changes: Mapping[str, Any]) -> dict[str, Any]:
    solvers = changes["solver"] if "solver" in changes else _able(catalogue(), problems)
    return {"budget": {"samples": SAMPLES}, **changes, "problem": problems, "solver": solvers}


def specification(text: str) -> dict[str, Any]:
    """Read ``NAME key=value ...``; values are TOML where they can be, else text.

    Raises
    ------
    UsageError
        Where a word has no ``=``.
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


def _able(registry: Registry, problems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return every solver that takes all the problems, tuned over the grids that it declares."""
    offers = [registry.problem_class(entry["name"]).offers for entry in problems]
    able = []
    for name, provided in registry.solvers.items():
        declared = parameters_of(provided.item)
        required = any(p.required for p in declared)
        if not required and all(issubclass(offer, provided.item.needs) for offer in offers):
            able.append({"name": name} | {p.name: {"tune": True} for p in declared if p.grid})
    if not able:
        raise UsageError("no installed solver takes these problems; see orthobench list")
    return able
