"""The registry: what is installed, who brought it, and what of it is broken.

Built-in methods come in through the same entry points as anyone's; the core names none.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

import pluggy

from orthobench import hookspecs
from orthobench.claims import Paper
from orthobench.errors import OrthobenchError, unknown
from orthobench.parameters import make, parameters_of
from orthobench.problem import AnyProblem, Problem
from orthobench.solver import AnySolver, Solver

GROUP = "orthobench"
"""The entry-point group."""

T = TypeVar("T")


class PluginError(OrthobenchError):
    """A plugin that cannot be used; the registry lists it as broken and goes on."""


@dataclass(frozen=True)
class Plugin:
    """Who brings something: the entry point, and the distribution that declares it."""

    name: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        source = f" of {self.distribution} {self.version}" if self.distribution else ""
        return f"plugin {self.name!r}{source}"


@dataclass(frozen=True)
class Provided(Generic[T]):
    """A solver class, a problem class, a suite's path or a paper, and the plugin that brings it."""

    item: T
    plugin: Plugin


@dataclass
class Registry:
    """Everything that plugins bring, by name.

    Attributes
    ----------
    solvers, problems, suites, papers : dict
        What can be used, each with its plugin.
    plugins : list of Plugin
        Those that work.
    broken : dict
        Those that do not, with the reason.
    """

    solvers: dict[str, Provided[type[AnySolver]]] = field(default_factory=dict)
    problems: dict[str, Provided[type[AnyProblem]]] = field(default_factory=dict)
    suites: dict[str, Provided[Path]] = field(default_factory=dict)
    papers: dict[str, Provided[Paper]] = field(default_factory=dict)
    plugins: list[Plugin] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)

    @classmethod
    def installed(cls) -> Registry:
        """Load all installed plugins; those that fail are listed as broken, the rest works."""
        registry = cls()
        for point in sorted(entry_points(group=GROUP), key=_own_first):
            plugin = _plugin(point)
            try:
                registry.add(point.load(), plugin)
            except Exception as error:
                registry.broken[plugin.name] = _reason(error)
        return registry

    def add(self, module: object, plugin: Plugin) -> None:
        """Register what a plugin brings: all of it, or nothing where anything is wrong.

        Raises
        ------
        PluginError
            On a misspelt hook, a hook that raises, something that is no solver or problem,
            or a name that another plugin brings already; names both parties.
        """
        hooks = _hooks_of(module, plugin)
        solvers = _named(hooks.orthobench_solvers, _solver_name, plugin)
        problems = _named(hooks.orthobench_problems, _problem_name, plugin)
        suites = _named(hooks.orthobench_suites, _suite_name, plugin)
        papers = _named(hooks.orthobench_claims, _paper_name, plugin)
        self._refuse_taken("solver", self.solvers, solvers, plugin)
        self._refuse_taken("problem", self.problems, problems, plugin)
        self._refuse_taken("suite", self.suites, suites, plugin)
        self._refuse_taken("paper", self.papers, papers, plugin)
        self.solvers |= solvers
        self.problems |= problems
        self.suites |= suites
        self.papers |= papers
        self.plugins.append(plugin)

    def solver(self, name: str, parameters: Mapping[str, Any] | None = None) -> AnySolver:
        """Make the solver of this name.

        Raises
        ------
        UsageError
            On an unknown name (suggests the nearest) or a wrong parameter.
        """
        return make(self._find("solver", self.solvers, name), parameters or {}, f"solver {name}")

    def problem(self, name: str, parameters: Mapping[str, Any] | None = None) -> AnyProblem:
        """Make the problem of this name.

        Raises
        ------
        UsageError
            On an unknown name (suggests the nearest) or a wrong parameter.
        """
        return make(self.problem_class(name), parameters or {}, f"problem {name}")

    def problem_class(self, name: str) -> type[AnyProblem]:
        """Return the problem class of this name.

        Raises
        ------
        UsageError
            On an unknown name; suggests the nearest.
        """
        return self._find("problem", self.problems, name)

    def suite(self, name: str) -> Path:
        """Return the path of the suite of this name.

        Raises
        ------
        UsageError
            On an unknown name; suggests the nearest.
        """
        return self._find("suite", self.suites, name)

    def paper(self, name: str) -> Paper:
        """Return the paper of this name, with its claims.

        Raises
        ------
        UsageError
            On an unknown name; suggests the nearest.
        """
        return self._find("paper", self.papers, name)

    def _find(self, kind: str, known: Mapping[str, Provided[T]], name: str) -> T:
        if name in known:
            return known[name].item
        error = unknown(kind, name, known)
        if self.broken:
            names = ", ".join(sorted(self.broken))
            error.args = (f"{error} (plugins that failed to load: {names}; see orthobench doctor)",)
        raise error

    @staticmethod
    def _refuse_taken(
        kind: str,
        known: Mapping[str, Provided[T]],
        new: Mapping[str, Provided[T]],
        plugin: Plugin,
    ) -> None:
        for name in new:
            if name in known:
                other = known[name].plugin
                raise PluginError(f"{plugin} brings {kind} {name!r}, which {other} brings already")


@cache
def catalogue() -> Registry:
    """Return what is installed: ``solvers``, ``problems``, ``suites``, and what is ``broken``."""
    return Registry.installed()


def _own_first(point: EntryPoint) -> tuple[bool, str]:
    return (_plugin(point).distribution != GROUP, point.name)


def _plugin(point: EntryPoint) -> Plugin:
    if point.dist is None:
        return Plugin(point.name)
    return Plugin(point.name, point.dist.name, point.dist.version)


def _hooks_of(module: object, plugin: Plugin) -> pluggy.HookRelay:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(module, plugin.name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        hooks = ", ".join(name for name in vars(hookspecs) if name.startswith(f"{GROUP}_"))
        raise PluginError(f"{plugin}: {error}; the hooks are {hooks}") from error
    return manager.hook


def _named(
    hook: Callable[[], list[Iterable[T]]], name_of: Callable[[T], str], plugin: Plugin
) -> dict[str, Provided[T]]:
    found: dict[str, Provided[T]] = {}
    for item in (item for items in hook() for item in items):
        try:
            name = name_of(item)
        except TypeError as error:
            raise PluginError(f"{plugin}: {error}") from error
        if name in found:
            raise PluginError(f"{plugin} brings {name!r} twice")
        found[name] = Provided(item, plugin)
    return found


def _solver_name(item: object) -> str:
    return _class_name(item, Solver, ("name", "needs"))


def _problem_name(item: object) -> str:
    return _class_name(item, Problem, ("name", "family", "offers", "primary", "tuned_by"))


def _suite_name(item: object) -> str:
    if not isinstance(item, Path):
        raise TypeError(f"{item!r} is not the path of a suite")
    return item.stem


def _paper_name(item: object) -> str:
    if not isinstance(item, Paper):
        raise TypeError(f"{item!r} is not a Paper")
    return item.name


def _class_name(item: object, base: type, attributes: tuple[str, ...]) -> str:
    if not (inspect.isclass(item) and issubclass(item, base)):
        raise TypeError(f"{item!r} is not a subclass of {base.__name__}")
    if inspect.isabstract(item):
        missing = ", ".join(sorted(getattr(item, "__abstractmethods__", ())))
        raise TypeError(f"{item.__name__} lacks the methods {missing}")
    if not dataclasses.is_dataclass(item) or not item.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise TypeError(f"{item.__name__} is not a frozen dataclass")
    for attribute in attributes:
        if not hasattr(item, attribute):
            raise TypeError(f"{item.__name__} lacks the class attribute {attribute!r}")
    parameters_of(item)
    return str(item.name)  # type: ignore[attr-defined]


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
