"""The cells that each side has of a suite, with their runs: made now, or read from a store."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orthobench.compare.comparison import Options
from orthobench.compare.process import Runner, SideError, SideProcess
from orthobench.compare.sides import Side
from orthobench.errors import UsageError, unknown
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import RunStatus
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import Key, key_of
from orthobench.tools import toml

SUITE = "regression"
"""The suite that live sides are compared on where none is named."""

DENSE = 1.02
"""Ratio of checkpoints where both sides are run: work to a target is found to two percent."""

Progress = Callable[[str], None]
"""Called with what is being done."""


@dataclass(frozen=True)
class SideCells:
    """The cells that one side has of a suite.

    Attributes
    ----------
    suite : str
        The suite's name.
    runs : mapping
        The run of every cell that the side has and does not refuse.
    worker_keys : mapping
        What the side's worker calls the cells; empty for a store.
    in_seconds : frozenset
        Cells whose budget is in seconds.
    absent : tuple of (str, str, str)
        Problem, solver and the reason why the side does not have their cells.
    request : mapping
        The suite, as workers are asked to plan it.
    threads : int
    ratio : float
        Of the steps of one checkpoint and the next.
    code : mapping
        Digests of the sources that each cell runs, by package.
    notes : tuple of str
    """

    suite: str
    runs: Mapping[Key, Run]
    worker_keys: Mapping[Key, str] = field(default_factory=dict)
    in_seconds: frozenset[Key] = frozenset()
    absent: tuple[tuple[str, str, str], ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    ratio: float = RATIO
    code: Mapping[Key, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def why_absent(self, key: Key) -> str:
        """Return why the side does not have a cell."""
        for problem, solver, reason in self.absent:
            if key[0].startswith(problem) and key[1].startswith(solver):
                return reason
        return "it is not in its suite"


def collect(
    base: Side, head: Side, options: Options, progress: Progress
) -> tuple[SideCells, SideCells]:
    """Return the cells of both sides; live sides run at the same time.

    Where a side is a store, its suite is what the other one runs.

    Raises
    ------
    UsageError
        Where the suite cannot be read, or names what neither side knows.
    """
    stores = {side: _stored(side, options) for side in (base, head) if side.store}
    if len(stores) == 2:
        return stores[base], stores[head]
    name, text = _suite(base, head, options)
    changes = {**_changes(text, options), **({} if stores else _every_seed(text))}
    request = {"text": text, "name": name, "changes": changes}
    ratio = RATIO if stores else DENSE
    sides = [side for side in (base, head) if side not in stores]
    found = {**stores, **_run_side_by_side(sides, request, options, ratio, progress)}
    _refuse_empty(found[base], found[head])
    return found[base], found[head]


def run_again(
    side: Side, cells: SideCells, keys: Iterable[Key], options: Options
) -> dict[Key, Run]:
    """Run some cells of a live side once more, in a fresh process."""
    with Runner(side, cells.request, options.clock, cells.threads, options.patience) as runner:
        runner.plan()
        runs = {}
        for key in keys:
            runner.start(key, cells.worker_keys[key], cells.ratio)
            runs[key] = runner.finish()
        return runs


def _run_side_by_side(
    sides: Sequence[Side],
    request: Mapping[str, Any],
    options: Options,
    ratio: float,
    progress: Progress,
) -> dict[Side, SideCells]:
    """Run all cells of live sides, the same cell on each at the same time."""
    threads = int(tomllib.loads(request["text"]).get("threads", 1))
    with ExitStack() as stack:
        runners = {
            side: stack.enter_context(
                Runner(side, request, options.clock, threads, options.patience)
            )
            for side in sides
        }
        plans = {side: runner.plan() for side, runner in runners.items()}
        found = {
            side: _planned(side, plan, request, threads, ratio) for side, plan in plans.items()
        }
        keys = list(dict.fromkeys(key for cells in found.values() for key in cells.worker_keys))
        runs: dict[Side, dict[Key, Run]] = {side: {} for side in sides}
        for number, key in enumerate(keys):
            progress(f"{key[1]} on {key[0]}, {number + 1} of {len(keys)} cells")
            having = [side for side in sides if key in found[side].worker_keys]
            for side in having:
                runners[side].start(key, found[side].worker_keys[key], ratio)
            for side in having:
                runs[side][key] = runners[side].finish()
    return {side: replace(cells, runs=runs[side]) for side, cells in found.items()}


def _planned(
    side: Side, plan: Mapping[str, Any], request: Mapping[str, Any], threads: int, ratio: float
) -> SideCells:
    """Return the cells that a live side has planned, without runs."""
    cells = {(c["problem"], c["solver"], c["seed"]): c for c in plan["cells"]}
    accepted = {key: cell for key, cell in cells.items() if not cell["refusal"]}
    return SideCells(
        suite=request["name"],
        runs={},
        worker_keys={key: cell["key"] for key, cell in accepted.items()},
        in_seconds=frozenset(k for k, c in accepted.items() if "seconds" in c["budget"]),
        absent=(
            *((*key[:2], cell["refusal"]) for key, cell in cells.items() if cell["refusal"]),
            *((a["problem"], a["solver"], a["reason"]) for a in plan["absent"]),
        ),
        request=request,
        threads=threads,
        ratio=ratio,
        code={key: cell["code"] for key, cell in accepted.items()},
        notes=tuple(
            f"{side.name}: plugin {name!r} is broken: {why}" for name, why in plan["broken"].items()
        ),
    )


def _stored(side: Side, options: Options) -> SideCells:
    """Return the cells of a store."""
    results = _results(side, options)
    records = [record for record in results.records if _is_wanted(record, options)]
    refused = [r for r in records if r.stop.status is RunStatus.REFUSED]
    accepted = [r for r in records if r.stop.status is not RunStatus.REFUSED]
    return SideCells(
        suite=results.suite,
        runs={key_of(record): record for record in accepted},
        in_seconds=frozenset(key_of(r) for r in accepted if "seconds" in r.budget),
        absent=tuple((r.problem.label, r.solver.label, r.stop.reason) for r in refused),
    )


def _results(side: Side, options: Options) -> Results:
    if isinstance(options.suite, Path):
        raise UsageError(f"a store has suites by name; {options.suite} is a file")
    return Results.read(side.store or "", options.suite)


def _is_wanted(record: Run, options: Options) -> bool:
    return (
        (not options.solvers or record.solver.label.split()[0] in options.solvers)
        and (not options.problems or record.problem.name in options.problems)
        and (options.seeds is None or record.seed < options.seeds)
    )


def _suite(base: Side, head: Side, options: Options) -> tuple[str, str]:
    """Return the name and the text of the suite that live sides run."""
    for side in (base, head):
        if side.store:
            results = _results(side, options)
            if text := results.session()["text"]:
                return results.suite, _valid(text, f"in the store {side.store}")
            raise UsageError(f"the store {side.store} does not have the text of its suite")
    suite = options.suite or SUITE
    if isinstance(suite, Path):
        return suite.stem, _read(suite)
    return suite, _ask_for_suite(suite, (head, base), options)


def _read(path: Path) -> str:
    try:
        text = toml.text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the suite {path}: {error}") from None
    return _valid(text, str(path))


def _valid(text: str, where: str) -> str:
    """Return the text of a suite; refuse what is no TOML, or what would take gigabytes to read."""
    try:
        toml.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"cannot read the suite {where}: {error}") from None
    return text


def _ask_for_suite(name: str, sides: Sequence[Side], options: Options) -> str:
    """Return the text of a suite that one of the sides knows by name."""
    reasons = []
    for side in sides:
        with SideProcess(side, options.clock, 1, options.patience) as process:
            try:
                return str(process.ask("suite", name=name)["text"])
            except SideError as error:
                reasons.append(f"{side.name}: {error}")
    raise UsageError("; ".join(reasons))


def _changes(text: str, options: Options) -> dict[str, Any]:
    """Return what replaces the tables of the suite: fewer solvers, problems or seeds."""
    tables = tomllib.loads(text)
    changes: dict[str, Any] = {} if options.seeds is None else {"seeds": options.seeds}
    for kind, names in (("solver", options.solvers), ("problem", options.problems)):
        entries = tables.get(kind, [])
        known = {entry.get("name") for entry in entries}
        for name in names:
            if name not in known:
                raise unknown(f"{kind} in the suite:", name, map(str, known))
        if names:
            changes[kind] = [entry for entry in entries if entry["name"] in names]
    return changes


def _every_seed(text: str) -> dict[str, Any]:
    """Return what has trials run on all seeds, where the suite has them tuned on some.

    Nothing is chosen here, and older revisions do not know the key.
    """
    tuning = tomllib.loads(text).get("tuning", {})
    rest = {key: value for key, value in tuning.items() if key != "seeds"}
    return {"tuning": rest} if rest != tuning else {}


def _refuse_empty(base: SideCells, head: SideCells) -> None:
    """Refuse a suite of which neither side has a cell, for instance because a name is misspelt."""
    if base.runs or head.runs:
        return
    reasons = dict.fromkeys(reason for cells in (base, head) for _, _, reason in cells.absent)
    raise UsageError("; ".join(reasons) or "the suite has no cells")
