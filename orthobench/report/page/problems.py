"""What the page says of problems: their table, and which runs failed or did not take part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from orthobench.report import caveats
from orthobench.report.plots.labels import axis_label
from orthobench.report.rows import Row
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult
from orthobench.stats.values import COSTS
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import assignments, budget_text, clean, plural


@dataclass(frozen=True)
class Problem:
    """A problem on the page.

    Attributes
    ----------
    id : str
        The anchor of its section.
    entries : sequence of SolverResult
    rows : sequence of Row
        Of those that take part, as decided.
    plots : range
        Indices into the plots of the page.
    """

    id: str
    entries: Sequence[SolverResult]
    rows: Sequence[Row]
    plots: range

    @property
    def label(self) -> str:
        """The label of the problem."""
        return self.entries[0].problem

    @property
    def facts(self) -> tuple[str, ...]:
        """Family, metric, seeds and budget."""
        first = self.entries[0].records[0]
        goal = f"final {axis_label(first.problem.primary)}, smaller is better"
        seeds = plural(len(self.entries[0].seeds), "seed")
        facts = (clean(first.problem.family), goal, seeds, budget_text(first.budget))
        return tuple(fact for fact in facts if fact)

    @cached_property
    def effort(self) -> str:
        """The unit of effort: ``"samples"`` where all draw some, or ``"steps"``."""
        without = any(r.median_of(COSTS["samples"]) == 0 for r in self.rows)
        return "steps" if without else "samples"

    @property
    def notes(self) -> list[str]:
        """The caveats of the table."""
        return caveats.notes([row.result for row in self.rows], self.entries)

    @property
    def waiting(self) -> bool:
        """Whether no run is finished, though some solver takes part."""
        return not self.rows and any(not entry.refused for entry in self.entries)

    @property
    def partial(self) -> bool:
        """Whether runs are still to come."""
        return any(row.summary.n_missing for row in self.rows)

    @property
    def absent(self) -> list[str]:
        """The solvers that take no part."""
        return [entry.solver for entry in self.entries if entry.refused]


class Failure(NamedTuple):
    """Runs of one solver on one problem that failed for one reason.

    Parameters that tuning did not choose are among them; `chosen` says whether it did.
    """

    problem: str
    solver: str
    tuned: str
    chosen: bool
    status: str
    reason: str


def failures(results: Results, rows: Iterable[Row]) -> dict[Failure, list[int]]:
    """Return the seeds of all runs that count as failed, by what they have in common.

    Parameters
    ----------
    results : Results
    rows : iterable of Row
        Those that take part.
    """
    return grouped_values(_failures(results, rows))


def _failures(results: Results, rows: Iterable[Row]) -> Iterator[tuple[Failure, int]]:
    listed = {r.key for r in results.failures}
    for r in results.failures:
        tuned, why = assignments(r.solver.tuned), clean(r.stop.reason)
        names = (r.problem.label, r.solver.label, tuned, r.key in results.reported_keys)
        yield Failure(*names, r.stop.status.value, why), r.seed
    for row in rows:
        entry = row.result
        seeds = {record.seed for record in entry.records if record.key in listed}
        for failure in row.summary.failures:
            if failure.seed not in seeds:
                names = (entry.problem, entry.solver, assignments(entry.best_parameters), True)
                yield Failure(*names, failure.status, clean(failure.reason)), failure.seed


def grouped_values(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """Return the second of each pair by the first."""
    return {key: [v for _, v in own] for key, own in grouped(pairs, lambda pair: pair[0]).items()}


def refusals(entries: Sequence[SolverResult]) -> Mapping[tuple[str, tuple[str, ...]], list[str]]:
    """Return the solvers that take no part, by the reason and the problems that they share."""
    refused = [entry for entry in entries if entry.refused]
    by_solver = grouped_values(((clean(e.refusal), e.solver), e.problem) for e in refused)
    return grouped_values(
        ((reason, tuple(dict.fromkeys(problems))), solver)
        for (reason, solver), problems in by_solver.items()
    )


def ranges(seeds: Iterable[int]) -> str:
    """Return seeds as ``0-3, 7``."""
    spans: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ", ".join(f"{s[0]}" if len(s) == 1 else f"{s[0]}-{s[-1]}" for s in spans)
