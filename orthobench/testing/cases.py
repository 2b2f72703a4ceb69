"""The cases of a plugin: each check of its solvers and problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from orthobench.contract.parameters import changed_values, make
from orthobench.contract.problem import AnyInstance, AnyProblem, Problem
from orthobench.contract.solver import AnySolver, Solver
from orthobench.errors import OrthobenchError, UsageError, unknown
from orthobench.harness.cell import instance_of
from orthobench.harness.identity import label
from orthobench.registry.entries import class_in, specification
from orthobench.registry.plugins import GROUP, OWN, Plugin, Registry
from orthobench.testing import checks_of_problems, checks_of_solvers
from orthobench.testing.check import Check, CheckStatus, NotCheckable, NotConforming, Result
from orthobench.testing.reference import check_against
from orthobench.testing.shared_checks import captured
from orthobench.testing.short_runs import example
from orthobench.tools.datasets import offline

Plain: TypeAlias = Mapping[str, AnySolver]
"""Solvers in plain NumPy, by the names of those whose flops they count."""

Problems: TypeAlias = Collection[type[AnyProblem]]

_NONE: Plain = MappingProxyType({})


class Asked(NamedTuple):
    """A request for checks: a plugin's name, or ``FILE.py:CLASS key=value``.

    Attributes
    ----------
    item : str
    problem : str
        The problem for a solver of a file; by default an example.
    against : str
        The file of a reference; then only the steps are compared.
    """

    item: str
    problem: str = ""
    against: str = ""


@dataclass(frozen=True)
class Case:
    """A check of one item; `subject` returns its arguments."""

    kind: str
    name: str
    check: Check
    subject: Callable[[], tuple[Any, ...]]

    @property
    def id(self) -> str:
        """The id of the test in pytest: ``msg-chunking``."""
        return f"{self.name}-{self.check.name}"

    def __call__(self) -> None:
        """Make the check, without downloads."""
        with offline():
            self.check(*self.subject())

    def result(self) -> Result:
        """Return the result, without downloads or output."""
        try:
            subject = self.subject()
        except NotCheckable as reason:
            return Result(self.check.name, CheckStatus.NOT_CHECKABLE, str(reason))
        with offline(), captured():
            return self.check.result(*subject)


def cases_of(
    item: AnySolver | AnyProblem,
    plain: Plain = _NONE,
    problems: Problems = (),
    maker: Callable[[], AnyInstance] | None = None,
) -> list[Case]:
    """Return the cases of a problem, or of a solver on an example or the instance of `maker`."""
    if not isinstance(item, (Solver, Problem)):
        raise UsageError(f"{item!r} is neither a solver nor a problem: pass MySolver()")
    name = label(item, changed_values(item))
    if isinstance(item, Problem):
        every = checks_of_problems.CHECKS
        return [Case("problem", name, check, lambda: (item,)) for check in every]

    @cache
    def found() -> AnyInstance | str:
        try:
            with offline():
                return maker() if maker else example(item, problems)
        except UsageError as error:
            return str(error)

    def subject() -> tuple[Any, ...]:
        instance = found()
        if isinstance(instance, str):
            raise NotCheckable(instance)
        return item, instance

    checks = checks_of_solvers.checks(item, plain.get(item.name))
    return [Case("solver", name, check, subject) for check in checks]


def cases(asked: Asked, registry: Registry, plain: Plain = _NONE) -> Iterator[Case]:
    """Yield the cases of a package, or of a class in a file."""
    if ".py:" in asked.item:
        yield from _of_file(asked, registry.extended(), plain)
        return
    if asked.problem or asked.against:
        raise UsageError("-p and --against are for one solver: write FILE.py:CLASS")
    plugins = plugins_of(asked.item, registry)
    yield from _broken(plugins, registry)
    own_first = sorted(registry.problems.values(), key=lambda p: p.plugin not in plugins)
    problems = [provided.item for provided in own_first]
    for items in (registry.solvers, registry.problems):
        for name, first in items.items():
            for provided in first.all:
                if provided.plugin in plugins:
                    yield from _of_class(name, provided.item, plain, problems)


def _broken(plugins: Sequence[Plugin], registry: Registry) -> Iterator[Case]:
    """Yield failing cases for broken modules and names that clash."""
    roots = tuple(f"{plugin.module.partition(':')[0]}." for plugin in plugins)
    remedy = "Mend the import; the module's solvers or problems are not checked"
    for module, why in registry.broken.items():
        if module.startswith(roots):
            fail = partial(_raise, NotConforming(why, remedy))
            yield Case("module", module, Check("import", "it can be imported", fail), tuple)
        elif any(f"{plugin} and " in why or f" and {plugin} both " in why for plugin in plugins):
            kind, _, name = module.partition(" ")
            fail = partial(_raise, NotConforming(why, f"This {kind} is not checked"))
            yield Case(kind, name, Check("name", "no other plugin brings its name", fail), tuple)


def _of_file(asked: Asked, registry: Registry, plain: Plain) -> Iterator[Case]:
    """Yield the cases of a class or a black box in a file."""
    entry = specification(asked.item)
    name = registry.register(class_in(entry.pop("name")))
    if name in registry.problems and registry.problems[name].plugin is OWN:
        yield from cases_of(registry.problem(name, entry))
        return
    make = partial(registry.solver, name, entry)
    if asked.against:
        file = Path(asked.against)
        held = Check("against", f"it follows the steps of {file.name}", check_against)
        yield Case("solver", name, held, lambda: (file, lambda offers: make(offers=offers)))
        return
    if asked.problem:
        other = specification(asked.problem)
        problem = registry.problem(other.pop("name"), other)
        maker = partial(instance_of, problem, 0)
        yield from cases_of(make(offers=problem.offers), plain, maker=maker)
        return
    problems = [one.item for one in registry.problems.values()]
    # a black box has a class for streams, too
    solvers = [make(offers=one.item.needs) for one in registry.solver_class(name).all]
    fit = next((solver for solver in solvers if _has_example(solver, problems)), solvers[0])
    yield from cases_of(fit, plain, problems)


def _has_example(solver: AnySolver, problems: Problems) -> bool:
    try:
        with offline():
            return bool(example(solver, problems))
    except UsageError:
        return False


def plugins_of(package: str, registry: Registry) -> list[Plugin]:
    """Return the plugins with the name of a plugin, module or distribution."""
    names = {
        plugin: [plugin.name, plugin.module.partition(":")[0], plugin.distribution]
        for plugin in registry.plugins
    }
    if meant := [p for p, own in names.items() if _normal(package) in map(_normal, own)]:
        return meant
    modules = {point.name: point.module for point in entry_points(group=GROUP)}
    for name, why in registry.broken.items():
        if _normal(package) in (_normal(name), _normal(modules.get(name, name))):
            raise UsageError(f"plugin {name!r} does not load: {why}")
    every = {name for own in names.values() for name in own if name}
    error = unknown("plugin, module or distribution", package, every)
    raise UsageError(
        f"{error}; a package without an entry point must declare one in pyproject.toml: "
        f'[project.entry-points.{GROUP}], my-plugin = "my_module"'
    )


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def _of_class(name: str, item: type[Any], plain: Plain, problems: Problems) -> list[Case]:
    """Return the cases of a class with its defaults; one if it refuses them."""
    try:
        return cases_of(make(item, {}, "it"), plain, problems)
    except OrthobenchError as error:
        why = NotCheckable(f"{error}: check one of yours, with orthobench.testing")
    kind = "problem" if issubclass(item, Problem) else "solver"
    return [Case(kind, name, Check("example", "it has an example", partial(_raise, why)), tuple)]


def _raise(error: BaseException) -> None:
    raise error


def facts(case: Case, result: Result) -> dict[str, str]:
    """Return a case and its result as plain values."""
    return {
        "kind": case.kind,
        "name": case.name,
        "check": result.check,
        "says": case.check.requirement,
        "status": result.status.value,
        "message": result.message,
    }
