"""Failed runs and refused problems, each with its reason; those of the same reason together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orthobench.report.formatting import assignments, clean
from orthobench.report.ranking import Ranked
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult


@dataclass(frozen=True)
class FailureGroup:
    """Runs of one solver on one problem that failed for one reason.

    Attributes
    ----------
    problem, solver : str
    tuned : str
        The tuned values, if the solver has any.
    chosen : bool
        Whether tuning chose these values, so that the solver is compared by these runs.
    status, reason : str
    runs : int
    seeds : str
        The seeds as a list of ranges: ``"0-3, 7"``.
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
class RefusalGroup:
    """Solvers that take no part in some problems, for one reason.

    Attributes
    ----------
    reason : str
    solvers, problems : tuple of str
    """

    reason: str
    solvers: tuple[str, ...]
    problems: tuple[str, ...]


def failure_groups(results: Results, ranked: Iterable[Ranked]) -> tuple[FailureGroup, ...]:
    """Return all runs that count as failed, including those of trials that were not chosen.

    Parameters
    ----------
    results : Results
    ranked : iterable of Ranked
        Those that take part.
    """
    groups: dict[tuple[str, str, str, bool, str, str], list[int]] = {}
    listed = set[str]()
    for r in results.failures:
        key = (
            r.problem.label,
            r.solver.label,
            assignments(r.solver.tuned),
            r.key in results.reported_keys,
            r.stop.status.value,
            r.stop.reason,
        )
        groups.setdefault(key, []).append(r.seed)
        listed.add(r.key)
    for one in ranked:
        entry = one.entry
        listed_seeds = {record.seed for record in entry.records if record.key in listed}
        for failure in one.summary.failures:
            if failure.seed not in listed_seeds:
                values = assignments(entry.best_parameters)
                key = (entry.problem, entry.solver, values, True, failure.status, failure.reason)
                groups.setdefault(key, []).append(failure.seed)
    return tuple(
        FailureGroup(
            problem, solver, tuned, is_chosen, status, clean(reason), len(seeds), _ranges(seeds)
        )
        for (problem, solver, tuned, is_chosen, status, reason), seeds in groups.items()
    )


def refusal_groups(entries: Sequence[SolverResult]) -> tuple[RefusalGroup, ...]:
    """Return who takes no part in what: solvers refused on the same problems for one reason."""
    problems: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries:
        if entry.refused:
            reason = clean(entry.refusal)
            problems.setdefault((reason, entry.solver), {})[entry.problem] = None
    solvers: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, solver), names in problems.items():
        solvers.setdefault((reason, tuple(names)), []).append(solver)
    return tuple(
        RefusalGroup(reason, tuple(refused), names) for (reason, names), refused in solvers.items()
    )


def _ranges(seeds: Iterable[int]) -> str:
    """Return seeds as ``0-3, 7``."""
    spans: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ", ".join(f"{s[0]}" if len(s) == 1 else f"{s[0]}-{s[-1]}" for s in spans)
