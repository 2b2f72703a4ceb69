"""Suites read from TOML; errors name file, line and key."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from orthobench.contract.parameters import ParameterError, parameters_of
from orthobench.contract.placed_solvers import PlacedSolver, elsewhere
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.errors import UsageError, shown, unknown
from orthobench.harness.cell import Level
from orthobench.harness.identity import label
from orthobench.harness.stopping import Budget
from orthobench.harness.suite import TRIALS, Suite, SuiteProblem, SuiteSolver
from orthobench.registry.own import named
from orthobench.registry.plugins import Registry
from orthobench.registry.suite_values import (
    KeyPath,
    SuiteError,
    budget_of,
    count_of,
    levels_of,
    line_numbers,
    measure_of,
    refuse_clusters,
    score_of,
    seeds_of,
    target_of,
    text_of,
    tuning_of,
)
from orthobench.tools import toml
from orthobench.tools.places import place_of

T = TypeVar("T")

KEYS = (
    "description", "seeds", "threads", "budget", "target", "tuning", "levels", "on", "measure",
    "problem", "solver",
)  # fmt: skip
"""The keys of a suite."""

MOST_CELLS = 2_000_000
"""The most cells of a suite."""


def load(path: Path, registry: Registry, changes: Mapping[str, Any] | None = None) -> Suite:
    """Read a suite from a TOML file.

    Parameters
    ----------
    path : Path
    registry : Registry
        The solvers and problems that it may name.
    changes : mapping, optional
        Values of keys from the command line, in place of those in the file. A budget also takes
        the place of the budgets of single problems, and a place to compute of those of solvers.

    Raises
    ------
    UsageError
        Where the file cannot be read, or the suite cannot be run; names file, line and key.
    """
    try:
        text = toml.text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    try:
        table = toml.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    try:
        if "on" not in (changes or {}):
            refuse_clusters(table)
        kept = {key: value for key, value in table.items() if key not in (changes or {})}
        ours, registry = named(changes or {}, registry)
        table, registry = named(kept, registry, path.parent)
        suite = _parse(_changed(table, ours), path.stem, registry)
    except SuiteError as error:
        if error.path[:1] and error.path[0] in (changes or {}):
            raise error.as_usage_error("command line", {}) from None
        raise error.as_usage_error(str(path), line_numbers(text)) from None
    return replace(suite, text=text)


def from_table(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Make a suite from a table, as a TOML file has it.

    Parameters
    ----------
    table : mapping
        Its problems and solvers may also be specifications, classes and objects: see
        `orthobench.registry.own.named`.
    name : str
    registry : Registry
        The solvers and problems that it may name.

    Raises
    ------
    UsageError
        Where the suite cannot be run; names the key.
    """
    try:
        named_table, known = named(table, registry)
        return _parse(named_table, name, known)
    except SuiteError as error:
        raise error.as_usage_error(name, {}) from None


def _parse(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    for key in table:
        if key not in KEYS:
            raise SuiteError((key,), str(unknown("key", key, KEYS)))
    _refuse_huge(table)
    budget = budget_of(table.get("budget", {}), ("budget",))
    tuning = tuning_of(table.get("tuning", {}))
    trials = count_of(tuning, "trials", ("tuning",), TRIALS)
    seeds = seeds_of(table.get("seeds", 10))
    tried = count_of(tuning, "seeds", ("tuning",), len(seeds))
    levels = levels_of(table["levels"], ("levels",)) if "levels" in table else None
    measure = measure_of(table)
    suite = Suite(
        name=f"{name}-{measure}" if measure else name,
        description=text_of(table, "description"),
        problems=tuple(_problems(_entries(table, "problem"), budget, levels, registry)),
        solvers=tuple(_solvers(_placed(table, registry), trials, registry)),
        seeds=seeds,
        threads=count_of(table, "threads", (), 1),
        target=target_of(table.get("target")),
        trials=trials,
        tuning_seeds=seeds[:tried] if tried < len(seeds) else (),
        score=score_of(tuning),
        measure=measure,
    )
    _check_limits(suite)
    return suite


def _changed(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    changed = {**table, **changes}
    if "on" in changes:
        solvers = _entries(changed, "solver")
        changed["solver"] = [{k: v for k, v in e.items() if k != "on"} for e in solvers]
    if "budget" in changes:
        entries = _entries(changed, "problem")
        changed["problem"] = [{k: v for k, v in e.items() if k != "budget"} for e in entries]
    return changed


def _entries(table: Mapping[str, Any], kind: str) -> Sequence[Mapping[str, Any]]:
    entries = table.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise SuiteError((kind,), f"must be written as [[{kind}]]")
    if not entries:
        raise SuiteError((kind,), f"a suite needs at least one [[{kind}]]")
    for i, entry in enumerate(entries):
        if not isinstance(entry.get("name"), str):
            raise SuiteError((kind, i, "name"), f"every [[{kind}]] needs the name of a {kind}")
    return entries


def _refuse_huge(table: Mapping[str, Any]) -> None:
    """Refuse a suite with too many cells, from their number alone."""
    problems, solvers = (
        sum(math.prod(map(_choices, entry.values())) for entry in _entries(table, kind))
        for kind in ("problem", "solver")
    )
    seeds = table.get("seeds", 10)
    seeds = seeds if isinstance(seeds, int) else _choices(seeds)
    cells = problems * solvers * seeds
    if cells > MOST_CELLS:
        count = f"{cells:,}" if cells < 10**15 else "over 10^15"
        raise SuiteError(
            ("seeds",) if seeds > max(problems, solvers) else (),
            f"problems times solvers times seeds are {count} cells, where a suite has at most "
            f"{MOST_CELLS:,}: make several of it",
        )


def _choices(value: Any) -> int:
    """Return how many values a setting stands for."""
    if isinstance(value, dict):
        value = value.get("tune")
    return len(value) if isinstance(value, list) else 1


def _problems(
    entries: Sequence[Mapping[str, Any]],
    budget: Budget,
    levels: tuple[Level, ...] | None,
    registry: Registry,
) -> Iterator[SuiteProblem]:
    labels: set[str] = set()
    for i, entry in enumerate(entries):
        path: KeyPath = ("problem", i)
        settings = {
            k: v for k, v in entry.items() if k not in ("name", "budget", "levels", "label")
        }
        own = budget_of(entry["budget"], (*path, "budget")) if "budget" in entry else budget
        at = levels_of(entry["levels"], (*path, "levels")) if "levels" in entry else levels
        for given in _crossed(settings, path):
            problem = _make(registry.problem, entry["name"], given, path)
            text = _label(entry, problem, given, path, labels)
            version = registry.problems[entry["name"]].version
            own_levels = levels_of(problem.at, path) if at is None else at
            yield SuiteProblem(problem, text, own, version, own_levels)


def _solvers(
    entries: Sequence[Mapping[str, Any]], trials: int, registry: Registry
) -> Iterator[SuiteSolver]:
    labels: set[str] = set()
    for i, entry in enumerate(entries):
        path: KeyPath = ("solver", i)
        settings = {k: v for k, v in entry.items() if k not in ("name", "label")}
        declared = _declared_grids(registry, entry["name"])
        grids = {
            key: _grid(value, (*path, key), declared.get(key, ()))
            for key, value in settings.items()
            if isinstance(value, dict)
        }
        tuned = list(_crossed(grids, path))
        if len(tuned) > trials:
            message = f"{len(tuned)} trials, where tuning allows each solver {trials}"
            raise SuiteError((*path, next(iter(grids))), message)
        fixed = {k: v for k, v in settings.items() if k not in grids}
        for given in _crossed(fixed, path):
            trials_of_one = [
                _make(registry.solver, entry["name"], {**given, **point}, path) for point in tuned
            ]
            text = _label(entry, trials_of_one[0], given, path, labels)
            version = registry.solvers[entry["name"]].version
            for solver, point in zip(trials_of_one, tuned, strict=True):
                yield SuiteSolver(solver, text, point, version)


def _placed(table: Mapping[str, Any], registry: Registry) -> Sequence[Mapping[str, Any]]:
    """Return the entries of solvers, each with the places of the suite unless it has its own."""
    entries = _entries(table, "solver")
    if "on" not in table:
        return entries
    places = table["on"] if isinstance(table["on"], list) else [table["on"]]
    placed = []
    for entry in entries:
        provided = registry.solvers.get(entry["name"])
        able = places if provided is None else among(places, provided.item)
        if not able:
            why = elsewhere(place_of(str(places[0])))
            raise SuiteError(("on",), f"{entry['name']}: {why}; add numpy, or leave it out")
        if provided is None or issubclass(provided.item, PlacedSolver):
            entry = {"on": able if isinstance(table["on"], list) else able[0], **entry}
        placed.append(entry)
    return placed


def among(places: Sequence[Any], solver: type[AnySolver]) -> list[Any]:
    """Return those of some places where a solver computes.

    Raises
    ------
    SuiteError
        Where one is no place at all.
    """
    try:
        return [on for on in places if solver.computes_on(place_of(str(on)))]
    except UsageError as error:
        raise SuiteError(("on",), str(error)) from None


def _declared_grids(registry: Registry, name: str) -> dict[str, Sequence[Any]]:
    provided = registry.solvers.get(name)
    return {p.name: p.grid for p in parameters_of(provided.item)} if provided else {}


def _make(
    make: Callable[[str, Mapping[str, Any]], T],
    name: str,
    settings: Mapping[str, Any],
    path: KeyPath,
) -> T:
    try:
        return make(name, settings)
    except ParameterError as error:
        raise SuiteError((*path, error.parameter), str(error)) from None
    except UsageError as error:
        raise SuiteError((*path, "name"), str(error)) from None


def _crossed(settings: Mapping[str, Any], path: KeyPath) -> Iterator[dict[str, Any]]:
    """Yield the settings with one value for each list, in all combinations."""
    for key, value in settings.items():
        if isinstance(value, list) and not value:
            raise SuiteError((*path, key), "an empty list leaves nothing to run")
    values = [v if isinstance(v, list) else [v] for v in settings.values()]
    for point in itertools.product(*values):
        yield dict(zip(settings, point, strict=True))


def _grid(value: Mapping[str, Any], path: KeyPath, declared: Sequence[Any]) -> list[Any]:
    match value:
        case {"tune": True, **rest} if not rest and declared:
            return list(declared)
        case {"tune": [*points], **rest} if not rest and points:
            if any(point in points[:i] for i, point in enumerate(points)):
                raise SuiteError(path, f"a value is listed twice in {points!r}")
            return points
    example = "{ tune = [0.5, 1, 2] }" + (" or { tune = true }" if declared else "")
    raise SuiteError(path, f"a table must be {example}, not {shown(dict(value))}")


def _label(
    entry: Mapping[str, Any],
    item: AnyProblem | AnySolver,
    given: Mapping[str, Any],
    path: KeyPath,
    taken: set[str],
) -> str:
    """Return the label of an entry, and add it to those taken; raise where it is taken already."""
    own = text_of(entry, "label", path)
    crossed = {k: v for k, v in given.items() if isinstance(entry[k], list)}
    text = " ".join([own, *(f"{k}={v}" for k, v in crossed.items())]) if own else label(item, given)
    if text in taken:
        raise SuiteError(path, f"two entries are both called {shown(text)}; give one a `label`")
    taken.add(text)
    return text


def _check_limits(suite: Suite) -> None:
    """Raise where nothing ends the runs on a problem."""
    for p in suite.problems:
        if not p.budget.limits and suite.target is None:
            raise SuiteError(
                ("budget",), f"nothing limits {p.label!r}; set samples, steps, seconds or flops"
            )
