"""Suites from the command line: a named one with changes, or problems as ``NAME key=value ...``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthobench.api import find_path
from orthobench.contract.parameters import parameters_of
from orthobench.errors import UsageError
from orthobench.harness.suite import Suite
from orthobench.registry.plugins import Registry, catalogue
from orthobench.registry.suite_file import among, from_table, load, specification

DEFAULT = "quickstart"
"""The suite that runs if none is named."""

NAME = "command-line"
"""The name of a suite of problems from the command line."""

SAMPLES = 10_000
"""The default budget of such a suite, in samples."""


def requested_suite(
    suite: str | None = None,
    problems: Sequence[str] = (),
    solvers: Sequence[str] = (),
    seeds: int | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    steps: int | None = None,
    flops: float | None = None,
    on: Sequence[str] = (),
    measure: str | None = None,
) -> Suite:
    """Return the suite that a command line asks for.

    Parameters
    ----------
    suite : str, optional
        Name or file; `DEFAULT` if there are no problems either.
    problems, solvers : sequence of str
        Specifications ``NAME key=value ...``. Problems make a suite of their own, with `solvers`,
        or with all solvers that can take them. Solvers without problems replace those of the suite.
    seeds, samples, seconds, steps, flops
        Number of seeds and budget, instead of the suite's.
    on : sequence of str
        The places to compute at; of several, solvers run at each. With problems alone, solvers that
        compute at none of them are left out.
    measure : str, optional
        What runs measure beside time.

    Raises
    ------
    UsageError
        If a specification is malformed, the suite cannot be run, or both a suite and problems
        are given.
    """
    if suite is not None and problems:
        raise UsageError(
            f"problems make a comparison of their own, without the suite {suite!r}: leave one out"
        )
    limits = {"samples": samples, "seconds": seconds, "steps": steps, "flops": flops}
    changes: dict[str, Any] = {
        "seeds": seeds,
        "budget": {key: value for key, value in limits.items() if value is not None},
        "on": list(on),
        "measure": measure,
        "solver": [specification(text) for text in solvers],
    }
    changes = {key: value for key, value in changes.items() if value}
    if problems:
        entries = [specification(text) for text in problems]
        suitable = changes.get("solver") or _suitable(
            catalogue(), entries, changes.get("on", ["numpy"])
        )
        table = {"budget": {"samples": SAMPLES}, **changes, "problem": entries, "solver": suitable}
        return from_table(table, NAME, catalogue())
    return load(find_path(suite or DEFAULT), catalogue(), changes)


def _suitable(
    registry: Registry, problems: Sequence[Mapping[str, Any]], places: Sequence[str]
) -> list[dict[str, Any]]:
    """Return all solvers that take all the problems, tuned over the grids that they declare.

    Parameters
    ----------
    registry : Registry
    problems : sequence of mapping
    places : sequence of str
        Solvers that compute at none of them are left out.
    """
    offers = [registry.problem_class(entry["name"]).offers for entry in problems]
    suitable = []
    for name, provided in registry.solvers.items():
        declared = parameters_of(provided.item)
        required = any(p.required for p in declared)
        if not among(places, provided.item):
            continue
        if not required and all(issubclass(offer, provided.item.needs) for offer in offers):
            suitable.append({"name": name} | {p.name: {"tune": True} for p in declared if p.grid})
    if not suitable:
        raise UsageError("no installed solver takes all of these problems; see orthobench list")
    return suitable
