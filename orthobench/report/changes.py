"""What changed between two stores: the same solvers on the same problems, paired over the seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from orthobench.errors import UsageError
from orthobench.harness.trace import Checkpoint
from orthobench.report import caveats
from orthobench.report.formatting import clean, listed, plural, short
from orthobench.report.ranking import rounding_level
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.changes import Change, Direction, changes
from orthobench.stats.values import COSTS, final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.files import hide_home

Pair: TypeAlias = tuple[SolverResult, SolverResult]

MACHINE = {"cpu": "processor", "cores": "cores", "platform": "system"}
"""What makes a machine another one, and what it is called; so does its BLAS."""

CHANGED = (Direction.LOWER, Direction.HIGHER)
"""What is shown of a solver that changed."""

DRIFT = (
    "times of runs on different days differ by what else the machine did: "
    "`orthobench compare` times both sides in turns"
)


@dataclass(frozen=True)
class Quantity:
    """A final value of a solver in both stores: its medians over the seeds of both, and the change.

    Attributes
    ----------
    first, second : float
        Infinite where at least half of the runs failed.
    change : Change
    """

    first: float
    second: float
    change: Change


@dataclass(frozen=True)
class SolverChange:
    """A solver on a problem, in both stores.

    Attributes
    ----------
    solver : str
    parameters : str
        Those whose values differ, as ``"step=2 → 1"``.
    quantities : mapping
        ``"metric"``, ``"flops"``, and on the same machine ``"seconds"``.
    """

    solver: str
    parameters: str
    quantities: Mapping[str, Quantity]

    @property
    def changed(self) -> bool:
        """Whether a change of any quantity is shown."""
        return any(one.change.direction in CHANGED for one in self.quantities.values())


@dataclass(frozen=True)
class ProblemChange:
    """A problem in both stores.

    Attributes
    ----------
    problem, family, metric : str
    seeds : int
        Those that both stores have.
    rounding : float
        The largest difference of the metric that counts as zero.
    solvers : tuple of SolverChange
    notes : tuple of str
        How many of its runs were timed on a busy machine.
    """

    problem: str
    family: str
    metric: str
    seeds: int
    rounding: float
    solvers: tuple[SolverChange, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """What changed from one store, A, to another, B.

    Attributes
    ----------
    sides : tuple of (str, str)
        A and B: the suite and when it was run, with the path of the store.
    problems : tuple of ProblemChange
    sentences : tuple of str
        How many solvers changed, in what, and in which direction.
    only : tuple of str
        What only one of the stores has, or has otherwise, and so is not compared.
    notes : tuple of str
        How machines and versions differ, and what that means for times.
    """

    sides: tuple[str, str]
    problems: tuple[ProblemChange, ...]
    sentences: tuple[str, ...]
    only: tuple[str, ...]
    notes: tuple[str, ...]


def compare_stores(a: Results, b: Results) -> Changes:
    """Return what changed from one store to another.

    Parameters
    ----------
    a, b : Results
        Of suites with problems and solvers of the same labels.

    Raises
    ------
    UsageError
        Where both are the same suite of one store, or have nothing in common.
    """
    if a.path.resolve() == b.path.resolve():
        raise UsageError(f"{a.path} is given twice: name two stores")
    pairs, only = paired(a.entries, b.entries)
    if not pairs:
        why = f": {only[0]}" if only else ""
        raise UsageError(
            f"the suite {clean(a.suite)!r} in {a.path} and {clean(b.suite)!r} in {b.path} have no "
            f"solver on the same problem to compare{why}; name a suite of both with --suite"
        )
    different = _machines(a, b)
    names = ("metric", "flops", *(() if different else ("seconds",)))
    by_problem = grouped(pairs, lambda pair: pair[0].problem)
    problems = tuple(_problem(own, names) for own in by_problem.values())
    notes = [f"times are not compared: {different}"] if different else [DRIFT]
    sides = (_side(a), _side(b))
    return Changes(
        sides, problems, tuple(_sentences(problems, names)), tuple(only),
        (*notes, *_versions(a.versions, b.versions)),
    )  # fmt: skip


def paired(a: Sequence[SolverResult], b: Sequence[SolverResult]) -> tuple[list[Pair], list[str]]:
    """Return the entries of both that can be compared, and why others cannot."""
    first, second = ({(e.problem, e.solver): e for e in side} for side in (a, b))
    pairs: list[Pair] = []
    reasons: dict[str, list[str]] = {}
    for key in {**first, **second}:
        one, other = first.get(key), second.get(key)
        if one and other and not (reason := _hindrance(one, other)):
            pairs.append((one, other))
            continue
        problem, solver = map(clean, key)
        reason = _hindrance(one, other) if one and other else f"only in {'A' if one else 'B'}"
        reasons.setdefault(f"{reason}: {{}} on {problem}", []).append(solver)
    found = [text.format(listed(solvers, len(solvers))) for text, solvers in reasons.items()]
    return pairs, [*found, *_lonely_seeds(pairs)]


def _hindrance(one: SolverResult, other: SolverResult) -> str:
    """Return why two entries of the same labels cannot be compared; empty where they can."""
    for entry, side in ((one, "A"), (other, "B")):
        if entry.refused:
            return f"takes no part in {side}"
        if not entry.finished:
            return f"not run yet in {side}"
    a, b = one.records[0], other.records[0]
    parameters = (a.problem.parameters, b.problem.parameters)
    if a.problem.name != b.problem.name or _differing(*parameters):
        return "not the same problem in A and B"
    if (a.problem.primary, a.target) != (b.problem.primary, b.target):
        return "not ranked by the same metric in A and B"
    if dict(a.budget) != dict(b.budget):
        return "not under the same budget in A and B"
    if not _common(one, other):
        return "not on the same seeds in A and B"
    return ""


def _common(one: SolverResult, other: SolverResult) -> list[int]:
    """Return the seeds on which both were run."""
    first, second = ({record.seed for record in entry.finished} for entry in (one, other))
    return sorted(first & second)


def _lonely_seeds(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield on which seeds only one of two entries was run."""
    alike: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        common = _common(*pair)
        for side, entry in zip("AB", pair, strict=True):
            rest = [str(r.seed) for r in entry.finished if r.seed not in common]
            if rest:
                who = f"{clean(entry.solver)} on {clean(entry.problem)}"
                alike.setdefault((side, listed(rest)), []).append(who)
    for (side, seeds), names in alike.items():
        yield f"only in {side}: seeds {seeds} of {listed(names)}"


def _problem(pairs: Sequence[Pair], names: Sequence[str]) -> ProblemChange:
    """Return what changed on one problem."""
    first = pairs[0][0]
    rounding = rounding_level([entry for pair in pairs for entry in pair])
    found = {name: _quantities(pairs, name, rounding) for name in names}
    solvers = tuple(
        SolverChange(
            clean(one.solver), _parameters(one, other),
            {name: of_name[one.solver] for name, of_name in found.items()},
        )
        for one, other in pairs
    )  # fmt: skip
    busy = [
        f"{side}: {text}"
        for side, entries in zip("AB", zip(*pairs, strict=True), strict=True)
        for text in caveats.busy(entries)
    ]
    seeds = {seed for pair in pairs for seed in _common(*pair)}
    return ProblemChange(
        clean(first.problem), clean(first.problem_info.family), first.problem_info.primary,
        len(seeds), rounding,
        solvers, tuple(busy if "seconds" in names else ()),
    )  # fmt: skip


def _quantities(pairs: Sequence[Pair], name: str, rounding: float) -> dict[str, Quantity]:
    """Return one quantity of each solver of a problem."""
    primary = pairs[0][0].problem_info.primary
    value = metric_of(primary) if name == "metric" else COSTS[name]
    seeds = sorted({seed for pair in pairs for seed in _common(*pair)})
    a = {one.solver: _values(one, value, seeds) for one, _ in pairs}
    b = {other.solver: _values(other, value, seeds) for _, other in pairs}
    tested = changes(a, b, rounding if name == "metric" else 0.0)
    return {solver: Quantity(*_medians(a[solver], b[solver]), tested[solver]) for solver in a}


def _values(
    entry: SolverResult, value: Callable[[Checkpoint], float], seeds: Sequence[int]
) -> list[float]:
    """Return the final value on each seed: infinite where the run failed, NaN where it was none."""
    by_seed = {record.seed: record for record in entry.records}
    return [_value(by_seed.get(seed), value) for seed in seeds]


def _value(record: Run | None, value: Callable[[Checkpoint], float]) -> float:
    return math.nan if record is None else final(record, value)


def _medians(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Return the medians of two solvers over the seeds of both."""
    both = [pair for pair in zip(a, b, strict=True) if not any(map(math.isnan, pair))]
    first, second = (float(quantiles(values, 0.5)) for values in zip(*both, strict=True))
    return first, second


def _parameters(one: SolverResult, other: SolverResult) -> str:
    """Return the solver's parameters of different values in both."""
    values = (entry.records[0].solver.parameters for entry in (one, other))
    pairs = _differing(*values).items()
    return clean(", ".join(f"{name}={short(a)} → {short(b)}" for name, (a, b) in pairs))


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what has another value in each of two mappings that both have it."""
    return {name: (a[name], b[name]) for name in a if name in b and a[name] != b[name]}


def _machines(a: Results, b: Results) -> str:
    """Return how the machines of two stores differ; empty where they do not."""
    first, second = map(_environment, (a, b))
    known = [name for name in MACHINE if first.get(name) and second.get(name)]
    if not known:
        return "a store does not say on which machine it was run"
    different = [name for name in MACHINE if first.get(name) != second.get(name)]
    if not different:
        same_blas = first.get("blas") == second.get("blas")
        return _workers(first, second) if same_blas else "the BLAS is another one"
    parts = [f"{MACHINE[n]} {first.get(n)} → {second.get(n)}" for n in different]
    return clean(f"the machines are not the same ({'; '.join(parts)})")


def _environment(results: Results) -> Mapping[str, Any]:
    found: Mapping[str, Any] = results.session()["environment"]
    return found


def _workers(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return how the workers of two sessions differ; empty where they do not."""
    before, after = ((side.get("run") or {}).get("workers") for side in (first, second))
    return "" if before == after else f"{before} runs at once in A, {after} in B"


def _versions(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[str]:
    """Yield which distributions have other versions."""
    parts = [f"{name} {one} → {other}" for name, (one, other) in _differing(a, b).items()]
    if parts:
        yield clean(f"versions: {'; '.join(parts)}")


def _side(results: Results) -> str:
    started = str(results.session()["started"])[:16].replace("T", " ")
    return clean(f"{results.suite} of {started} UTC, {hide_home(str(results.path))}")


def _sentences(problems: Sequence[ProblemChange], names: Sequence[str]) -> Iterator[str]:
    """Yield for each quantity how many solvers on problems changed, and how."""
    titles = {"metric": "Final metric", "flops": "FLOPs", "seconds": "Time"}
    rows = [(solver, problem) for problem in problems for solver in problem.solvers]
    for name in names:
        found: dict[Direction, list[str]] = {}
        for row, problem in rows:
            who = found.setdefault(row.quantities[name].change.direction, [])
            who.append(f"{row.solver} on {problem.problem}")
        parts = [
            f"{len(found[way])} {way.value}" + f" ({listed(found[way], 3)})" * (way in CHANGED)
            for way in Direction if way in found
        ]  # fmt: skip
        on = f"{plural(len(problems), 'problem')}, {plural(len(rows), 'comparison')}"
        yield f"{titles[name]} in B against A, {on}: {listed(parts, len(parts))}."
