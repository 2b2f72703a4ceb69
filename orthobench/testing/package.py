"""What a package brings, and what the checks say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, TypeAlias

from orthobench.contract.parameters import parameters_of, values_of
from orthobench.contract.problem import AnyProblem, Problem
from orthobench.contract.solver import AnySolver, Solver
from orthobench.errors import UsageError, unknown
from orthobench.harness.identity import label
from orthobench.registry.installed import GROUP, Plugin, Registry
from orthobench.testing import of_problems, of_solvers
from orthobench.testing.examples import example
from orthobench.testing.findings import Check, NotCheckable, Outcome, Result
from orthobench.testing.side_effects import captured
from orthobench.tools.datasets import offline

Facts: TypeAlias = dict[str, str]
"""What came of a check, as plain values."""

Plain: TypeAlias = Mapping[str, AnySolver]
"""Solvers in plain NumPy, by the names of those that they stand for."""

_NONE: Plain = MappingProxyType({})


@dataclass(frozen=True)
class Case:
    """A check of a solver or a problem, ready to be made.

    Attributes
    ----------
    kind : {"solver", "problem"}
    name : str
        Of the solver or the problem, with the parameters that are not the default ones.
    check : Check
    subject : callable
        Returns what is checked: a solver with an instance, or a problem.
    """

    kind: str
    name: str
    check: Check
    subject: Callable[[], tuple[Any, ...]]

    @property
    def id(self) -> str:
        """The name of the test: ``msg-chunking``."""
        return f"{self.name}-{self.check.name}"

    def __call__(self) -> None:
        """Make the check; raises as `Check` does. Nothing is downloaded."""
        with offline():
            self.check(*self.subject())

    def result(self) -> Result:
        """Make the check, and return what came of it; nothing is printed meanwhile."""
        try:
            subject = self.subject()
        except NotCheckable as why:
            return Result(self.check.name, Outcome.NOT_CHECKABLE, str(why))
        with offline(), captured():
            return self.check.result(*subject)


def cases_of(item: AnySolver | AnyProblem, plain: Plain = _NONE) -> list[Case]:
    """Return all checks of a solver, on its example, or of a problem.

    Parameters
    ----------
    item : Solver or Problem
    plain : mapping
        From names of solvers to solvers in plain NumPy, whose operations are counted in their
        place (`orthobench.testing.check_flops`).

    Raises
    ------
    UsageError
        Where it is neither.
    """
    if isinstance(item, Problem):
        return [Case("problem", _label(item), c, lambda: (item,)) for c in of_problems.CHECKS]
    if isinstance(item, Solver):
        subject = cache(partial(_with_example, item))
        checks = of_solvers.checks(plain.get(item.name))
        return [Case("solver", _label(item), check, subject) for check in checks]
    raise UsageError(f"{item!r} is neither a solver nor a problem: pass MySolver(), not its class")


def _label(item: AnySolver | AnyProblem) -> str:
    """Return the name, and the parameters that are not the default ones."""
    values = values_of(item)
    defaults = {p.name: p.default for p in parameters_of(type(item))}
    return label(item, {name: v for name, v in values.items() if v != defaults[name]})


def _with_example(solver: AnySolver) -> tuple[Any, ...]:
    try:
        return solver, example(solver)
    except UsageError as error:
        raise NotCheckable(str(error)) from error


def cases(package: str, registry: Registry, plain: Plain = _NONE) -> Iterator[Case]:
    """Yield all checks of what a package brings, with its default parameters.

    Parameters
    ----------
    package : str
        The name of a plugin, of its module, or of the distribution that declares it.
    registry : Registry
    plain : mapping
        As `cases_of` has it.

    Raises
    ------
    UsageError
        Where nothing has that name; suggests the nearest.
    """
    plugins = plugins_of(package, registry)
    for known in (registry.solvers, registry.problems):
        for name, provided in known.items():
            if provided.plugin in plugins:
                yield from _of_class(name, provided.item, plain)


def plugins_of(package: str, registry: Registry) -> list[Plugin]:
    """Return the plugins that a package means.

    Raises
    ------
    UsageError
        On an unknown name, with the nearest, and on a plugin that cannot be loaded.
    """
    modules = {point.name: point.module for point in entry_points(group=GROUP)}
    names = {
        plugin: {plugin.name, modules.get(plugin.name, plugin.name), plugin.distribution}
        for plugin in registry.plugins
    }
    found = [plugin for plugin, known in names.items() if _normal(package) in map(_normal, known)]
    if found:
        return found
    for name, why in registry.broken.items():
        if _normal(package) in (_normal(name), _normal(modules.get(name, name))):
            raise UsageError(f"plugin {name!r} does not load: {why}")
    every = {name for known in names.values() for name in known if name}
    error = unknown("plugin, module or distribution", package, every)
    where = f'declare it in pyproject.toml: [project.entry-points.{GROUP}], my-plugin = "my_module"'
    raise UsageError(f"{error}; a package that is not listed has no entry point: {where}")


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def _of_class(name: str, item: type[AnySolver] | type[AnyProblem], plain: Plain) -> list[Case]:
    """Return the checks of what a class makes by default, or one that says why there are none."""
    required = [p.name for p in parameters_of(item) if p.required]
    if not required:
        return cases_of(item(), plain)
    kind = "problem" if issubclass(item, Problem) else "solver"
    why = f"it needs {' and '.join(required)}: check one of yours, with orthobench.testing"
    return [Case(kind, name, Check("example", "there is one to check", partial(_say, why)), tuple)]


def _say(why: str) -> None:
    raise NotCheckable(why)


def facts(case: Case, result: Result) -> Facts:
    """Return what came of a check, as plain values."""
    return {
        "kind": case.kind,
        "name": case.name,
        "check": result.check,
        "says": case.check.says,
        "outcome": result.outcome.value,
        "message": result.message,
    }


def lines(checked: Sequence[Facts]) -> Iterator[str]:
    """Yield lines for people about one solver or problem: how many hold, and what to mend."""
    import click

    marks = {
        Outcome.FAILED.value: click.style("FAILED", fg="red", bold=True),
        Outcome.NOT_CHECKABLE.value: Outcome.NOT_CHECKABLE.value,
    }
    first, passed = checked[0], _count(checked, Outcome.PASSED)
    name = click.style(first["name"], bold=True)
    yield f"{name} ({first['kind']}): {passed} of {len(checked)} checks pass"
    for outcome, message in dict.fromkeys((fact["outcome"], fact["message"]) for fact in checked):
        if outcome in marks:
            alike = [fact["check"] for fact in checked if fact["message"] == message]
            yield f"    {', '.join(alike)}: {marks[outcome]}: {message}"


def ending(checked: Sequence[Facts]) -> str:
    """Return a line that counts all."""
    passed, failed, silent = (_count(checked, outcome) for outcome in Outcome)
    return f"{len(checked)} checks: {passed} pass, {failed} fail, {silent} not checkable"


def _count(checked: Sequence[Facts], outcome: Outcome) -> int:
    return sum(fact["outcome"] == outcome.value for fact in checked)
