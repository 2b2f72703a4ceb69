"""Suites read from TOML, and problems and solvers as words; errors name file, line and key."""

from __future__ import annotations

import itertools
import math
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
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
from orthobench.registry.entries import KeyPath, SuiteError, named
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
"""The most cells of a suite."""

MOST = 1_000_000
"""The largest number of threads or trials."""

LARGEST_SEED = 2**63 - 1
"""The largest whole number that a store can keep."""


DEFAULT = "quickstart"
"""The suite that runs if none is named."""

SAMPLES = 10_000
"""The default budget of such a suite, in samples."""


def _require(condition: object, path: KeyPath, message: str) -> None:
    if not condition:
        raise SuiteError(path, message)


def _require_known(
    names: Collection[str], path: KeyPath, kind: str, known: Collection[str]
) -> None:
    for name in names:
        if name not in known:
            raise SuiteError((*path, name), str(unknown(kind, name, known)))


def sized(values: Mapping[str, T], size: str) -> T:
    """Return the value for a size, or else that for the next larger one.

    Parameters
    ----------
    values : mapping
        By size, one of `SIZES`; the full size has a value.
    size : str
    """
    larger = SIZES[SIZES.index(size) :: -1]
    return next(values[name] for name in larger if name in values)


def _of_size(part: Any, size: str) -> Any:
    """Return a part of a suite file with one value in place of each table of values by size."""
    if isinstance(part, list):
        return [_of_size(item, size) for item in part]
    if not isinstance(part, dict):
        return part
    if FULL in part and part.keys() <= set(SIZES):
        return _of_size(sized(part, size), size)
    return {key: _of_size(value, size) for key, value in part.items()}


def load(
    path: Path, registry: Registry, changes: Mapping[str, Any] | None = None, size: str = FULL
) -> Suite:
    """Read a suite from a TOML file.

    Parameters
    ----------
    path : Path
    registry : Registry
        The solvers and problems that it may name.
    changes : mapping, optional
        Values of keys from the command line, in place of those in the file. A budget also takes
        the place of the budgets of single problems, and a place to compute of those of solvers.
    size : str
        One of `orthobench.harness.suite.SIZES`.

    Raises
    ------
    UsageError
        Where the file cannot be read, or the suite cannot be run; names file, line and key.
    """
    if not is_text(path.stem):
        raise UsageError(f"the name of the suite {path} is {NOT_TEXT}")
    try:
        text = toml.text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    try:
        table = _of_size(toml.loads(text), size)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    try:
        if "on" not in (changes or {}):
            _refuse_clusters(table)
        kept = {key: value for key, value in table.items() if key not in (changes or {})}
        ours, registry = named(changes or {}, registry)
        table, registry = named(kept, registry, path.parent)
        suite = _parse(_changed(table, ours), path.stem, registry)
    except SuiteError as error:
        if error.path[:1] and error.path[0] in (changes or {}):
            raise error.as_usage_error("command line") from None
        raise error.as_usage_error(str(path), text) from None
    return replace(suite, text=text)


def from_table(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Make a suite from a table, as a TOML file has it.

    Parameters
    ----------
    table : mapping
        Its problems and solvers may also be specifications, classes and objects: see
        `orthobench.registry.entries.named`.
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
        raise error.as_usage_error(name) from None


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


def _parse(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    _require_known(table, (), "key", KEYS)
    if "solver" not in table:
        table = {**table, "solver": _suitable(table, registry)}
    budget = _budget(table.get("budget", {}), ("budget",))
    tuning = table.get("tuning", {})
    _require(isinstance(tuning, dict), ("tuning",), "must be a table")
    _require_known(tuning, ("tuning",), "key", TUNING)
    score, scores = tuning.get("score", END), " or ".join(map(repr, SCORES))
    _require(score in SCORES, ("tuning", "score"), f"must be {scores}, not {quoted(score)}")
    trials = _count(tuning, "trials", ("tuning",), TRIALS)
    seeds = _seeds(table.get("seeds", 10))
    tried = _count(tuning, "seeds", ("tuning",), len(seeds))
    levels = _levels(table["levels"], ("levels",)) if "levels" in table else None
    measure = _text(table, "measure")
    _require(
        not measure or measure in MEASURES, ("measure",), str(unknown("measure", measure, MEASURES))
    )
    problems = tuple(_problems(_entries(table, "problem"), budget, levels, registry))
    offered = tuple(dict.fromkeys(p.problem.offers for p in problems))
    suite = Suite(
        name=f"{name}-{measure}" if measure else name,
        description=_text(table, "description"),
        problems=problems,
        solvers=tuple(_solvers(_placed(table, registry, offered), trials, registry, offered)),
        seeds=seeds,
        threads=_count(table, "threads", (), 1),
        target=_target(table.get("target")),
        trials=trials,
        tuning_seeds=seeds[:tried] if tried < len(seeds) else (),
        score=score,
        measure=measure,
        tolerance=_tolerance(table.get("tolerance")),
    )
    _require_few(len(problems) * len(suite.solvers) * len(seeds), ())
    for p in suite.problems:
        limited = p.budget.limits or suite.target is not None
        why = f"nothing limits {p.label!r}; set samples, steps, seconds or flops"
        _require(limited, ("budget",), why)
    return suite


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
        right = numbers and all(map(_finite, numbers))
        _require(right, where, f"must be a number or a list of numbers, not {quoted(most)}")
        once = len(set(numbers)) == len(numbers)
        _require(once, where, f"a level is listed twice in {quoted(most)}")
        levels += [Target(metric, float(number)) for number in numbers]
    return tuple(levels)


def _target(value: Any) -> Target | None:
    match value:
        case None:
            return None
        case {"metric": str(metric), "value": number, **rest} if not rest and _finite(number):
            return Target(metric, float(number))
    raise SuiteError(("target",), 'must be { metric = "suboptimality", value = 1e-3 }')


def _tolerance(value: Any) -> float | None:
    right = value is None or (_finite(value) and 0 < value < 1)
    why = f"must be a part of the gap between 0 and 1 such as 0.01, not {quoted(value)}"
    _require(right, ("tolerance",), why)
    return None if value is None else float(value)


def _seeds(value: Any) -> tuple[int, ...]:
    """Return the seeds: a list of them, or as many as a number says, from 0."""
    _require_few(value if _positive(value) else len(_listed(value)), ("seeds",))
    seeds = range(value) if _positive(value) else value
    whole = isinstance(seeds, (range, list)) and all(_positive(s) or s == 0 for s in seeds)
    wrong = f"must be a number of seeds or a list of seeds, not {quoted(value)}"
    _require(whole and len(seeds), ("seeds",), wrong)
    _require(max(seeds) <= LARGEST_SEED, ("seeds",), f"a seed is at most {LARGEST_SEED}")
    once = len(set(seeds)) == len(seeds)
    _require(once, ("seeds",), "a seed that is listed twice would count one run twice")
    return tuple(seeds)


def _count(table: Mapping[str, Any], key: str, path: KeyPath, default: int) -> int:
    value, where = table.get(key, default), (*path, key)
    _require(_positive(value), where, f"must be a whole number >= 1, not {quoted(value)}")
    _require(value <= MOST, where, f"must be at most {MOST:,}")
    return int(value)


def _text(table: Mapping[str, Any], key: str, path: KeyPath = ()) -> str:
    value = table.get(key, "")
    _require(isinstance(value, str), (*path, key), f"must be a str, not {quoted(value)}")
    return str(value)


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _positive(value: Any) -> bool:
    return type(value) is int and value >= 1


def _listed(value: Any) -> list[Any]:
    return [*value] if isinstance(value, (list, tuple)) else [value]


def _refuse_clusters(table: Mapping[str, Any]) -> None:
    """Refuse a file that names a Dask cluster, whose owner can run code where it is used."""
    named: dict[KeyPath, Any] = {("on",): table.get("on")}
    for i, entry in enumerate(_listed(table.get("solver"))):
        named["solver", i, "on"] = entry.get("on") if isinstance(entry, dict) else None
    for path, value in named.items():
        for on in _listed(value):
            why = (
                "a file names no cluster, whose owner could run code here: leave it out, and say "
                f"--on {on} if you trust it"
            )
            _require("://" not in str(on), path, why)


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
    tables = isinstance(entries, list) and all(isinstance(e, dict) for e in entries)
    _require(tables, (kind,), f"must be written as [[{kind}]]")
    _require(entries, (kind,), f"a suite needs at least one [[{kind}]]")
    for i, entry in enumerate(entries):
        why = f"every [[{kind}]] needs the name of a {kind}"
        _require(isinstance(entry.get("name"), str), (kind, i, "name"), why)
    return list(entries)


def _require_few(count: int, path: KeyPath) -> None:
    """Refuse what a suite has too many of, from the number alone."""
    cells = f"{count:,}" if count < 10**15 else "over 10^15"
    most = f"where a suite has at most {MOST_CELLS:,}: make several of it"
    _require(count <= MOST_CELLS, path, f"{cells} cells, {most}")


def _problems(
    entries: Sequence[Mapping[str, Any]],
    budget: Budget,
    levels: tuple[Target, ...] | None,
    registry: Registry,
) -> Iterator[SuiteProblem]:
    labels: set[str] = set()
    for i, entry in enumerate(entries):
        path: KeyPath = ("problem", i)
        settings = {
            k: v for k, v in entry.items() if k not in ("name", "budget", "levels", "label")
        }
        own = _budget(entry["budget"], (*path, "budget")) if "budget" in entry else budget
        at = _levels(entry["levels"], (*path, "levels")) if "levels" in entry else levels
        for given in _crossed(settings, path):
            problem = _make(registry.problem, entry["name"], given, path)
            text = _label(entry, problem, given, path, labels)
            version = registry.problems[entry["name"]].version
            own_levels = _levels(problem.at, path) if at is None else at
            yield SuiteProblem(problem, text, own, version, own_levels)


def _solvers(
    entries: Sequence[Mapping[str, Any]],
    trials: int,
    registry: Registry,
    offered: Sequence[type[Oracle]],
) -> Iterator[SuiteSolver]:
    labels: set[str] = set()
    for i, entry in enumerate(entries):
        path: KeyPath = ("solver", i)
        name, before = entry["name"], labels
        settings = {k: v for k, v in entry.items() if k not in ("name", "label")}
        for offers, cls in _classes(registry, name, offered):
            make, own_labels = partial(registry.solver, offers=offers), set(before)
            declared = {p.name: p.grid for p in parameters_of(cls)} if cls else {}
            grids = {
                key: _grid(value, (*path, key), declared.get(key, ()))
                for key, value in settings.items()
                if isinstance(value, dict)
            }
            tuned = list(_crossed(grids, path))
            message = f"{len(tuned)} trials, where tuning allows each solver {trials}"
            _require(len(tuned) <= trials, (*path, next(iter(grids), "")), message)
            fixed = {k: v for k, v in settings.items() if k not in grids}
            for given in _crossed(fixed, path):
                trials_of_one = [_make(make, name, {**given, **point}, path) for point in tuned]
                text = _label(entry, trials_of_one[0], given, path, own_labels)
                version = registry.solver_class(name, offers).version
                for solver, point in zip(trials_of_one, tuned, strict=True):
                    yield SuiteSolver(solver, text, point, version)
            labels = labels | own_labels


def _classes(
    registry: Registry, name: str, offered: Sequence[type[Oracle]]
) -> Sequence[tuple[type[Oracle] | None, type[AnySolver] | None]]:
    """Return an oracle on offer, and the class that takes it, for each class with a name.

    Of a name that no solver takes any with, there is the first; of one that is not known, None.
    """
    known = [one.item for one in registry.solvers[name].all] if name in registry.solvers else []
    able = [(o, cls) for cls in known for o in [o for o in offered if issubclass(o, cls.needs)][:1]]
    return able or [(None, known[0] if known else None)]


def _placed(
    table: Mapping[str, Any], registry: Registry, offered: Sequence[type[Oracle]]
) -> Sequence[Mapping[str, Any]]:
    """Return the entries of solvers, each with the places of the suite unless it has its own."""
    entries = _entries(table, "solver")
    if "on" not in table:
        return entries
    places = _listed(table["on"])
    placed = []
    for entry in entries:
        _, cls = _classes(registry, entry["name"], offered)[0]
        try:
            able = places if cls is None else among(places, cls)
        except UsageError as error:
            raise SuiteError(("on",), str(error)) from None
        if not able:
            why = elsewhere(place_of(str(places[0])))
            raise SuiteError(("on",), f"{entry['name']}: {why}; add numpy, or leave it out")
        if cls is None or issubclass(cls, PlacedSolver):
            entry = {"on": able if isinstance(table["on"], list) else able[0], **entry}
        placed.append(entry)
    return placed


def _suitable(table: Mapping[str, Any], registry: Registry) -> list[dict[str, Any]]:
    """Return all solvers that take one of the problems, tuned over the grids that they declare.

    Those that compute at none of the places of the suite are left out.
    """
    try:
        offers = [registry.problem_class(e["name"]).offers for e in _entries(table, "problem")]
    except UsageError as error:
        raise SuiteError(("problem",), str(error)) from None
    places = _listed(table.get("on", "numpy"))
    suitable: list[dict[str, Any]] = []
    for name in registry.solvers:
        for solver in {registry.solver_class(name, offer).item: None for offer in offers}:
            declared = parameters_of(solver)
            taken = any(issubclass(offer, solver.needs) for offer in offers)
            if taken and among(places, solver) and not any(p.required for p in declared):
                grids: dict[str, Any] = {p.name: {"tune": True} for p in declared if p.grid}
                suitable.append({"name": name, **grids})
                break
    _require(suitable, ("problem",), "no installed solver takes these; see orthobench list")
    return suitable


def among(places: Sequence[Any], solver: type[AnySolver]) -> list[Any]:
    """Return those of some places where a solver computes.

    Raises
    ------
    UsageError
        Where one is no place at all.
    """
    return [on for on in places if solver.computes_on(place_of(str(on)))]


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
    item: AnyProblem | AnySolver,
    given: Mapping[str, Any],
    path: KeyPath,
    taken: set[str],
) -> str:
    """Return the label of an entry, and add it to those taken; raise where it is taken already."""
    own = _text(entry, "label", path)
    crossed = {k: v for k, v in given.items() if isinstance(entry[k], list)}
    text = " ".join([own, *(f"{k}={v}" for k, v in crossed.items())]) if own else label(item, given)
    why = f"two entries are both called {quoted(text)}; give one a `label`"
    _require(text not in taken, path, why)
    taken.add(text)
    return text
