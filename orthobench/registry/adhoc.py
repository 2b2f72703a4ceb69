"""Suites that a caller asks for: a named one with changes, or one of problems and solvers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthobench.errors import UsageError
from orthobench.harness.suite import COMMAND_LINE, Suite
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table, load

DEFAULT = "quickstart"
"""The suite that runs if none is named."""

SAMPLES = 10_000
"""The default budget of such a suite, in samples."""


def find_path(suite: str | Path) -> Path:
    """Return the file of a suite: the file itself, or that of the suite of this name.

    Raises
    ------
    UsageError
        On an unknown name; suggests the nearest.
    """
    if isinstance(suite, Path) or suite.endswith(".toml"):
        return Path(suite)
    return catalogue().suite(suite)


def requested_suite(
    suite: str | Path | None = None,
    problems: Sequence[Any] = (),
    solvers: Sequence[Any] = (),
    seeds: int | Sequence[int] | None = None,
    on: Sequence[str] = (),
    measure: str | None = None,
    tolerance: float | None = None,
    name: str = COMMAND_LINE,
    **limits: float | None,
) -> Suite:
    """Return the suite that a caller asks for.

    Parameters
    ----------
    suite : str or Path, optional
        Name or file; `DEFAULT` if there are no problems either.
    problems, solvers : sequence
        Specifications ``NAME key=value ...``, and all that `orthobench.registry.entries.named`
        takes.
        Problems make a suite of their own, with `solvers`, or with all solvers that can take them.
        Solvers without problems replace those of the suite.
    seeds : int or sequence of int, optional
        Instead of the suite's.
    on : sequence of str
        The places to compute at; of several, solvers run at each. With problems alone, solvers that
        compute at none of them are left out.
    measure : str, optional
        What runs measure beside time.
    tolerance : float, optional
        The part of the gap that solvers are compared at, instead of the suite's.
    name : str
        The name of a suite of problems.
    **limits
        The budget, by the names that `Budget` has, instead of the suite's.

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
    changes: dict[str, Any] = {
        "seeds": seeds if seeds is None or isinstance(seeds, int) else list(seeds),
        "budget": {key: value for key, value in limits.items() if value is not None},
        "on": list(on),
        "measure": measure,
        "tolerance": tolerance,
        "solver": list(solvers),
    }
    changes = {key: value for key, value in changes.items() if value}
    if not problems:
        return load(find_path(suite or DEFAULT), catalogue(), changes)
    table = {"budget": {"samples": SAMPLES}, **changes, "problem": list(problems)}
    return from_table(table, name, catalogue())
