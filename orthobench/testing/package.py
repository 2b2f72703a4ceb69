"""What a package brings, and what the checks say of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from orthobench.datasets import offline
from orthobench.errors import UsageError, unknown
from orthobench.parameters import parameters_of
from orthobench.problem import AnyProblem, Problem
from orthobench.registry import GROUP, Plugin, Provided, Registry
from orthobench.solver import AnySolver, Solver
from orthobench.testing import of_problems, of_solvers
from orthobench.testing.examples import example
from orthobench.testing.findings import Check, NotCheckable, Outcome, Result


@dataclass(frozen=True)
class Case:
    """A check of a solver or a problem, ready to be made.

    Attributes
    ----------
    kind : {"solver", "problem"}
    name : str
        Of the solver or the problem.
    check : Check
    subject : tuple
        What is checked: a solver with an instance, or a problem.
    """

    kind: str
    name: str
    check: Check
    subject: tuple[Any, ...]

    @property
    def id(self) -> str:
        """The name of the test: ``msg-chunking``."""
        return f"{self.name}-{self.check.name}"

    def __call__(self) -> None:
        """Make the check; raises as `Check` does. Nothing is downloaded."""
        with offline():
            self.check(*self.subject)

    def result(self) -> Result:
        """Make the check, and return what came of it."""
        with offline():
            return self.check.result(*self.subject)


def cases_of(item: AnySolver | AnyProblem) -> list[Case]:
    """Return all checks of a solver, on its example, or of a problem."""
    if isinstance(item, Problem):
        return [Case("problem", item.name, check, (item,)) for check in of_problems.CHECKS]
    if isinstance(item, Solver):
        instance = example(item)
        return [Case("solver", item.name, check, (item, instance)) for check in of_solvers.CHECKS]
    raise UsageError(f"{item!r} is neither a solver nor a problem: pass MySolver(), not its class")


def cases(package: str, registry: Registry) -> Iterator[Case]:
    """Yield all checks of what a package brings, with its default parameters.

    Parameters
    ----------
    package : str
        The name of a plugin, of its module, or of the distribution that declares it.
    registry : Registry

    Raises
    ------
    UsageError
        Where nothing has that name; suggests the nearest.
    """
    plugins = plugins_of(package, registry)
    for known in (registry.solvers, registry.problems):
        for name, provided in known.items():
            if provided.plugin in plugins:
                yield from _of_class(name, provided)


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


def _of_class(
    name: str, provided: Provided[type[AnySolver]] | Provided[type[AnyProblem]]
) -> list[Case]:
    """Return the checks of what a class makes by default, or one that says why there are none."""
    kind = "problem" if issubclass(provided.item, Problem) else "solver"
    required = [p.name for p in parameters_of(provided.item) if p.required]
    if required:
        return [_uncheckable(kind, name, f"it needs {' and '.join(required)}: check one of yours")]
    try:
        return cases_of(provided.item())
    except UsageError as error:
        return [_uncheckable(kind, name, str(error))]


def _uncheckable(kind: str, name: str, why: str) -> Case:
    """Return a case that only says why there are no others."""

    def say() -> None:
        raise NotCheckable(why)

    return Case(kind, name, Check("example", "there is one to check", say), ())


def facts(case: Case, result: Result) -> dict[str, str]:
    """Return what came of a check, as plain values."""
    return {
        "kind": case.kind,
        "name": case.name,
        "check": result.check,
        "says": case.check.says,
        "outcome": result.outcome.value,
        "message": result.message,
    }


def lines(checked: list[dict[str, str]]) -> Iterator[str]:
    """Yield lines for people: a line for each solver and problem, and what to mend below it."""
    import click

    marks = {"failed": click.style("FAILED", fg="red", bold=True), "not checkable": "not checkable"}
    for kind, name in dict.fromkeys((fact["kind"], fact["name"]) for fact in checked):
        of_it = [fact for fact in checked if (fact["kind"], fact["name"]) == (kind, name)]
        passed = sum(fact["outcome"] == Outcome.PASSED.value for fact in of_it)
        yield f"{click.style(name, bold=True)} ({kind}): {passed} of {len(of_it)} checks pass"
        for outcome, message in dict.fromkeys((fact["outcome"], fact["message"]) for fact in of_it):
            if outcome in marks:
                alike = [fact["check"] for fact in of_it if fact["message"] == message]
                yield f"    {', '.join(alike)}: {marks[outcome]}: {message}"
    yield _ending(checked)


def _ending(checked: list[dict[str, str]]) -> str:
    failed = sum(fact["outcome"] == Outcome.FAILED.value for fact in checked)
    silent = sum(fact["outcome"] == Outcome.NOT_CHECKABLE.value for fact in checked)
    said = f"{len(checked)} checks: {len(checked) - failed - silent} pass, {failed} fail"
    return f"{said}, {silent} not checkable"
