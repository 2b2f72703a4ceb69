"""The registry: what is installed, who brought it, and what of it is broken.

Built-in methods come in through the same entry points as anyone's; the core names none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, TypeVar

from orthobench.contract.parameters import make
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import AnySolver
from orthobench.errors import OrthobenchError, UsageError, unknown
from orthobench.registry.admission import (
    AdmissionError,
    implementations,
    items_of,
    paper_name,
    problem_name,
    reason,
    solver_name,
    suite_name,
)
from orthobench.registry.claims import Paper
from orthobench.registry.moved import hint

GROUP = "orthobench"
"""The entry-point group."""

CHOICE = "ORTHOBENCH_PLUGINS"
"""The environment variable that names the plugins to load, separated by commas."""

T = TypeVar("T")


class PluginError(OrthobenchError):
    """A plugin that cannot be used; the registry lists it as broken and goes on."""


@dataclass(frozen=True)
class Plugin:
    """Who brings something: the entry point, and the distribution that declares it."""

    name: str
    distribution: str = ""
    version: str = ""
    module: str = ""

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
    left_out : list of Plugin
        Those that the environment variable ``ORTHOBENCH_PLUGINS`` does not name; not imported.
    seconds : dict
        How long each plugin took to import and check, with what no plugin before it imported.
    """

    solvers: dict[str, Provided[type[AnySolver]]] = field(default_factory=dict)
    problems: dict[str, Provided[type[AnyProblem]]] = field(default_factory=dict)
    suites: dict[str, Provided[Path]] = field(default_factory=dict)
    papers: dict[str, Provided[Paper]] = field(default_factory=dict)
    plugins: list[Plugin] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    left_out: list[Plugin] = field(default_factory=list)
    seconds: dict[Plugin, float] = field(default_factory=dict)

    @classmethod
    def installed(cls) -> Registry:
        """Load the installed plugins; those that fail are listed as broken, the rest works.

        Raises
        ------
        UsageError
            Where ``ORTHOBENCH_PLUGINS`` names a plugin that nobody has; suggests the nearest.
        """
        registry = cls()
        points = {_plugin(p): p for p in sorted(entry_points(group=GROUP), key=_own_first)}
        chosen = _chosen(points)
        for plugin, point in points.items():
            if plugin.name in chosen:
                registry._load(point, plugin)
            else:
                registry.left_out.append(plugin)
        return registry

    def _load(self, point: EntryPoint, plugin: Plugin) -> None:
        begin = perf_counter()
        name = plugin.name
        if name in self.broken:  # another one that has this name
            name = f"{name} of {plugin.distribution}"
        try:
            self.add(point.load(), plugin)
        except PluginError as error:
            self.broken[name] = str(error)
        except (Exception, SystemExit) as error:
            where = f"{plugin}, {plugin.module}"
            self.broken[name] = "; ".join(
                filter(None, (reason(error, plugin.module, where), hint(error)))
            )
        self.seconds[plugin] = perf_counter() - begin

    def add(self, module: object, plugin: Plugin) -> None:
        """Register what a plugin brings: all of it, or nothing where anything is wrong.

        Raises
        ------
        PluginError
            On a misspelt hook, a hook that raises, something that is no solver or problem or
            cannot be called as one, or a name that another plugin has already; names both
            parties.
        """
        self._refuse_namesake(plugin)
        try:
            hooks = implementations(module)
            solvers = _named(hooks, "orthobench_solvers", solver_name)
            problems = _named(hooks, "orthobench_problems", problem_name)
            suites = _named(hooks, "orthobench_suites", suite_name)
            papers = _named(hooks, "orthobench_claims", paper_name)
        except AdmissionError as error:
            raise PluginError(f"{plugin}: {error}") from error
        self._refuse_taken("solver", self.solvers, solvers, plugin)
        self._refuse_taken("problem", self.problems, problems, plugin)
        self._refuse_taken("suite", self.suites, suites, plugin)
        self._refuse_taken("paper", self.papers, papers, plugin)
        self.solvers |= {name: Provided(item, plugin) for name, item in solvers.items()}
        self.problems |= {name: Provided(item, plugin) for name, item in problems.items()}
        self.suites |= {name: Provided(item, plugin) for name, item in suites.items()}
        self.papers |= {name: Provided(item, plugin) for name, item in papers.items()}
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
        error.args = (f"{error}{self._absent()}",)
        raise error

    def _absent(self) -> str:
        """Return which plugins are not there to bring anything, in brackets."""
        left_out = ", ".join(plugin.name for plugin in self.left_out)
        broken = ", ".join(sorted(self.broken))
        said = f" (plugins that failed to load: {broken}; see orthobench doctor)" if broken else ""
        return said + (f" (plugins that {CHOICE} leaves out: {left_out})" if left_out else "")

    def _refuse_namesake(self, plugin: Plugin) -> None:
        for other in self.plugins:
            if other.name == plugin.name:
                raise PluginError(f"{plugin} has the name of {other}; one of them must change it")

    @staticmethod
    def _refuse_taken(
        kind: str, known: Mapping[str, Provided[Any]], new: Iterable[str], plugin: Plugin
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
        return Plugin(point.name, module=point.value)
    return Plugin(point.name, point.dist.name, point.dist.version, point.value)


def _chosen(plugins: Iterable[Plugin]) -> set[str]:
    """Return the names of the plugins to load: all, unless the environment chooses some."""
    known = {plugin.name for plugin in plugins}
    text = os.environ.get(CHOICE)
    if text is None:
        return known
    chosen = {name.strip() for name in text.split(",")} - {""}
    for name in sorted(chosen - known):
        raise UsageError(f"{CHOICE}: {unknown('plugin', name, known)}")
    return chosen


def _named(
    hooks: Mapping[str, Callable[[], object]], hook: str, name_of: Callable[[object], str]
) -> dict[str, Any]:
    """Return what a hook brings, by name; nothing where it is not implemented."""
    found: dict[str, Any] = {}
    for item in items_of(hook, hooks[hook]) if hook in hooks else ():
        name = name_of(item)
        if name in found:
            raise AdmissionError(f"{hook} brings {name!r} twice")
        found[name] = item
    return found
