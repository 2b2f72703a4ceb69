"""Suites read from TOML; errors name file, line and key."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from orthobench.contract.parameters import ParameterError, parameters_of
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.errors import UsageError, unknown
from orthobench.harness.identity import label
from orthobench.harness.stopping import Budget, Target
from orthobench.harness.suite import TRIALS, Level, PlannedProblem, PlannedSolver, Suite
from orthobench.registry.plugins import Provided, Registry
from orthobench.registry.toml_lines import KeyPath, line_numbers, line_of

T = TypeVar("T")

KEYS = (
    "description", "seeds", "threads", "budget", "target", "tuning", "at", "problem", "solver",
)  # fmt: skip
"""The keys of a suite."""


def load(path: Path, registry: Registry, changes: Mapping[str, Any] | None = None) -> Suite:
    """Read a suite from a TOML file.

    Parameters
    ----------
    path : Path
    registry : Registry
        The solvers and problems that it may name.
    changes : mapping, optional
        Values of keys from the command line, in place of those in the file. A budget also takes
        the place of the budgets of single problems.

    Raises
    ------
    UsageError
        Where the file cannot be read, or the suite cannot be run; names file, line and key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    try:
        suite = _parse(_changed(table, changes or {}), path.stem, registry)
    except _SuiteError as error:
        if error.path[:1] and error.path[0] in (changes or {}):
            raise error.as_usage_error("command line", {}) from None
        raise error.as_usage_error(str(path), line_numbers(text)) from None
    return replace(suite, text=text)


def from_table(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Make a suite from a table, as a TOML file has it.

    Parameters
    ----------
    table : mapping
    name : str
    registry : Registry
        The solvers and problems that it may name.

    Raises
    ------
    UsageError
        Where the suite cannot be run; names the key.
    """
    try:
        return _parse(table, name, registry)
    except _SuiteError as error:
        raise error.as_usage_error(name, {}) from None


class _SuiteError(Exception):
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


def _parse(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    for key in table:
        if key not in KEYS:
            raise _SuiteError((key,), str(unknown("key", key, KEYS)))
    budget = _budget(table.get("budget", {}), ("budget",))
    trials = _count(table.get("tuning", {}), "trials", ("tuning",), TRIALS)
    levels = _levels(table["at"], ("at",)) if "at" in table else None
    suite = Suite(
        name=name,
        description=_typed(table, "description", str, ""),
        problems=tuple(_problems(_entries(table, "problem"), budget, levels, registry)),
        solvers=tuple(_solvers(_entries(table, "solver"), trials, registry)),
        seeds=_seeds(table.get("seeds", 10)),
        threads=_count(table, "threads", (), 1),
        target=_target(table.get("target")),
        trials=trials,
    )
    _check_limits(suite)
    return suite


def _changed(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    changed = {**table, **changes}
    if "budget" in changes:
        entries = _entries(changed, "problem")
        changed["problem"] = [{k: v for k, v in e.items() if k != "budget"} for e in entries]
    return changed


def _entries(table: Mapping[str, Any], kind: str) -> Sequence[Mapping[str, Any]]:
    entries = table.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise _SuiteError((kind,), f"must be written as [[{kind}]]")
    if not entries:
        raise _SuiteError((kind,), f"a suite needs at least one [[{kind}]]")
    for i, entry in enumerate(entries):
        if not isinstance(entry.get("name"), str):
            raise _SuiteError((kind, i, "name"), f"every [[{kind}]] needs the name of a {kind}")
    return entries


def _problems(
    entries: Sequence[Mapping[str, Any]],
    budget: Budget,
    levels: tuple[Level, ...] | None,
    registry: Registry,
) -> Iterator[PlannedProblem]:
    labels: set[str] = set()
    for i, entry in enumerate(entries):
        path: KeyPath = ("problem", i)
        settings = {k: v for k, v in entry.items() if k not in ("name", "budget", "at", "label")}
        own = _budget(entry["budget"], (*path, "budget")) if "budget" in entry else budget
        at = _levels(entry["at"], (*path, "at")) if "at" in entry else levels
        for given in _crossed(settings, path):
            problem = _make(registry.problem, entry["name"], given, path)
            text = _label(entry, problem, given, path, labels)
            version = _version(registry.problems[problem.name])
            own_levels = _levels(problem.at, path) if at is None else at
            yield PlannedProblem(problem, text, own, version, own_levels)


def _solvers(
    entries: Sequence[Mapping[str, Any]], trials: int, registry: Registry
) -> Iterator[PlannedSolver]:
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
            raise _SuiteError((*path, next(iter(grids))), message)
        fixed = {k: v for k, v in settings.items() if k not in grids}
        for given in _crossed(fixed, path):
            trials_of_one = [
                _make(registry.solver, entry["name"], {**given, **point}, path) for point in tuned
            ]
            text = _label(entry, trials_of_one[0], given, path, labels)
            version = _version(registry.solvers[entry["name"]])
            for solver, point in zip(trials_of_one, tuned, strict=True):
                yield PlannedSolver(solver, text, point, version)


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
        raise _SuiteError((*path, error.parameter), str(error)) from None
    except UsageError as error:
        raise _SuiteError((*path, "name"), str(error)) from None


def _crossed(settings: Mapping[str, Any], path: KeyPath) -> Iterator[dict[str, Any]]:
    """Yield the settings with one value for each list, in all combinations."""
    for key, value in settings.items():
        if isinstance(value, list) and not value:
            raise _SuiteError((*path, key), "an empty list leaves nothing to run")
    values = [v if isinstance(v, list) else [v] for v in settings.values()]
    for point in itertools.product(*values):
        yield dict(zip(settings, point, strict=True))


def _grid(value: Mapping[str, Any], path: KeyPath, declared: Sequence[Any]) -> list[Any]:
    match value:
        case {"tune": True, **rest} if not rest and declared:
            return list(declared)
        case {"tune": [*points], **rest} if not rest and points:
            return points
    example = "{ tune = [0.5, 1, 2] }" + (" or { tune = true }" if declared else "")
    raise _SuiteError(path, f"a table must be {example}, not {dict(value)!r}")


def _label(
    entry: Mapping[str, Any],
    item: AnyProblem | AnySolver,
    given: Mapping[str, Any],
    path: KeyPath,
    taken: set[str],
) -> str:
    """Return the label of an entry, and add it to those taken; raise where it is taken already."""
    own = _typed(entry, "label", str, "", path)
    crossed = {k: v for k, v in given.items() if isinstance(entry[k], list)}
    text = " ".join([own, *(f"{k}={v}" for k, v in crossed.items())]) if own else label(item, given)
    if text in taken:
        raise _SuiteError(path, f"two entries are both called {text!r}; give one a `label`")
    taken.add(text)
    return text


def _version(provided: Provided[Any]) -> tuple[str, str]:
    plugin = provided.plugin
    return (plugin.distribution or plugin.name, plugin.version)


def _budget(value: Any, path: KeyPath) -> Budget:
    if not isinstance(value, dict):
        raise _SuiteError(path, "must be a table such as { samples = 5000 }")
    known = [f.name for f in fields(Budget)]
    for key in value:
        if key not in known:
            raise _SuiteError((*path, key), str(unknown("kind of budget", key, known)))
    try:
        return Budget(**value)
    except UsageError as error:
        raise _SuiteError(path, str(error)) from None


def _levels(value: Any, path: KeyPath) -> tuple[Level, ...]:
    if not isinstance(value, Mapping):
        raise _SuiteError(path, "must be a table such as { density = [0.05, 0.1] }")
    return tuple(
        Level(metric, most) for metric in value for most in _numbers(value[metric], (*path, metric))
    )


def _numbers(value: Any, path: KeyPath) -> list[float]:
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    if not numbers or not all(map(_finite, numbers)):
        raise _SuiteError(path, f"must be a number or a list of numbers, not {value!r}")
    if len(set(numbers)) < len(numbers):
        raise _SuiteError(path, f"a level is listed twice in {value!r}")
    return [float(n) for n in numbers]


def _target(value: Any) -> Target | None:
    if value is None:
        return None
    right = isinstance(value, dict) and set(value) == {"metric", "value"}
    if not right or not isinstance(value["metric"], str) or not _finite(value["value"]):
        raise _SuiteError(("target",), 'must be { metric = "suboptimality", value = 1e-3 }')
    return Target(value["metric"], float(value["value"]))


def _seeds(value: Any) -> tuple[int, ...]:
    """Return the seeds from a number of seeds, or from a list."""
    seeds = range(value) if _natural(value) else value
    good = (
        isinstance(seeds, (range, list))
        and len(seeds) > 0
        and all(_natural(s) or s == 0 for s in seeds)
    )
    if not good:
        raise _SuiteError(
            ("seeds",), f"must be a number of seeds or a list of seeds, not {value!r}"
        )
    if len(set(seeds)) < len(seeds):
        raise _SuiteError(("seeds",), "a seed that is listed twice would count one run twice")
    return tuple(seeds)


def _count(table: Any, key: str, path: KeyPath, default: int) -> int:
    if not isinstance(table, dict):
        raise _SuiteError(path, "must be a table")
    if path and (strange := [k for k in table if k != key]):
        raise _SuiteError((*path, strange[0]), str(unknown("key", strange[0], [key])))
    value = table.get(key, default)
    if not _natural(value):
        raise _SuiteError((*path, key), f"must be a whole number >= 1, not {value!r}")
    return int(value)


def _finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _typed(
    table: Mapping[str, Any], key: str, kind: type[str], default: str, path: KeyPath = ()
) -> str:
    value = table.get(key, default)
    if not isinstance(value, kind):
        raise _SuiteError((*path, key), f"must be a {kind.__name__}, not {value!r}")
    return value


def _check_limits(suite: Suite) -> None:
    """Raise where nothing ends the runs on a problem."""
    for p in suite.problems:
        if not p.budget.limits and suite.target is None:
            raise _SuiteError(
                ("budget",), f"nothing limits {p.label!r}; set samples, steps, seconds or flops"
            )
