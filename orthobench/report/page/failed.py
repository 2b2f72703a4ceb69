"""What failed, and who took no part: each with its reason, runs of the same reason together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orthobench.report.ranking import Ranked
from orthobench.report.words import assigned, clean
from orthobench.results.results import Results
from orthobench.results.tuning import Entry


@dataclass(frozen=True)
class Failed:
    """Runs of one solver on one problem that failed for one reason.

    Attributes
    ----------
    problem, solver : str
    tuned : str
        The tuned values, where the solver has any.
    chosen : bool
        Whether these runs are those that are compared.
    status, reason : str
    runs : int
    seeds : str
        The seeds, as people list them.
    """

    problem: str
    solver: str
    tuned: str
    chosen: bool
    status: str
    reason: str
    runs: int
    seeds: str


@dataclass(frozen=True)
class Refused:
    """Solvers that take no part for one reason, and on which problems.

    Attributes
    ----------
    reason : str
    solvers, problems : tuple of str
    """

    reason: str
    solvers: tuple[str, ...]
    problems: tuple[str, ...]


def failed(results: Results, ranked: Iterable[Ranked]) -> tuple[Failed, ...]:
    """Return all runs that count as failed, also of trials that tuning did not choose.

    Parameters
    ----------
    results : Results
    ranked : iterable of Ranked
        Without those that take no part.
    """
    chosen = {record.key for entry in results.entries for record in entry.records}
    groups: dict[tuple[str, str, str, bool, str, str], list[int]] = {}
    told = set[str]()
    for r in results.failures:
        key = (
            r.problem.label,
            r.solver.label,
            assigned(r.solver.tuned),
            r.key in chosen,
            r.stop.status.value,
            r.stop.reason,
        )
        groups.setdefault(key, []).append(r.seed)
        told.add(r.key)
    for one in ranked:
        entry = one.entry
        known = {record.seed for record in entry.records if record.key in told}
        for failure in one.summary.failures:
            if failure.seed not in known:
                values = assigned(entry.chosen)
                key = (entry.problem, entry.solver, values, True, failure.status, failure.reason)
                groups.setdefault(key, []).append(failure.seed)
    return tuple(
        Failed(problem, solver, tuned, is_chosen, status, clean(reason), len(seeds), _listed(seeds))
        for (problem, solver, tuned, is_chosen, status, reason), seeds in groups.items()
    )


def refused(entries: Sequence[Entry]) -> tuple[Refused, ...]:
    """Return who takes no part, with the reason; problems and solvers of the same one together."""
    problems: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries:
        if entry.refused:
            reason = clean(entry.refusal)
            problems.setdefault((reason, entry.solver), {})[entry.problem] = None
    solvers: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, solver), names in problems.items():
        solvers.setdefault((reason, tuple(names)), []).append(solver)
    return tuple(
        Refused(reason, tuple(refusing), names) for (reason, names), refusing in solvers.items()
    )


def _listed(seeds: Iterable[int]) -> str:
    """Return seeds as ``0-3, 7``."""
    spans: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ", ".join(f"{s[0]}" if len(s) == 1 else f"{s[0]}-{s[-1]}" for s in spans)
