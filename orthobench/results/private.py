"""Results as others may see them: without the folders, and where asked without the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias, TypeVar, cast

from orthobench.harness.stopping import Termination
from orthobench.results.results import Results
from orthobench.results.runs import ProblemInfo, Run, SolverInfo
from orthobench.tools.files import bare, hide_home

T = TypeVar("T")
Retell: TypeAlias = Callable[[str], str]

KEPT = ("orthobench", "python", "packages", "blas")
"""What is kept of the environment: versions, which others need to repeat the runs."""


@dataclass(frozen=True)
class Private(Results):
    """Results in which home is ``~``, or anonymous ones; made by `private`.

    Attributes
    ----------
    retell : callable
        Returns a text without what is private.
    anonymous : bool
        Whether the machine is left out too.
    """

    retell: Retell = hide_home
    anonymous: bool = False

    def session(self) -> dict[str, Any]:
        """Return where the results come from, as `Results.session`."""
        found = super().session()
        told = {name: self.retell(found[name]) for name in ("text", "command")}
        ran_on = found["environment"]
        if self.anonymous:
            ran_on = {name: ran_on[name] for name in KEPT if name in ran_on}
        return {**found, **told, "environment": ran_on}


def private(results: Results, anonymous: bool) -> Private:
    """Return results for a page that may be published.

    Parameters
    ----------
    results : Results
    anonymous : bool
        Whether to leave out folders and the machine too; otherwise home becomes ``~``.
    """
    retell = cache(partial(_without, files=_files(results.records)) if anonymous else hide_home)
    told: dict[int, Any] = {}

    def once(facts: T, changed: Callable[[T, Retell], T]) -> T:
        """Retell what many records share once; the records keep it from being collected."""
        if id(facts) not in told:
            told[id(facts)] = changed(facts, retell)
        return cast(T, told[id(facts)])

    def retold(record: Run) -> Run:
        problem, solver = once(record.problem, _problem), once(record.solver, _solver)
        stop = _stop(record.stop, retell)
        if (problem, solver, stop) == (record.problem, record.solver, record.stop):
            return record
        return replace(record, problem=problem, solver=solver, stop=stop)

    records = [retold(record) for record in results.records]
    return Private(results.suite, results.path, records, retell, anonymous, score=results.score)


def _problem(facts: ProblemInfo, retell: Retell) -> ProblemInfo:
    parameters = _values(facts.parameters, retell)
    return replace(facts, label=retell(facts.label), parameters=parameters)


def _solver(facts: SolverInfo, retell: Retell) -> SolverInfo:
    parameters, tuned = _values(facts.parameters, retell), _values(facts.tuned, retell)
    return replace(facts, label=retell(facts.label), parameters=parameters, tuned=tuned)


def _values(settings: Mapping[str, Any], retell: Retell) -> dict[str, Any]:
    return {k: retell(v) if isinstance(v, str) else v for k, v in settings.items()}


def _stop(stop: Termination, retell: Retell) -> Termination:
    if not stop.reason and not stop.traceback:
        return stop
    return replace(stop, reason=retell(stop.reason), traceback=retell(stop.traceback))


def _files(records: Sequence[Run]) -> Mapping[str, str]:
    """Return the names of the files that parameters name by their absolute paths."""
    settings = [values for r in records for values in (r.problem.parameters, r.solver.parameters)]
    texts = {value for values in settings for value in values.values() if isinstance(value, str)}
    longest_first = sorted(texts | set(map(hide_home, texts)), key=len, reverse=True)
    return {path: name for path in longest_first if (name := _name(path)) != path}


def _name(path: str) -> str:
    """Return the last part of an absolute path, and other texts as they are."""
    for kind in (PurePosixPath, PureWindowsPath):
        if kind(path).is_absolute() or path.startswith(("~", "..")):
            return kind(path).name or path
    return path


def _without(text: str, files: Mapping[str, str]) -> str:
    for path, name in files.items():
        text = text.replace(path, name)
    return bare(text)
