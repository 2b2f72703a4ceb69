"""Suites from TOML files, tables and command lines; errors name file, entry and key."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from orthobench.contract.parameters import parameters_of
from orthobench.contract.placed_solvers import PlacedSolver, elsewhere
from orthobench.contract.problem import Oracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import NOT_TEXT, UsageError, is_text
from orthobench.harness.execution import MEASURES
from orthobench.harness.suite import COMMAND_LINE, FULL, SCORES, Suite, SuiteProblem, SuiteSolver
from orthobench.registry import suite_values as values
from orthobench.registry.entries import KeyPath, SuiteError, entries
from orthobench.registry.plugins import Registry, catalogue
from orthobench.tools import toml
from orthobench.tools.places import place_of

PLAIN = {
    "description": values.TEXT, "threads": values.COUNT, "tolerance": values.PART,
    "measure": values.one_of(MEASURES),
}  # fmt: skip
"""The keys of a suite whose value is a text or a number."""

KEYS = (*PLAIN, "seeds", "budget", "target", "tuning", "levels", "on", "problem", "solver")
"""The keys of a suite."""

TUNING = {"trials": values.COUNT, "seeds": values.COUNT, "score": values.one_of(SCORES)}
"""The keys of ``[tuning]``."""

DEFAULT = "quickstart"
"""The suite that runs if none is named."""

SAMPLES = 10_000
"""The default budget of a suite of problems of the command line, in samples."""


def load(
    path: Path, registry: Registry, changes: Mapping[str, Any] | None = None, size: str = FULL
) -> Suite:
    """Read a suite from a TOML file; `changes` are the command line's values."""
    changes = changes or {}
    if not is_text(path.stem):
        raise UsageError(f"the name of the suite {path} is {NOT_TEXT}")
    try:
        text = toml.text_of(path)
        table = values.of_size(toml.loads(text), size)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    reader = _Reader({**table, **changes}, registry.extended(), changes, path.parent)
    return replace(reader.read(path.stem, str(path)), text=text)


def from_table(table: Mapping[str, Any], name: str, registry: Registry) -> Suite:
    """Make a suite from a table; its problems and solvers may be items of `entries`."""
    return _Reader(table, registry.extended()).read(name, name)


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
    """Return the suite of a caller's options."""
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


@dataclass(frozen=True)
class _Reader:
    """A table that becomes a suite.

    The command line has set the keys in `changed`; a file in `folder` has the others.
    """

    table: Mapping[str, Any]
    registry: Registry
    changed: Collection[str] = ()
    folder: Path | None = None

    def read(self, name: str, source: str) -> Suite:
        """Return the suite; an error names its source and key."""
        try:
            return self.suite(name)
        except SuiteError as error:
            changed = bool(error.path) and error.path[0] in self.changed
            raise error.as_usage_error("command line" if changed else source) from None

    def suite(self, name: str) -> Suite:
        """Return the suite; raise `SuiteError` if it cannot be run."""
        table, tuning = self.table, self.table.get("tuning", {})
        values.require_known(table, (), "key", KEYS)
        values.require(isinstance(tuning, dict), ("tuning",), "must be a table")
        values.require_known(tuning, ("tuning",), "key", TUNING)
        plain, tuned = values.checked(table, PLAIN), values.checked(tuning, TUNING, ("tuning",))
        seeds = values.seeds_of(table.get("seeds", 10))
        tried = tuned.pop("seeds", len(seeds))
        problems = tuple(self.problems())
        solvers = tuple(self.solvers(problems, tuned.get("trials", Suite.trials)))
        values.require_few(len(problems) * len(solvers) * len(seeds), ())
        suite = Suite(
            f"{name}-{plain['measure']}" if "measure" in plain else name,
            problems,
            solvers,
            seeds,
            target=values.target_of(table.get("target")),
            tuning_seeds=seeds[:tried] if tried < len(seeds) else (),
            **plain,
            **tuned,
        )
        for p in problems:
            why = f"nothing limits {p.label!r}; set samples, steps, seconds or flops"
            values.require(p.budget.limits or suite.target is not None, ("budget",), why)
        return suite

    def entries(self, kind: str) -> list[dict[str, Any]]:
        """Return the tables of all problems or solvers."""
        folder = None if kind in self.changed else self.folder
        return entries(self.table.get(kind, []), kind, self.registry, folder)

    def problems(self) -> Iterator[SuiteProblem]:
        """Yield a problem for each combination of the values of an entry."""
        budget = values.budget_of(self.table.get("budget", {}), ("budget",))
        labels: set[str] = set()
        for i, entry in enumerate(self.entries("problem")):
            path: KeyPath = ("problem", i)
            other = ("name", "budget", "levels", "label")
            settings = {key: value for key, value in entry.items() if key not in other}
            own = "budget" in entry and "budget" not in self.changed
            limit = values.budget_of(entry["budget"], (*path, "budget")) if own else budget
            place: KeyPath = (*path, "levels") if "levels" in entry else ("levels",)
            asked = entry.get("levels", self.table.get("levels"))
            make = self.registry.problem
            for text, (problem,) in values.variants(entry, settings, make, path, labels):
                version = self.registry.problems[entry["name"]].version
                levels = values.levels_of(problem.at if asked is None else asked, place)
                yield SuiteProblem(problem, text, limit, version, levels)

    def solvers(self, problems: Sequence[SuiteProblem], trials: int) -> Iterator[SuiteSolver]:
        """Yield the solvers, and all trials."""
        offered = tuple(dict.fromkeys(p.problem.offers for p in problems))
        found = self.entries("solver") if "solver" in self.table else self.suitable(offered)
        self.refuse_clusters(self.table.get("on"), "on", ())
        labels: set[str] = set()
        for i, entry in enumerate(found):
            path: KeyPath = ("solver", i)
            other = ("name", "label", *(["on"] if "on" in self.changed else []))
            own = {key: value for key, value in entry.items() if key not in other}
            self.refuse_clusters(own.get("on"), "solver", path)
            new: set[str] = set()  # classes of one name have the same labels
            for offers, cls in _classes(self.registry, entry["name"], offered):
                settings, seen = self.placed(own, entry["name"], cls), set(labels)
                declared = {p.name: p.grid for p in parameters_of(cls)} if cls else {}
                grids = {
                    key: values.grid_of(value, (*path, key), declared.get(key, ()))
                    for key, value in settings.items()
                    if isinstance(value, dict)
                }
                points = list(values.crossed(grids, path))
                many = f"{len(points)} trials, but tuning allows each solver {trials}"
                values.require(len(points) <= trials, (*path, next(iter(grids), "")), many)
                fixed = {key: value for key, value in settings.items() if key not in grids}
                make = partial(self.registry.solver, offers=offers)
                for text, built in values.variants(entry, fixed, make, path, seen, points):
                    version = self.registry.solver_class(entry["name"], offers).version
                    for solver, point in zip(built, points, strict=True):
                        yield SuiteSolver(solver, text, point, version)
                new |= seen
            labels |= new

    def placed(
        self, settings: dict[str, Any], name: str, cls: type[AnySolver] | None
    ) -> dict[str, Any]:
        """Return the settings of a solver, with the places of the suite."""
        if "on" not in self.table or "on" in settings:
            return settings
        places = values.listed(self.table["on"])
        values.require(places, ("on",), "an empty list leaves nowhere to compute")
        able = places if cls is None else self.among(places, cls)
        if not able:
            why = elsewhere(place_of(str(places[0])))
            raise SuiteError(("on",), f"{name}: {why}; add numpy, or leave it out")
        if cls is not None and not issubclass(cls, PlacedSolver):
            return settings  # NumPy is its only place
        return {"on": able if isinstance(self.table["on"], list) else able[0], **settings}

    def among(self, places: Sequence[Any], solver: type[AnySolver]) -> list[Any]:
        """Return the places where a solver computes."""
        try:
            return [on for on in places if solver.computes_on(place_of(str(on)))]
        except UsageError as error:
            raise SuiteError(("on",), str(error)) from None

    def suitable(self, offered: Sequence[type[Oracle]]) -> list[dict[str, Any]]:
        """Return all solvers for these problems and places, tuned over their grids."""
        places, suitable = values.listed(self.table.get("on", "numpy")), list[dict[str, Any]]()
        for name in self.registry.solvers:
            for offers, cls in _classes(self.registry, name, offered):
                declared = parameters_of(cls) if cls and offers else ()
                required = any(p.required for p in declared)
                if cls and offers and not required and self.among(places, cls):
                    grids = {p.name: {"tune": True} for p in declared if p.grid}
                    suitable.append({"name": name, **grids})
                    break
        why = "no installed solver takes these; see orthobench list"
        values.require(suitable, ("problem",), why)
        return suitable

    def refuse_clusters(self, on: Any, key: str, path: KeyPath) -> None:
        """Refuse a Dask cluster that a file names: its owner can run code here."""
        typed = self.folder is None or key in self.changed
        for place in () if typed else values.listed(on):
            why = "a file may not name a cluster, whose owner could run code here"
            mend = f"{why}: use --on {place} if you trust it"
            values.require("://" not in str(place), (*path, "on"), mend)


def _classes(
    registry: Registry, name: str, offered: Sequence[type[Oracle]]
) -> Sequence[tuple[type[Oracle] | None, type[AnySolver] | None]]:
    """Return an oracle on offer, and its class, for each class with a name that takes one.

    If none does, return the first class; None for an unknown name.
    """
    known = [one.item for one in registry.solvers[name].all] if name in registry.solvers else []
    able = [(o, cls) for cls in known for o in [o for o in offered if issubclass(o, cls.needs)][:1]]
    return able or [(None, known[0] if known else None)]
