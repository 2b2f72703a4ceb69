"""What the two sides show of the cells of a suite: run now, or read from a store."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orthobench.compare.comparison import Side
from orthobench.compare.curves import Curve, Key, key_of
from orthobench.compare.runner import Runner
from orthobench.compare.timing.process import Process, SideError
from orthobench.errors import UsageError, unknown
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import Ending
from orthobench.results.record import Record
from orthobench.results.results import Results

SUITE = "regression"
"""The suite that live sides are compared on where none is named."""

DENSE = 1.02
"""Ratio of checkpoints where both sides are run: targets are told to two percent."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """Which cells: those of `orthobench.compare.run.Options`."""

    suite: str | Path | None = None
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seeds: int | None = None
    clock: str = "cpu"
    patience: float = 600.0


@dataclass(frozen=True)
class Shown:
    """What one side shows.

    Attributes
    ----------
    suite : str
        Its name.
    curves : mapping
        Of every cell that the side has and does not refuse.
    keys : mapping
        What its worker calls the cells; empty for a store.
    by_the_clock : frozenset
        Cells whose budget is in seconds.
    absent : tuple of (str, str, str)
        Problem, solver and the reason why the side does not have their cells.
    request : mapping
        What plans the cells in a worker.
    threads : int
    ratio : float
        Of the steps of one checkpoint and the next.
    code : mapping
        Digests of the sources that each cell runs, by package.
    notes : tuple of str
    """

    suite: str
    curves: Mapping[Key, Curve]
    keys: Mapping[Key, str] = field(default_factory=dict)
    by_the_clock: frozenset[Key] = frozenset()
    absent: tuple[tuple[str, str, str], ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    ratio: float = RATIO
    code: Mapping[Key, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def why(self, key: Key) -> str:
        """Return why the side does not have a cell."""
        for problem, solver, reason in self.absent:
            if key[0].startswith(problem) and key[1].startswith(solver):
                return reason
        return "it is not in its suite"


def shown(base: Side, head: Side, wanted: Wanted, tell: Tell) -> tuple[Shown, Shown]:
    """Return what both sides show; live ones run at the same time.

    Where a side is a store, its suite is what the other one runs.

    Raises
    ------
    UsageError
        Where the suite cannot be read, or names what neither side knows.
    """
    stores = {side: _of_store(side, wanted) for side in (base, head) if side.store}
    if len(stores) == 2:
        return stores[base], stores[head]
    name, text = _suite(base, head, wanted)
    request = {"text": text, "name": name, "changes": _changes(text, wanted)}
    ratio = RATIO if stores else DENSE
    sides = [side for side in (base, head) if side not in stores]
    found = {**stores, **run_side_by_side(sides, request, wanted, ratio, tell)}
    _refuse_unknown(found[base], found[head])
    return found[base], found[head]


def again(side: Side, one: Shown, keys: Iterable[Key], wanted: Wanted) -> dict[Key, Curve]:
    """Run some cells of a live side once more, in a fresh process."""
    with Runner(side, one.request, wanted.clock, one.threads, wanted.patience) as runner:
        runner.plan()
        curves = {}
        for key in keys:
            runner.ask(one.keys[key], one.ratio)
            curves[key] = runner.curve()
        return curves


def run_side_by_side(
    sides: Sequence[Side], request: Mapping[str, Any], wanted: Wanted, ratio: float, tell: Tell
) -> dict[Side, Shown]:
    """Run all cells of live sides, a cell of each at a time."""
    threads = int(tomllib.loads(request["text"]).get("threads", 1))
    with ExitStack() as stack:
        runners = {
            side: stack.enter_context(Runner(side, request, wanted.clock, threads, wanted.patience))
            for side in sides
        }
        plans = {side: runner.plan() for side, runner in runners.items()}
        found = {side: _shown(side, plan, request, threads, ratio) for side, plan in plans.items()}
        keys = list(dict.fromkeys(key for one in found.values() for key in one.keys))
        curves: dict[Side, dict[Key, Curve]] = {side: {} for side in sides}
        for number, key in enumerate(keys):
            tell(f"{key[1]} on {key[0]}, {number + 1} of {len(keys)} cells")
            having = [side for side in sides if key in found[side].keys]
            for side in having:
                runners[side].ask(found[side].keys[key], ratio)
            for side in having:
                curves[side][key] = runners[side].curve()
    return {side: replace(one, curves=curves[side]) for side, one in found.items()}


def _shown(
    side: Side, plan: Mapping[str, Any], request: Mapping[str, Any], threads: int, ratio: float
) -> Shown:
    """Return what a side has, without its curves."""
    cells = {(c["problem"], c["solver"], c["seed"]): c for c in plan["cells"]}
    taken = {key: cell for key, cell in cells.items() if not cell["refusal"]}
    return Shown(
        suite=request["name"],
        curves={},
        keys={key: cell["key"] for key, cell in taken.items()},
        by_the_clock=frozenset(k for k, c in taken.items() if "seconds" in c["budget"]),
        absent=(
            *((*key[:2], cell["refusal"]) for key, cell in cells.items() if cell["refusal"]),
            *((a["problem"], a["solver"], a["reason"]) for a in plan["absent"]),
        ),
        request=request,
        threads=threads,
        ratio=ratio,
        code={key: cell["code"] for key, cell in taken.items()},
        notes=tuple(
            f"{side.name}: plugin {name!r} is broken: {why}" for name, why in plan["broken"].items()
        ),
    )


def _of_store(side: Side, wanted: Wanted) -> Shown:
    results = _results(side, wanted)
    records = [record for record in results.records if _is_wanted(record, wanted)]
    refused = [r for r in records if r.stop.status is Ending.REFUSED]
    kept = [r for r in records if r.stop.status is not Ending.REFUSED]
    return Shown(
        suite=results.suite,
        curves={key_of(record): Curve.of_record(record) for record in kept},
        by_the_clock=frozenset(key_of(r) for r in kept if "seconds" in r.budget),
        absent=tuple((r.problem.label, r.solver.label, r.stop.reason) for r in refused),
    )


def _results(side: Side, wanted: Wanted) -> Results:
    if isinstance(wanted.suite, Path):
        raise UsageError(f"a store has suites by name; {wanted.suite} is a file")
    return Results.read(side.store or "", wanted.suite)


def _is_wanted(record: Record, wanted: Wanted) -> bool:
    return (
        (not wanted.solvers or record.solver.label.split()[0] in wanted.solvers)
        and (not wanted.problems or record.problem.name in wanted.problems)
        and (wanted.seeds is None or record.seed < wanted.seeds)
    )


def _suite(base: Side, head: Side, wanted: Wanted) -> tuple[str, str]:
    """Return the name and the text of the suite that live sides run."""
    for side in (base, head):
        if side.store:
            results = _results(side, wanted)
            if text := results.session()["text"]:
                return results.suite, text
            raise UsageError(f"the store {side.store} does not have the text of its suite")
    suite = wanted.suite or SUITE
    if isinstance(suite, Path):
        return suite.stem, _read(suite)
    return suite, _asked(suite, (head, base), wanted)


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
        tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    return text


def _asked(name: str, sides: Sequence[Side], wanted: Wanted) -> str:
    """Return the text of a suite that one of the sides knows by name."""
    reasons = []
    for side in sides:
        with Process(side, wanted.clock, 1, wanted.patience) as process:
            try:
                return str(process.ask("suite", name=name)["text"])
            except SideError as error:
                reasons.append(f"{side.name}: {error}")
    raise UsageError("; ".join(reasons))


def _changes(text: str, wanted: Wanted) -> dict[str, Any]:
    """Return what replaces the tables of the suite: fewer solvers, problems or seeds."""
    table = tomllib.loads(text)
    changes: dict[str, Any] = {} if wanted.seeds is None else {"seeds": wanted.seeds}
    for kind, names in (("solver", wanted.solvers), ("problem", wanted.problems)):
        entries = table.get(kind, [])
        known = {entry.get("name") for entry in entries}
        for name in names:
            if name not in known:
                raise unknown(f"{kind} in the suite:", name, map(str, known))
        if names:
            changes[kind] = [entry for entry in entries if entry["name"] in names]
    return changes


def _refuse_unknown(old: Shown, new: Shown) -> None:
    """Refuse a suite with an entry that neither side can plan, as where a name is misspelt."""
    if old.curves or new.curves:
        return
    reasons = dict.fromkeys(reason for one in (old, new) for _, _, reason in one.absent)
    raise UsageError("; ".join(reasons) or "the suite has no cells")
