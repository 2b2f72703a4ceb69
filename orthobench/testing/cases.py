"""The cases of a plugin: each check of its solvers and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from packaging.utils import canonicalize_name

from orthobench.contract.parameters import changed_values, make
from orthobench.contract.problem import AnyInstance, AnyProblem, Problem
from orthobench.contract.solver import AnySolver, Solver
from orthobench.errors import OrthobenchError, UsageError, unknown
from orthobench.harness.cell import instance_of
from orthobench.harness.identity import label
from orthobench.registry.entries import class_in, specification
from orthobench.registry.plugins import GROUP, OWN, Plugin, Registry
from orthobench.testing import checks_of_problems, checks_of_solvers
from orthobench.testing.check import Check, NotCheckable, NotConforming, Result, result_of
from orthobench.testing.reference import check_against
from orthobench.testing.shared_checks import captured
from orthobench.testing.short_runs import example
from orthobench.tools.datasets import offline

Maker: TypeAlias = Callable[[AnySolver], AnyInstance]
"""A function that returns the instance for the checks of a solver."""


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
        with captured():
            return result_of(self.check.name, self)


def cases_of(item: AnySolver | AnyProblem, maker: Maker = example) -> list[Case]:
    """Return the cases of a problem, or of a solver."""
    if not isinstance(item, (Solver, Problem)):
        raise UsageError(f"{item!r} is neither a solver nor a problem: pass MySolver()")
    name = label(item, changed_values(item))
    if isinstance(item, Problem):
        return [Case("problem", name, one, lambda: (item,)) for one in checks_of_problems.CHECKS]

    @cache
    def found() -> AnyInstance | str:
        try:
            with offline():
                return maker(item)
        except UsageError as error:
            return str(error)

    def subject() -> tuple[Any, ...]:
        instance = found()
        if isinstance(instance, str):
            raise NotCheckable(instance)
        return item, instance

    return [Case("solver", name, one, subject) for one in checks_of_solvers.checks(item)]


def cases(asked: Asked, registry: Registry) -> Iterator[Case]:
    """Yield the cases of a package, or of a class in a file."""
    if ".py:" in asked.item:
        yield from _of_file(asked, registry.extended())
        return
    if asked.problem or asked.against:
        raise UsageError("-p and --against are for one solver: write FILE.py:CLASS")
    plugins = plugins_of(asked.item, registry)
    yield from _broken(plugins, registry)
    own_first = sorted(registry.problems.values(), key=lambda p: p.plugin not in plugins)
    maker = partial(example, problems=[provided.item for provided in own_first])
    for items in (registry.solvers, registry.problems):
        for name, first in items.items():
            for provided in first.all:
                if provided.plugin in plugins:
                    yield from _of_class(name, provided.item, maker)


def _broken(plugins: Sequence[Plugin], registry: Registry) -> Iterator[Case]:
    """Yield failing cases for broken modules and names that clash."""
    roots = tuple(f"{plugin.module.partition(':')[0]}." for plugin in plugins)
    remedy = "Mend the import; the module's solvers or problems are not checked"
    for module, why in registry.broken.items():
        if module.startswith(roots):
            error = NotConforming(why, remedy)
            yield _raising(error, "module", module, Check("import", "it can be imported", tuple))
        elif any(f"{plugin} and " in why or f" and {plugin} both " in why for plugin in plugins):
            kind, _, name = module.partition(" ")
            error = NotConforming(why, f"This {kind} is not checked")
            yield _raising(error, kind, name, Check("name", "no other plugin brings it", tuple))


def _of_file(asked: Asked, registry: Registry) -> list[Case]:
    """Return the cases of a class or a black box in a file."""
    entry = specification(asked.item)
    name = registry.register(class_in(entry.pop("name")))
    if name in registry.problems and registry.problems[name].plugin is OWN:
        return cases_of(registry.problem(name, entry))
    make = partial(registry.solver, name, entry)
    if asked.against:
        file = Path(asked.against)
        held = Check("against", f"it follows the steps of {file.name}", check_against)
        return [Case("solver", name, held, lambda: (file, lambda offers: make(offers=offers)))]
    if asked.problem:
        other = specification(asked.problem)
        problem = registry.problem(other.pop("name"), other)
        return cases_of(make(offers=problem.offers), lambda _: instance_of(problem, 0))
    maker = partial(example, problems=[one.item for one in registry.problems.values()])
    # a black box has a class for streams, too
    solvers = [make(offers=one.item.needs) for one in registry.solver_class(name).all]
    for solver in solvers:
        with suppress(UsageError), offline():
            maker(solver)
            return cases_of(solver, maker)
    return cases_of(solvers[0], maker)


def plugins_of(package: str, registry: Registry) -> list[Plugin]:
    """Return the plugins with the name of a plugin, module or distribution."""
    names = {p: [p.name, p.module.partition(":")[0], p.distribution] for p in registry.plugins}
    meant = canonicalize_name(package)
    if plugins := [p for p, own in names.items() if meant in map(canonicalize_name, own)]:
        return plugins
    modules = {point.name: point.module for point in entry_points(group=GROUP)}
    for name, why in registry.broken.items():
        if meant in map(canonicalize_name, (name, modules.get(name, name))):
            raise UsageError(f"plugin {name!r} does not load: {why}")
    every = {name for own in names.values() for name in own if name}
    error = unknown("plugin, module or distribution", package, every)
    raise UsageError(f"{error}; pyproject.toml declares plugins in [project.entry-points.{GROUP}]")


def _of_class(name: str, item: type[Any], maker: Maker) -> list[Case]:
    """Return the cases of a class with its defaults; one if it refuses them."""
    try:
        return cases_of(make(item, {}, "it"), maker)
    except OrthobenchError as error:
        why = NotCheckable(f"{error}: check one of yours, with orthobench.testing")
    kind = "problem" if issubclass(item, Problem) else "solver"
    return [_raising(why, kind, name, Check("example", "it has an example", tuple))]


def _raising(error: Exception, kind: str, name: str, check: Check) -> Case:
    """Return a case of a check that has ended with an error."""

    def subject() -> tuple[Any, ...]:
        raise error

    return Case(kind, name, check, subject)


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
