"""The registry of installed plugins: their solvers, problems and suites, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from orthobench.contract.hooks import BrokenModule
from orthobench.contract.parameters import ParameterError, make, parameters_of
from orthobench.contract.placed_solvers import PlacedSolver, elsewhere
from orthobench.contract.problem import AnyProblem, Oracle, Problem
from orthobench.contract.solver import AnySolver
from orthobench.errors import UsageError, quoted, unknown
from orthobench.harness.restarts import restarted
from orthobench.registry.plugin_checks import KINDS, PluginError, implementations, items_of, reason
from orthobench.tools.environment import version
from orthobench.tools.places import DEFAULT, place_of

GROUP = "orthobench"
"""The entry-point group."""

T = TypeVar("T")

Hooks: TypeAlias = Mapping[str, Callable[[], object]]
"""The hooks that a plugin implements, by name."""


@dataclass(frozen=True)
class Plugin:
    """A plugin: its entry point, distribution and module; unknown parts are empty."""

    name: str
    distribution: str = ""
    version: str = ""
    module: str = ""

    def __str__(self) -> str:
        source = f" of {self.distribution} {self.version}" if self.distribution else ""
        return f"plugin {self.name!r}{source}"


@dataclass(frozen=True)
class Provided(Generic[T]):
    """A class or the path of a suite, with its plugin.

    `others` are solvers of the same name for other families.
    """

    item: T
    plugin: Plugin
    others: tuple[Provided[T], ...] = ()

    @property
    def version(self) -> tuple[str, str]:
        """Name and version of its distribution."""
        return (self.plugin.distribution or self.plugin.name, self.plugin.version)

    @property
    def all(self) -> tuple[Provided[T], ...]:
        """All of this name."""
        return (self, *self.others)


@dataclass
class Registry:
    """All items of plugins, by name; `broken` has why others do not work.

    `used` has the names that were asked for, such as ``"solver msg"``.
    """

    solvers: dict[str, Provided[type[AnySolver]]] = field(default_factory=dict)
    problems: dict[str, Provided[type[AnyProblem]]] = field(default_factory=dict)
    suites: dict[str, Provided[Path]] = field(default_factory=dict)
    plugins: dict[Plugin, Hooks] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    @classmethod
    def installed(cls) -> Registry:
        """Load all installed plugins."""
        registry = cls()
        points = {_plugin(point): point for point in entry_points(group=GROUP)}
        own_first = sorted(points, key=lambda plugin: (plugin.distribution != GROUP, plugin.name))
        for plugin in own_first:
            registry.load(points[plugin], plugin)
        return registry

    def load(self, point: EntryPoint, plugin: Plugin) -> None:
        """Register a plugin, or list it as broken."""
        name = plugin.name
        if name in self.broken:  # another plugin has this name
            name = f"{name} of {plugin.distribution}"
        try:
            if point.dist is not None and plugin.distribution != GROUP:
                _check_requirements(point.dist, plugin)
            self.add(point.load(), plugin)
        except PluginError as error:
            self.broken[name] = str(error)
        except (Exception, SystemExit) as error:
            where = f"{plugin}, {plugin.module}"
            self.broken[name] = reason(error, plugin.module, where)

    def add(self, module: object, plugin: Plugin) -> None:
        """Register all items of a plugin, or raise `PluginError` if one is wrong.

        A name that two plugins bring is broken: neither has it, unless one is built in.
        """
        for other in self.plugins:
            if other.name == plugin.name:
                raise PluginError(f"{plugin} has the name of {other}; one of them must change it")
        try:
            hooks = implementations(module)
            brought = {kind: self._named(kind, plugin, hooks) for kind in KINDS if kind != "paper"}
        except PluginError as error:
            raise PluginError(f"{plugin}: {error}") from error
        for kind, items in brought.items():
            self._take(kind, self._of_kind(kind), items, plugin)
        self.plugins[plugin] = hooks

    @cached_property
    def papers(self) -> dict[str, Provided[Any]]:
        """The papers, which are loaded when they are first asked for."""
        found: dict[str, Provided[Any]] = {}
        for plugin, hooks in self.plugins.items():
            try:
                self._take("paper", found, self._named("paper", plugin, hooks), plugin)
            except PluginError as error:
                self.broken[f"papers of {plugin.name}"] = f"{plugin}: {error}"
        return found

    def _named(self, kind: str, plugin: Plugin, hooks: Hooks) -> dict[str, Any]:
        """Return the items of a kind, by name; list modules that cannot be imported as broken."""
        hook, name_of = KINDS[kind]
        named: dict[str, Any] = {}
        for item in items_of(hook, hooks[hook]) if hook in hooks else ():
            if isinstance(item, BrokenModule):
                self.broken[item.name] = reason(item.error, item.name, str(plugin))
                continue
            name = name_of(item)
            if name in named:
                raise PluginError(f"{hook} brings {name!r} twice")
            named[name] = item
        return named

    def _take(
        self, kind: str, known: dict[str, Provided[Any]], items: Mapping[str, Any], plugin: Plugin
    ) -> None:
        """Add items of a plugin to those known; a name that another one brings is broken."""
        for name, item in items.items():
            label, new, held = f"{kind} {name}", Provided(item, plugin), known.get(name)
            rivals = [one for one in held.all if _overlap(one.item, item)] if held else []
            if rivals:
                both = f"{plugin} and {rivals[0].plugin} both bring {kind} {name!r}"
                self.broken[label] = f"{both}; one of them must change it, or be uninstalled"
                if rivals[0].plugin.distribution != GROUP:
                    del known[name]
            elif label not in self.broken:
                known[name] = replace(held, others=(*held.others, new)) if held else new

    def register(self, cls: type) -> str:
        """Add a class of a file or a notebook; return its name."""
        kind = "problem" if issubclass(cls, Problem) else "solver"
        name, known = KINDS[kind][1](cls), self._of_kind(kind)
        there = known.get(name)
        if there is None or there.plugin is OWN:
            others = tuple(Provided(other, OWN) for other in getattr(cls, "others", ()))
            known[name] = Provided(cls, OWN, others)
        elif there.item is not cls:
            taken = f"the name of {kind} {name!r} of {there.plugin}"
            raise UsageError(f"{cls.__name__} has {taken}: give it another")
        return name

    def extended(self) -> Registry:
        """Return a copy for more classes."""
        return replace(self, solvers=dict(self.solvers), problems=dict(self.problems))

    def base_of(self, oracle: Oracle) -> type[AnyProblem]:
        """Return the base class of the family that offers an oracle."""
        offered: dict[Any, type[AnyProblem]] = {}
        for provided in self.problems.values():
            if isinstance(provided.item, type):  # not a given instance
                cls: Any = provided.item
                base: Any = next(b for b in cls.__mro__ if "family" in vars(b))
                offered[base.offers] = offered[cls.offers] = base
        for kind in type(oracle).__mro__:
            if kind in offered:
                return offered[kind]
        why = f"no installed family has problems that offer a {type(oracle).__name__}"
        raise UsageError(f"{why}: pass a Problem instead of its instance")

    def solver(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        offers: type[Oracle] | None = None,
    ) -> AnySolver:
        """Make a solver; a wrong name or parameter is a `UsageError`."""
        cls = self.solver_class(name, offers).item
        given = dict(parameters or {})
        if "on" in given and not issubclass(cls, PlacedSolver):
            place = place_of(str(given.pop("on")))
            if place != DEFAULT:
                raise ParameterError("on", f"solver {name}: {elsewhere(place)}")
        own = any(p.name == "restarts" for p in parameters_of(cls))
        starts = None if own else given.pop("restarts", None)
        solver = make(cls, given, f"solver {name}")
        return solver if starts is None else restarted(solver, starts)

    def solver_class(
        self, name: str, offers: type[Oracle] | None = None
    ) -> Provided[type[AnySolver]]:
        """Return the class with a name; the one for `offers` if families share it."""
        self._find("solver", self.solvers, name)
        known = self.solvers[name].all
        able = [one for one in known if offers and issubclass(offers, one.item.needs)]
        return (able or known)[0]

    def problem(self, name: str, parameters: Mapping[str, Any] | None = None) -> AnyProblem:
        """Make a problem; a wrong name or parameter is a `UsageError`."""
        item: Any = self._find("problem", self.problems, name)
        if isinstance(item, Problem):  # its instance is given
            return item
        return make(item, parameters or {}, f"problem {name}")

    def suite(self, name: str) -> Path:
        """Return the path of a suite; an unknown name is a `UsageError`."""
        return self._find("suite", self.suites, name)

    def paper(self, name: str) -> Any:
        """Return a paper; an unknown name is a `UsageError`."""
        return self._find("paper", self.papers, name)

    def _find(self, kind: str, provided: Mapping[str, Provided[T]], name: str) -> T:
        if not isinstance(name, str):
            raise UsageError(f"a {kind} is named by a str, not by {quoted(name)}")
        if name in provided:
            self.used.add(f"{kind} {name}")
            return provided[name].item
        if f"{kind} {name}" in self.broken:
            raise UsageError(self.broken[f"{kind} {name}"])
        text = str(unknown(kind, name, provided))
        if text.endswith(" ..."):
            text += f" (orthobench list {kind}s has all)"
        if self.broken:
            broken = ", ".join(sorted(self.broken))
            text += f" (plugins that failed to load: {broken}; see orthobench doctor)"
        raise UsageError(text)

    def _of_kind(self, kind: str) -> dict[str, Provided[Any]]:
        provided: dict[str, Provided[Any]] = getattr(self, f"{kind}s")
        return provided


OWN = Plugin("own")
"""The plugin of classes of files and notebooks."""


def register(cls: type[T]) -> type[T]:
    """Put a class into the catalogue of this process, also as a decorator.

    Raises
    ------
    PluginError
        If it could not run.
    UsageError
        If an installed item has its name.
    """
    catalogue().register(cls)
    return cls


@cache
def catalogue() -> Registry:
    """Return all installed ``solvers``, ``problems`` and ``suites``, by name.

    Plugins are loaded once a process; ``broken`` has the reasons of those that do not work.
    """
    return Registry.installed()


def solver_for(name: str, parameters: Mapping[str, Any], offers: type[Oracle]) -> AnySolver:
    """Make the solver with a name for an oracle; load as few plugins as possible."""
    if not catalogue.cache_info().currsize:
        near = _near(offers)
        if name in near.solvers and issubclass(offers, near.solver_class(name, offers).item.needs):
            return near.solver(name, parameters, offers)
    return catalogue().solver(name, parameters, offers)


@cache
def _near(offers: type[Oracle]) -> Registry:
    """Load the plugins that bring an oracle, or have the name of its family."""
    registry, words = Registry(), offers.__module__.split(".")
    modules = {words[0], *(f"{GROUP}_{word}" for word in words)}
    for point in entry_points(group=GROUP):
        if point.module.partition(".")[0] in modules:
            registry.load(point, _plugin(point))
    return registry


def _check_requirements(distribution: Distribution, plugin: Plugin) -> None:
    """Refuse a plugin that needs another version of what is installed."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    for text in distribution.requires or ():
        needed = Requirement(text)
        applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
        here = version(needed.name) if applies else None
        # the next release is developed under its number
        fits = (needed.specifier.contains(v, prereleases=True)
                for v in (here, Version(here).base_version)) if here else [True]  # fmt: skip
        if not any(fits):
            wanted = f"{needed.name}{needed.specifier}"
            remedy = f"pip install -U '{wanted}' {distribution.name}"
            raise PluginError(f"{plugin} needs {wanted}, and {here} is installed: {remedy}")


def _overlap(one: Any, other: Any) -> bool:
    """Return whether two items need different names: all but solvers of different oracles."""
    if not hasattr(one, "needs"):
        return True
    return issubclass(one.needs, other.needs) or issubclass(other.needs, one.needs)


def _plugin(point: EntryPoint) -> Plugin:
    if point.dist is None:
        return Plugin(point.name, module=point.value)
    return Plugin(point.name, *_name_and_version(point.dist), point.value)


@cache  # each look reads the whole file of metadata
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    return distribution.name, distribution.version
