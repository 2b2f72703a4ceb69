"""Answers of an atlas: for each kind of problems what to use, by the one rule of decision."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from orthobench.atlas.table import Atlas, AtlasRow, read, settings
from orthobench.contract.problem import AnyProblem
from orthobench.decide.answer import Answer, answer, plain_answer
from orthobench.decide.rule import STRICT, TOLERANCE, Comparison, Verdict, decide
from orthobench.decide.wording import factor_text
from orthobench.errors import UsageError, unknown
from orthobench.harness.identity import digest
from orthobench.harness.source_digests import LENGTH, digests
from orthobench.harness.stopping import RunStatus
from orthobench.registry.plugins import catalogue
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, listed

SHIPPED = Path(__file__).with_name("atlas.parquet")
"""The atlas that comes with the package."""

VIEWS: Mapping[str, tuple[str, float]] = {
    "Least time": ("seconds", TOLERANCE),
    "Fewest samples": ("samples", TOLERANCE),
    "High accuracy": ("seconds", STRICT),
}
"""The questions that an atlas answers: a cost, and the tolerance."""

CUT = RunStatus.BUDGET.value, RunStatus.TIMEOUT.value
"""Endings of runs that a limit cut off."""

NOBODY = "-"
"""Stands for the solver if none can be named."""

NUMBERS = (
    f"Within {100 * TOLERANCE:g} % of the gap between start and best value, or a millionth of it "
    "for high accuracy, at the solver's own end. In brackets: the problems on which it is as good "
    "as the best, of those on which it was tested with five seeds, and its cost over that of the "
    "cheapest there, a geometric mean in which a miss counts ten."
)
"""The meaning of the numbers of the table."""


def opened(path: Path | None, rows: bool = True, family: str = "") -> Atlas:
    """Return the atlas in a file, by default the one in the package; see `read`."""
    return read(path or SHIPPED, rows, family)


def compare(
    rows: Iterable[AtlasRow], cost: str = "seconds", tolerance: float = TOLERANCE
) -> list[Comparison]:
    """Compare the solvers of each problem, as `orthobench.decide.comparisons.compare` does.

    Problems of one name and size are variants of one data set. Seconds are those of the machine
    that has the largest number of rows.

    Raises
    ------
    UsageError
        If the tolerance is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise UsageError(f"the tolerance is a part of the gap, between 0 and 1, not {tolerance:g}")
    groups = grouped(of_one_machine(rows, cost), lambda row: row.problem_id).values()
    return [_compare(group, cost, tolerance) for group in groups]


def of_one_machine(rows: Iterable[AtlasRow], cost: str) -> list[AtlasRow]:
    """Return the rows that are compared by a cost: for seconds, those of the commonest machine."""
    own = list(rows)
    if cost != "seconds" or not own:
        return own
    (machine, _), *_ = Counter(row.machine for row in own).most_common(1)
    return [row for row in own if row.machine == machine]


def _compare(rows: Sequence[AtlasRow], cost: str, tolerance: float) -> Comparison:
    first = rows[0]
    seeds = sorted({row.seed for row in rows})
    runs = {
        solver: {row.seed: row for row in own}
        for solver, own in grouped(rows, lambda row: row.solver).items()
    }
    gap = {row.seed: row for row in rows}
    known = catalogue().problems.get(first.name)
    best, decided = decide(
        {s: [_end(own.get(i)) for i in seeds] for s, own in runs.items()},
        [gap[seed].start for seed in seeds],
        {s: [getattr(own.get(i), cost, math.nan) for i in seeds] for s, own in runs.items()},
        lowest=[gap[seed].lowest for seed in seeds],
        tolerance=tolerance,
        certified=known is not None and known.item.primary == first.metric,  # known to end at zero
    )
    one = {row.solver: (row.solver_name, settings(row.solver_parameters)) for row in rows}
    found = [(d, *one[d.solver]) for d in decided]
    decisions = [replace(d, name=name, parameters=values) for d, name, values in found]
    return Comparison(
        first.problem, f"{first.name} {first.rows} x {first.d}", first.family, first.metric,
        best, tuple(decisions), tolerance, cost, len(seeds), first.name, settings(first.parameters),
    )  # fmt: skip


def _end(row: AtlasRow | None) -> float:
    """Return the value at the end of a run; NaN if there is none, or a limit cut it off."""
    return math.nan if row is None or row.ending in CUT else row.value


def views(rows: Sequence[AtlasRow]) -> dict[str, Answer]:
    """Return the answers of one kind of problems in each of `VIEWS` whose cost was counted."""
    counting = [row for row in rows if not row.failed]
    return {
        view: answer(compare(rows, cost, tolerance))
        for view, (cost, tolerance) in VIEWS.items()
        if counting and all(getattr(row, cost) > 0 for row in counting)
    }


def overview(atlas: Atlas) -> Iterator[str]:
    """Yield a line for each kind of problems, and the origin of the answers."""
    for kind, rows in atlas.kinds.items():
        said = (f"{view.lower()}: {short(one)}" for view, one in views(rows).items())
        yield f"{clean(kind)}: {'; '.join(said)}"
    yield ""
    yield origin(atlas)


def of_family(atlas: Atlas, kinds: Sequence[str]) -> Iterator[str]:
    """Yield the answers of some kinds of problems, with the evidence."""
    for kind in kinds:
        yield clean(kind)
        for view, one in views(atlas.kinds[kind]).items():
            yield f"  {view}: {one.sentence}"
            yield f"    {one.evidence}"
        if sentence := changed(atlas.kinds[kind]):
            yield f"  {sentence}"


def changed(rows: Sequence[AtlasRow]) -> str:
    """Return a sentence about solvers whose code changed since their runs; empty if none did."""
    known, found = catalogue(), dict[str, bool]()
    for solver, own in grouped(rows, lambda row: row.solver_name).items():
        codes = {row.code for row in own} - {""}
        if codes and own[0].name in known.problems and solver in known.solvers:
            problem = known.problems[own[0].name].item
            cls = known.solver_class(solver, problem.offers).item
            found[solver] = codes != {code_digest(digests(problem, cls))}
    names = sorted(solver for solver, other in found.items() if other)
    if not names:
        return ""
    what = "code that all solvers share" if len(names) == len(found) > 1 else listed(names)
    return f"Changed since it was measured: {what}."


def code_digest(code: Mapping[str, str]) -> str:
    """Return a digest of a solver's part of `source_digests.digests`; empty without one."""
    own = code.get("solver", "")
    return digest(own)[:LENGTH] if own else ""


def facts(atlas: Atlas, kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Return the answers of some kinds of problems as plain values."""
    return [
        {**plain_answer(one), "family": kind, "view": view}
        for kind in kinds
        for view, one in views(atlas.kinds[kind]).items()
    ]


def expected_order(problem: AnyProblem) -> list[tuple[str, dict[str, Any]]]:
    """Return the order in which to try solvers on a problem: names, and all parameters.

    No data are built, and no row is read. Empty if the installed atlas has no such problem.
    """
    order = opened(None, rows=False).about.get("order", {})
    metric = problem.primary.replace("_", " ")
    found = order.get(f"{problem.family} by {metric}") or order.get(problem.family, [])
    return [(name, parameters) for name, parameters in found]


def find(atlas: Atlas, text: str) -> list[str]:
    """Return the kinds of problems that a text names: a family, or a problem of one.

    Raises
    ------
    UsageError
        If it names none; suggests the nearest name, or the command that measures the family.
    """
    known = catalogue().problems
    wanted = _folded(known[text].item.family if text in known else text)
    kinds = [
        kind
        for kind, rows in atlas.kinds.items()
        if wanted in (_folded(kind), _folded(rows[0].family))
    ]
    for one in known.values():
        if not kinds and wanted == _folded(one.item.family):
            raise unmapped(atlas, one.item.family)
    if not kinds:
        raise unknown("family or problem of the atlas", text, {*atlas.kinds, *known})
    return kinds


def unmapped(atlas: Atlas, family: str) -> UsageError:
    """Return the error for a family that an atlas lacks, with the commands that measure it."""
    known = ", ".join(dict.fromkeys(row.family for row in atlas.rows)) or "none"
    named = shlex.quote(family)
    return UsageError(
        f"the atlas has no problem of the family {family!r}; its families: {known}. "
        f"To measure a map of it: orthobench map {named}; then orthobench atlas "
        "orthobench-results/map/*/*.sqlite --out site, and ask again with --atlas "
        "site/atlas.parquet"
    )


def _folded(text: str) -> str:
    """Return a name in lower case, with spaces in place of hyphens."""
    return text.lower().replace("-", " ")


def short(one: Answer) -> str:
    """Return the named solver, the number of problems on which it is as good, and its factor."""
    if one.use is None:
        return NOBODY
    open_ = (Verdict.UNTESTED, Verdict.ABSENT)
    tested = sum(c.of(one.solver).verdict not in open_ for c in one.comparisons)
    factor = factor_text(one.mean_factor)
    return f"{clean(one.solver)} ({one.as_good_on} of {tested} tested, {factor})"


def origin(atlas: Atlas) -> str:
    """Return the origin of an atlas as a sentence."""
    machines = atlas.about.get("machines", ["an unnamed machine"])
    date = atlas.about.get("date", "an unknown date")
    return (
        f"From the atlas of {clean(str(date))}: {len(atlas.rows):,} runs, timed on "
        f"{clean(listed([str(name) for name in machines]))}."
    )
