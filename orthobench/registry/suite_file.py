"""Suites from TOML files, tables and command lines; errors name file, line and key."""

from __future__ import annotations

import itertools
import math
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from orthobench.contract.parameters import ParameterError, parameters_of
from orthobench.contract.placed_solvers import PlacedSolver, elsewhere
from orthobench.contract.problem import AnyProblem, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import NOT_TEXT, UsageError, is_text, quoted, unknown
from orthobench.harness.execution import MEASURES
from orthobench.harness.identity import label
from orthobench.harness.stopping import Budget, Target
from orthobench.harness.suite import (
    COMMAND_LINE,
    END,
    FULL,
    SCORES,
    SIZES,
    TRIALS,
    Suite,
    SuiteProblem,
    SuiteSolver,
)
from orthobench.registry.entries import KeyPath, SuiteError, entries
from orthobench.registry.plugins import Registry, catalogue
from orthobench.tools import toml
from orthobench.tools.places import place_of

T = TypeVar("T")

KEYS = (
    "description", "seeds", "threads", "budget", "target", "tuning", "levels", "tolerance", "on",
    "measure", "problem", "solver",
)  # fmt: skip
"""The keys of a suite."""

TUNING = ("trials", "seeds", "score")
"""The keys of ``[tuning]``."""

MOST_CELLS = 2_000_000
"""Maximum number of cells of a suite."""

MOST = 1_000_000
"""Maximum number of threads or trials."""

COUNT = f"a whole number from 1 to {MOST:,}"
PART = "a part of the gap between 0 and 1 such as 0.01"

LARGEST_SEED = 2**63 - 1
"""The largest whole number that a store can keep."""

DEFAULT = "quickstart"
"""The suite that runs if none is named."""

SAMPLES = 10_000
"""The default budget of a suite of problems of the command line, in samples."""


def sized(values: Mapping[str, T], size: str) -> T:
    """Return the value for a size of `SIZES`, or else that for the next larger one."""
    larger = SIZES[SIZES.index(size) :: -1]
    return next(values[name] for name in larger if name in values)


def load(
    path: Path, registry: Registry, changes: Mapping[str, Any] | None = None, size: str = FULL
) -> Suite:
    """Read a suite from a TOML file; `changes` are values of its keys from the command line."""
    changes = changes or {}
    if not is_text(path.stem):
        raise UsageError(f"the name of the suite {path} is {NOT_TEXT}")
    try:
        text = toml.text_of(path)
        table = _of_size(toml.loads(text), size)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    try:
        reader = _Reader({**table, **changes}, registry.extended(), changes, path.parent)
        suite = reader.suite(path.stem)
    except SuiteError as error:
        if error.path and error.path[0] in changes:
            raise error.as_usage_error("command line") from None
        raise error.as_usage_error(str(path), text) from None
    return replace(suite, text=text)


def from_table(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Make a suite from a table, as a TOML file has it.

    Its problems and solvers may also be specifications, classes and objects: see
    `orthobench.registry.entries.entries`.
    """
    try:
        return _Reader(table, registry.extended()).suite(name)
    except SuiteError as error:
        raise error.as_usage_error(name) from None


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
    """Return the suite of a caller's options; problems make a suite of their own."""
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
    if problems:
        table = {"budget": {"samples": SAMPLES}, **changes, "problem": list(problems)}
        return from_table(table, name, catalogue())
    suite = suite or DEFAULT
    file = isinstance(suite, Path) or suite.endswith(".toml")
    return load(Path(suite) if file else catalogue().suite(str(suite)), catalogue(), changes)


def _of_size(part: Any, size: str) -> Any:
    """Return a part of a suite file with one value in place of each table of values by size."""
    if isinstance(part, list):
        return [_of_size(item, size) for item in part]
    if not isinstance(part, dict):
        return part
    if FULL in part and part.keys() <= set(SIZES):
        return _of_size(sized(part, size), size)
    return {key: _of_size(value, size) for key, value in part.items()}


@dataclass(frozen=True)
class _Reader:
    """A table that becomes a suite; `changed` are the keys that the command line has set.

    `folder` is that of the file with all other values.
    """

    table: Mapping[str, Any]
    registry: Registry
    changed: Collection[str] = ()
    folder: Path | None = None

    def suite(self, name: str) -> Suite:
        """Return the suite; raise `SuiteError` if it cannot be run."""
        table = self.table
        _require_known(table, (), "key", KEYS)
        tuning = table.get("tuning", {})
        _require(isinstance(tuning, dict), ("tuning",), "must be a table")
        _require_known(tuning, ("tuning",), "key", TUNING)
        trials = _value(tuning, "trials", TRIALS, _is_count, COUNT, ("tuning",))
        score = _value(tuning, "score", END, *_one_of(SCORES), ("tuning",))
        seeds = _seeds(table.get("seeds", 10))
        tried = _value(tuning, "seeds", len(seeds), _is_count, COUNT, ("tuning",))
        measure = _value(table, "measure", "", *_one_of(MEASURES))
        problems = tuple(self.problems())
        solvers = tuple(self.solvers(problems, trials))
        _require_few(len(problems) * len(solvers) * len(seeds), ())
        suite = Suite(
            name=f"{name}-{measure}" if measure else name,
            description=_value(table, "description", "", _is_text, "a str"),
            problems=problems,
            solvers=solvers,
            seeds=seeds,
            threads=_value(table, "threads", 1, _is_count, COUNT),
            target=_target(table.get("target")),
            trials=trials,
            tuning_seeds=seeds[:tried] if tried < len(seeds) else (),
            score=score,
            measure=measure,
            tolerance=_value(table, "tolerance", None, _is_part, PART),
        )
        for p in problems:
            why = f"nothing limits {p.label!r}; set samples, steps, seconds or flops"
            _require(p.budget.limits or suite.target is not None, ("budget",), why)
        return suite

    def entries(self, kind: str) -> list[dict[str, Any]]:
        """Return the tables of all problems or solvers."""
        folder = None if kind in self.changed else self.folder
        return entries(self.table.get(kind, []), kind, self.registry, folder)

    def problems(self) -> Iterator[SuiteProblem]:
        """Yield the problems: one for each combination of the values of an entry."""
        budget = _budget(self.table.get("budget", {}), ("budget",))
        levels = _levels(self.table["levels"], ("levels",)) if "levels" in self.table else None
        labels: set[str] = set()
        for i, entry in enumerate(self.entries("problem")):
            path: KeyPath = ("problem", i)
            other = ("name", "budget", "levels", "label")
            settings = {key: value for key, value in entry.items() if key not in other}
            own = "budget" in entry and "budget" not in self.changed
            limit = _budget(entry["budget"], (*path, "budget")) if own else budget
            at = _levels(entry["levels"], (*path, "levels")) if "levels" in entry else levels
            for given in _crossed(settings, path):
                problem = _made(self.registry.problem, entry["name"], given, path)
                text = _label(entry, settings, problem, given, path, labels)
                version = self.registry.problems[entry["name"]].version
                compared = _levels(problem.at, path) if at is None else at
                yield SuiteProblem(problem, text, limit, version, compared)

    def solvers(self, problems: Sequence[SuiteProblem], trials: int) -> Iterator[SuiteSolver]:
        """Yield the solvers, and the trials of those that are tuned."""
        offered = tuple(dict.fromkeys(p.problem.offers for p in problems))
        found = self.entries("solver") if "solver" in self.table else self.suitable(offered)
        self.refuse_clusters(found)
        labels: set[str] = set()
        for i, entry in enumerate(found):
            path: KeyPath = ("solver", i)
            other = ("name", "label", *(["on"] if "on" in self.changed else []))
            own = {key: value for key, value in entry.items() if key not in other}
            new: set[str] = set()  # classes of one name have the same labels
            for offers, cls in _classes(self.registry, entry["name"], offered):
                settings, seen = self.placed(own, entry["name"], cls), set(labels)
                declared = {p.name: p.grid for p in parameters_of(cls)} if cls else {}
                grids = {
                    key: _grid(value, (*path, key), declared.get(key, ()))
                    for key, value in settings.items()
                    if isinstance(value, dict)
                }
                points = list(_crossed(grids, path))
                many = f"{len(points)} trials, but tuning allows each solver {trials}"
                _require(len(points) <= trials, (*path, next(iter(grids), "")), many)
                fixed = {key: value for key, value in settings.items() if key not in grids}
                make = partial(self.registry.solver, offers=offers)
                for given in _crossed(fixed, path):
                    made = [_made(make, entry["name"], given | point, path) for point in points]
                    text = _label(entry, fixed, made[0], given, path, seen)
                    version = self.registry.solver_class(entry["name"], offers).version
                    for solver, point in zip(made, points, strict=True):
                        yield SuiteSolver(solver, text, point, version)
                new |= seen
            labels |= new

    def placed(
        self, settings: dict[str, Any], name: str, cls: type[AnySolver] | None
    ) -> dict[str, Any]:
        """Return the settings of a solver, at the places of the suite unless it has its own."""
        if "on" not in self.table or "on" in settings:
            return settings
        places = _listed(self.table["on"])
        able = places if cls is None else self.among(places, cls)
        if not able:
            why = elsewhere(place_of(str(places[0])))
            raise SuiteError(("on",), f"{name}: {why}; add numpy, or leave it out")
        if cls is not None and not issubclass(cls, PlacedSolver):
            return settings  # NumPy is its only place
        return {"on": able if isinstance(self.table["on"], list) else able[0], **settings}

    def among(self, places: Sequence[Any], solver: type[AnySolver]) -> list[Any]:
        """Return the places of the suite where a solver computes."""
        try:
            return [on for on in places if solver.computes_on(place_of(str(on)))]
        except UsageError as error:
            raise SuiteError(("on",), str(error)) from None

    def suitable(self, offered: Sequence[type[Oracle]]) -> list[dict[str, Any]]:
        """Return all solvers that take one of the problems, tuned over the grids that they declare.

        Those that compute at none of the places of the suite are left out.
        """
        places, suitable = _listed(self.table.get("on", "numpy")), list[dict[str, Any]]()
        for name in self.registry.solvers:
            for offers, cls in _classes(self.registry, name, offered):
                declared = parameters_of(cls) if cls and offers else ()
                required = any(p.required for p in declared)
                if cls and offers and not required and self.among(places, cls):
                    grids = {p.name: {"tune": True} for p in declared if p.grid}
                    suitable.append({"name": name, **grids})
                    break
        _require(suitable, ("problem",), "no installed solver takes these; see orthobench list")
        return suitable

    def refuse_clusters(self, solvers: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a file that names a Dask cluster, whose owner can run code on its users."""
        if self.folder is None or "on" in self.changed:
            return
        named: dict[KeyPath, Any] = {("on",): self.table.get("on")}
        if "solver" not in self.changed:
            named |= {("solver", i, "on"): entry.get("on") for i, entry in enumerate(solvers)}
        for path, on in ((path, on) for path, value in named.items() for on in _listed(value)):
            why = "a file may not name a cluster, whose owner could run code here"
            _require("://" not in str(on), path, f"{why}: use --on {on} if you trust it")


def _require(condition: object, path: KeyPath, message: str) -> None:
    if not condition:
        raise SuiteError(path, message)


def _require_known(
    names: Collection[str], path: KeyPath, kind: str, known: Collection[str]
) -> None:
    for name in names:
        if name not in known:
            raise SuiteError((*path, name), str(unknown(kind, name, known)))


def _require_few(count: int, path: KeyPath) -> None:
    """Refuse what a suite has too many of, from the number alone."""
    cells = f"{count:,}" if count < 10**15 else "over 10^15"
    most = f"but a suite has at most {MOST_CELLS:,}: divide it"
    _require(count <= MOST_CELLS, path, f"{cells} cells, {most}")


def _value(
    table: Mapping[str, Any], key: str, default: Any, right: Callable[[Any], bool], must: str,
    path: KeyPath = (),
) -> Any:  # fmt: skip
    """Return the value of a key, which has to be right, or the default."""
    value = table.get(key, default)
    _require(value is default or right(value), (*path, key), f"must be {must}, not {quoted(value)}")
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST


def _is_part(value: Any) -> bool:
    return _is_finite(value) and 0 < value < 1


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _one_of(words: Collection[str]) -> tuple[Callable[[Any], bool], str]:
    return (lambda value: value in words), " or ".join(map(repr, words))


def _listed(value: Any) -> list[Any]:
    return [*value] if isinstance(value, (list, tuple)) else [value]


def _budget(value: Any, path: KeyPath) -> Budget:
    _require(isinstance(value, dict), path, "must be a table such as { samples = 5000 }")
    _require_known(value, path, "kind of budget", [f.name for f in fields(Budget)])
    try:
        return Budget(**value)
    except UsageError as error:
        raise SuiteError(path, str(error)) from None


def _levels(value: Any, path: KeyPath) -> tuple[Target, ...]:
    table = isinstance(value, Mapping)
    _require(table, path, "must be a table such as { density = [0.05, 0.1] }")
    levels = []
    for metric, most in value.items():
        numbers, where = _listed(most), (*path, metric)
        right = numbers and all(map(_is_finite, numbers))
        _require(right, where, f"must be a number or a list of numbers, not {quoted(most)}")
        once = len(set(numbers)) == len(numbers)
        _require(once, where, f"a level is listed twice in {quoted(most)}")
        levels += [Target(metric, float(number)) for number in numbers]
    return tuple(levels)


def _target(value: Any) -> Target | None:
    match value:
        case None:
            return None
        case {"metric": str(metric), "value": number, **rest} if not rest and _is_finite(number):
            return Target(metric, float(number))
    raise SuiteError(("target",), 'must be { metric = "suboptimality", value = 1e-3 }')


def _seeds(value: Any) -> tuple[int, ...]:
    """Return the seeds: a list of them, or as many as a number says, from 0."""
    counted = type(value) is int and value >= 1
    _require_few(value if counted else len(_listed(value)), ("seeds",))
    seeds = range(value) if counted else value
    whole = isinstance(seeds, (range, list)) and all(type(s) is int and s >= 0 for s in seeds)
    wrong = f"must be a number of seeds or a list of seeds, not {quoted(value)}"
    _require(whole and len(seeds), ("seeds",), wrong)
    _require(max(seeds) <= LARGEST_SEED, ("seeds",), f"a seed is at most {LARGEST_SEED}")
    once = len(set(seeds)) == len(seeds)
    _require(once, ("seeds",), "a seed that is listed twice would count one run twice")
    return tuple(seeds)


def _classes(
    registry: Registry, name: str, offered: Sequence[type[Oracle]]
) -> Sequence[tuple[type[Oracle] | None, type[AnySolver] | None]]:
    """Return an oracle on offer, and the class that takes it, for each class with a name.

    If no solver of the name takes any, return the first; if the name is unknown, None.
    """
    known = [one.item for one in registry.solvers[name].all] if name in registry.solvers else []
    able = [(o, cls) for cls in known for o in [o for o in offered if issubclass(o, cls.needs)][:1]]
    return able or [(None, known[0] if known else None)]


def _made(
    make: Callable[[str, Mapping[str, Any]], T], name: str, settings: Mapping[str, Any],
    path: KeyPath,
) -> T:  # fmt: skip
    try:
        return make(name, settings)
    except ParameterError as error:
        raise SuiteError((*path, error.parameter), str(error)) from None
    except UsageError as error:
        raise SuiteError((*path, "name"), str(error)) from None


def _crossed(settings: Mapping[str, Any], path: KeyPath) -> Iterator[dict[str, Any]]:
    """Yield the settings with one value for each list, in all combinations."""
    values = {key: _listed(value) for key, value in settings.items()}
    for key, listed in values.items():
        _require(listed, (*path, key), "an empty list leaves nothing to run")
    _require_few(math.prod(map(len, values.values())), path)
    for point in itertools.product(*values.values()):
        yield dict(zip(settings, point, strict=True))


def _grid(value: Mapping[str, Any], path: KeyPath, declared: Sequence[Any]) -> list[Any]:
    match value:
        case {"tune": True, **rest} if not rest and declared:
            return list(declared)
        case {"tune": [*points], **rest} if not rest and points:
            once = all(point not in points[:i] for i, point in enumerate(points))
            _require(once, path, f"a value is listed twice in {quoted(points)}")
            return points
    example = "{ tune = [0.5, 1, 2] }" + (" or { tune = true }" if declared else "")
    raise SuiteError(path, f"a table must be {example}, not {quoted(dict(value))}")


def _label(
    entry: Mapping[str, Any],
    settings: Mapping[str, Any],
    item: AnyProblem | AnySolver,
    given: Mapping[str, Any],
    path: KeyPath,
    taken: set[str],
) -> str:
    """Return the label of an entry, and add it to those taken; raise if it is taken."""
    own = _value(entry, "label", "", _is_text, "a str", path)
    crossed = {k: v for k, v in given.items() if isinstance(settings[k], list)}
    text = " ".join([own, *(f"{k}={v}" for k, v in crossed.items())]) if own else label(item, given)
    why = f"two entries are both called {quoted(text)}; give one a `label`"
    _require(text not in taken, path, why)
    taken.add(text)
    return text
