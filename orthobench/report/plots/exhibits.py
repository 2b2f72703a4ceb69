"""What of the exhibits is shown: of each problem one seed, the same for all solvers."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.report.words import clean, limits
from orthobench.results.record import Record
from orthobench.results.tuning import Entry
from orthobench.stats.seeds import final, metric_of

Load: TypeAlias = Callable[[Iterable[Record]], Mapping[str, Mapping[str, Exhibit]]]
"""Returns what runs exhibit, by their keys: `orthobench.results.results.Results.exhibits`."""

E = TypeVar("E", Image, Curve)

LONGEST_REASON = 90
"""Most letters of a reason for which a solver is not shown; tables have all of it."""


@dataclass(frozen=True)
class Exhibition:
    """What the solvers of a problem show at one seed.

    Attributes
    ----------
    problem : str
    seed : int
    entries : tuple of Entry
        All that take part.
    shown : tuple of (Entry, mapping)
        Those that have something to show, and what, by name.
    absent : tuple of str
        The others, with the reason.
    """

    problem: str
    seed: int
    entries: tuple[Entry, ...]
    shown: tuple[tuple[Entry, Mapping[str, Exhibit]], ...]
    absent: tuple[str, ...]

    def references(self, kind: type[E]) -> dict[str, E]:
        """Return what is the same for all solvers, by name."""
        found: dict[str, E] = {}
        for _, exhibits in self.shown:
            for name, exhibit in exhibits.items():
                if isinstance(exhibit, kind) and exhibit.reference:
                    found.setdefault(clean(name), exhibit)
        return found

    def own(self, kind: type[E]) -> list[tuple[Entry, dict[str, E]]]:
        """Return what each solver shows of its own, by name."""
        return [(entry, _own(exhibits, kind)) for entry, exhibits in self.shown]

    def names(self, kind: type[E]) -> list[str]:
        """Return the names of what solvers show of their own, in the order they come in."""
        return list(dict.fromkeys(name for _, own in self.own(kind) for name in own))

    def about(self, *more: str) -> tuple[str, ...]:
        """Return what a reader must know of all of it."""
        records = [record for entry in self.entries for record in entry.records]
        families = sorted({record.problem.family for record in records})
        budgets = sorted({limits(record.budget) for record in records})
        runs = max(len(entry.seeds) for entry in self.entries)
        which = f"seed {self.seed}"
        if runs > 1:
            which += f", where the solvers are nearest to their medians over {runs} seeds"
        return tuple(part for part in (*families, *budgets, which, *more) if part)


def exhibitions(entries: Sequence[Entry], load: Load) -> list[Exhibition]:
    """Return what the solvers exhibit on each problem, where any has something to show.

    The chosen trial of each solver is shown, at the `typical_seed`. A solver that takes no part
    is left out; one whose run failed or is missing is among the absent.

    Parameters
    ----------
    entries : sequence of Entry
        Of any number of problems.
    load : callable
        Called once.
    """
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.solver):
        if not entry.refused:
            groups[entry.problem].append(entry)
    seeds = {problem: typical_seed(group) for problem, group in groups.items()}
    wanted = [_at(e, seed) for problem, seed in seeds.items() for e in groups[problem]]
    found = load(record for record in wanted if record is not None and not record.failed)
    problems = dict.fromkeys(entry.problem for entry in entries if not entry.refused)
    all_of_them = (_exhibition(p, seeds[p], groups[p], found) for p in problems)
    return [one for one in all_of_them if one.shown]


def typical_seed(entries: Sequence[Entry]) -> int:
    """Return the seed at which most solvers have a run, and these are nearest to their medians.

    Of those, the one with the smallest sum over the solvers of the distance, in places, between
    its primary metric and the median over the seeds; of equal ones the smallest. One seed for all
    shows all on the same instance.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem, at least one.
    """
    there: dict[int, int] = dict.fromkeys((s for entry in entries for s in entry.seeds), 0)
    away: dict[int, float] = dict.fromkeys(there, 0.0)
    for entry in entries:
        done = [record for record in entry.records if not record.failed]
        done.sort(
            key=lambda record: (final(record, metric_of(record.problem.primary)), record.seed)
        )
        for place, record in enumerate(done):
            there[record.seed] += 1
            away[record.seed] += abs(place - (len(done) - 1) / 2)
    return min(there, key=lambda seed: (-there[seed], away[seed], seed))


def _exhibition(
    problem: str,
    seed: int,
    entries: Sequence[Entry],
    found: Mapping[str, Mapping[str, Exhibit]],
) -> Exhibition:
    shown: list[tuple[Entry, Mapping[str, Exhibit]]] = []
    absent: list[str] = []
    for entry in entries:
        record = _at(entry, seed)
        exhibits = found.get(record.key, {}) if record else {}
        if exhibits:
            shown.append((entry, exhibits))
        else:
            absent.append(f"{clean(entry.solver)} is not shown ({_why(record)})")
    return Exhibition(problem, seed, tuple(entries), tuple(shown), tuple(absent))


def _at(entry: Entry, seed: int) -> Record | None:
    return next((record for record in entry.records if record.seed == seed), None)


def _why(record: Record | None) -> str:
    if record is None:
        return "there is no finished run"
    if not record.failed:
        return "its run has no exhibits in the store"
    reason = textwrap.shorten(clean(record.stop.reason), LONGEST_REASON, placeholder=" ...")
    return f"{record.stop.status.value}: {reason}"


def _own(exhibits: Mapping[str, Exhibit], kind: type[E]) -> dict[str, E]:
    return {
        clean(name): exhibit
        for name, exhibit in exhibits.items()
        if isinstance(exhibit, kind) and not exhibit.reference
    }
