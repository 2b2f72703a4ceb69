"""Reading suites from TOML: all is checked, with file, line and key, before anything runs."""

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
from orthobench.registry import toml_lines as locate
from orthobench.registry.installed import Provided, Registry

T = TypeVar("T")

KEYS = (
    "description", "seeds", "threads", "budget", "target", "tuning", "at", "problem", "solver",
)  # fmt: skip


def load(path: Path, registry: Registry, changes: Mapping[str, Any] | None = None) -> Suite:
    """Read a suite from a TOML file.

    Parameters
    ----------
    path : Path
    registry : Registry
        Where its solvers and problems come from.
    changes : mapping, optional
        Tables from the command line that replace those of the file; a budget replaces those of
        its problems too.

    Raises
    ------
    UsageError
        Where it cannot be read or run; says file, line and key.
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
        suite = parse(_changed(table, changes or {}), path.stem, registry)
    except _AtError as error:
        if error.path[:1] and error.path[0] in (changes or {}):
            raise error.as_usage_error("command line", {}) from None
        raise error.as_usage_error(str(path), locate.lines(text)) from None
    return replace(suite, text=text)


def from_table(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Make a suite from the tables that a TOML file would hold.

    Raises
    ------
    UsageError
        Where it cannot be run; names the key.
    """
    try:
        return parse(table, name, registry)
    except _AtError as error:
        raise error.as_usage_error(name, {}) from None


class _AtError(Exception):
    """An error at a key of a suite."""

    def __init__(self, path: locate.Path, message: str) -> None:
        super().__init__(message)
        self.path, self.message = path, message

    def as_usage_error(self, source: str, lines: dict[locate.Path, int]) -> UsageError:
        line = locate.nearest(lines, self.path)
        where = source if line is None else f"{source}, line {line}"
        key = ".".join(str(part) for part in self.path if not isinstance(part, int))
        return UsageError(f"{where}: {key}: {self.message}" if key else f"{where}: {self.message}")


def parse(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Check a suite's tables and make it; errors carry the path of the key."""
    for key in table:
        if key not in KEYS:
            raise _AtError((key,), str(unknown("key", key, KEYS)))
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
    _limited(suite)
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
        raise _AtError((kind,), f"must be written as [[{kind}]]")
    if not entries:
        raise _AtError((kind,), f"a suite needs at least one [[{kind}]]")
    for i, entry in enumerate(entries):
        if not isinstance(entry.get("name"), str):
            raise _AtError((kind, i, "name"), f"every [[{kind}]] needs the name of a {kind}")
    return entries


def _problems(
    entries: Sequence[Mapping[str, Any]],
    budget: Budget,
    levels: tuple[Level, ...] | None,
    registry: Registry,
) -> Iterator[PlannedProblem]:
    labels: set[str] = set()
    for i, entry in enumerate(entries):
        path: locate.Path = ("problem", i)
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
        path: locate.Path = ("solver", i)
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
            raise _AtError((*path, next(iter(grids))), message)
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
    path: locate.Path,
) -> T:
    try:
        return make(name, settings)
    except ParameterError as error:
        raise _AtError((*path, error.parameter), str(error)) from None
    except UsageError as error:
        raise _AtError((*path, "name"), str(error)) from None


def _crossed(settings: Mapping[str, Any], path: locate.Path) -> Iterator[dict[str, Any]]:
    """Yield the settings with each list replaced by each of its values in turn."""
    for key, value in settings.items():
        if isinstance(value, list) and not value:
            raise _AtError((*path, key), "an empty list leaves nothing to run")
    values = [v if isinstance(v, list) else [v] for v in settings.values()]
    for point in itertools.product(*values):
        yield dict(zip(settings, point, strict=True))


def _grid(value: Mapping[str, Any], path: locate.Path, declared: Sequence[Any]) -> list[Any]:
    match value:
        case {"tune": True, **rest} if not rest and declared:
            return list(declared)
        case {"tune": [*points], **rest} if not rest and points:
            return points
    example = "{ tune = [0.5, 1, 2] }" + (" or { tune = true }" if declared else "")
    raise _AtError(path, f"a table must be {example}, not {dict(value)!r}")


def _label(
    entry: Mapping[str, Any],
    item: AnyProblem | AnySolver,
    given: Mapping[str, Any],
    path: locate.Path,
    taken: set[str],
) -> str:
    """Return what people call it, and take that name: no other entry may have it."""
    own = _typed(entry, "label", str, "", path)
    crossed = {k: v for k, v in given.items() if isinstance(entry[k], list)}
    text = " ".join([own, *(f"{k}={v}" for k, v in crossed.items())]) if own else label(item, given)
    if text in taken:
        raise _AtError(path, f"two entries are both called {text!r}; give one a `label`")
    taken.add(text)
    return text


def _version(provided: Provided[Any]) -> tuple[str, str]:
    plugin = provided.plugin
    return (plugin.distribution or plugin.name, plugin.version)


def _budget(value: Any, path: locate.Path) -> Budget:
    if not isinstance(value, dict):
        raise _AtError(path, "must be a table such as { samples = 5000 }")
    known = [f.name for f in fields(Budget)]
    for key in value:
        if key not in known:
            raise _AtError((*path, key), str(unknown("kind of budget", key, known)))
    try:
        return Budget(**value)
    except UsageError as error:
        raise _AtError(path, str(error)) from None


def _levels(value: Any, path: locate.Path) -> tuple[Level, ...]:
    if not isinstance(value, Mapping):
        raise _AtError(path, "must be a table such as { density = [0.05, 0.1] }")
    return tuple(
        Level(metric, most) for metric in value for most in _numbers(value[metric], (*path, metric))
    )


def _numbers(value: Any, path: locate.Path) -> list[float]:
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    if not numbers or not all(map(_finite, numbers)):
        raise _AtError(path, f"must be a number or a list of numbers, not {value!r}")
    if len(set(numbers)) < len(numbers):
        raise _AtError(path, "the same level twice")
    return [float(n) for n in numbers]


def _target(value: Any) -> Target | None:
    if value is None:
        return None
    right = isinstance(value, dict) and set(value) == {"metric", "value"}
    if not right or not isinstance(value["metric"], str) or not _finite(value["value"]):
        raise _AtError(("target",), 'must be { metric = "suboptimality", value = 1e-3 }')
    return Target(value["metric"], float(value["value"]))


def _seeds(value: Any) -> tuple[int, ...]:
    """Read a number of seeds, or the seeds themselves."""
    seeds = range(value) if _natural(value) else value
    good = (
        isinstance(seeds, (range, list))
        and len(seeds) > 0
        and all(_natural(s) or s == 0 for s in seeds)
    )
    if not good:
        raise _AtError(("seeds",), f"must be a number of seeds or a list of seeds, not {value!r}")
    if len(set(seeds)) < len(seeds):
        raise _AtError(("seeds",), "the same seed twice would count one run twice")
    return tuple(seeds)


def _count(table: Any, key: str, path: locate.Path, default: int) -> int:
    if not isinstance(table, dict):
        raise _AtError(path, "must be a table")
    if path and (strange := [k for k in table if k != key]):
        raise _AtError((*path, strange[0]), str(unknown("key", strange[0], [key])))
    value = table.get(key, default)
    if not _natural(value):
        raise _AtError((*path, key), f"must be a whole number >= 1, not {value!r}")
    return int(value)


def _finite(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _typed(
    table: Mapping[str, Any], key: str, kind: type[str], default: str, path: locate.Path = ()
) -> str:
    value = table.get(key, default)
    if not isinstance(value, kind):
        raise _AtError((*path, key), f"must be a {kind.__name__}, not {value!r}")
    return value


def _limited(suite: Suite) -> None:
    for p in suite.problems:
        if not p.budget.limits and suite.target is None:
            raise _AtError(
                ("budget",), f"nothing limits {p.label!r}; set samples, steps, seconds or flops"
            )
