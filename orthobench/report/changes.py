"""Changes between two stores, from the runs that both have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from orthobench.decide.wording import factor_text
from orthobench.errors import UsageError
from orthobench.report.rows import bare_table
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats import run_pairs
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.costs import COSTS
from orthobench.stats.run_pairs import REORDERED, Change, Finding, ToleranceRule
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.files import hide_home
from orthobench.tools.formatting import clean, listed, number, short

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Pair: TypeAlias = tuple[Run, Run]

SIDES = ("BASE", "HEAD")

MACHINE = {"cpu": "processor", "cores": "cores", "platform": "system", "blas": "BLAS"}
"""The facts that distinguish machines, and their names."""

DRIFT = (
    "times of runs on different days differ by what else the machine did: "
    "`orthobench compare` times both sides in turns"
)


def compare_stores(base: Results, head: Results) -> dict[str, Any]:
    """Return what changed from one store, BASE, to another, HEAD, as plain values.

    ``solvers`` has a row for each solver on a problem, with both medians of its ``metric``. Each of
    its ``quantities`` has a ``change``, ``"mixed"`` if seeds differ, and the median ``factor``.
    ``only`` says what is not compared, and ``notes`` how machines and versions differ.

    Raises
    ------
    UsageError
        If both are the same suite of one store, or have nothing in common.
    """
    if base.path.resolve() == head.path.resolve():
        raise UsageError(f"{base.path} is given twice: name two stores")
    found, only = _paired(base.entries, head.entries)
    if not found:
        why = f": {only[0]}" if only else ""
        raise UsageError(
            f"the suite {clean(base.suite)!r} in {base.path} and {clean(head.suite)!r} in "
            f"{head.path} have no solver on the same problem to compare{why}; name a suite of both "
            "with --suite"
        )
    different = _machines(base, head)
    versions = _differing(base.versions, head.versions).items()
    changed = clean("; ".join(f"{name} {one} → {other}" for name, (one, other) in versions))
    return {
        "sides": [_side(base), _side(head)],
        "solvers": [_solver(*key, runs, timed=not different) for key, runs in found.items()],
        "only": only,
        "notes": [
            f"times are not compared: {different}" if different else DRIFT,
            *([f"versions: {changed}"] if changed else []),
        ],
    }


def _paired(
    base: Sequence[SolverResult], head: Sequence[SolverResult]
) -> tuple[dict[tuple[str, str], list[Pair]], list[str]]:
    """Return the runs of each solver on each problem that can be compared, and why others not."""
    first, second = (
        {(e.problem, e.solver, run.seed): run for e in side if not e.refused for run in e.finished}
        for side in (base, head)
    )
    found: dict[tuple[str, str], list[Pair]] = {}
    alone: dict[str, list[str]] = {}
    for key in {**first, **second}:
        (problem, solver, seed), one, other = key, first.get(key), second.get(key)
        why = _hindrance(one, other)
        if one and other and not why:
            found.setdefault((problem, solver), []).append((one, other))
        else:
            alone.setdefault(f"{why}: {solver} on {problem}", []).append(str(seed))
    return found, [clean(f"{what}, seeds {listed(seeds)}") for what, seeds in alone.items()]


def _hindrance(one: Run | None, other: Run | None) -> str:
    if one is None or other is None:
        return f"only in {SIDES[one is None]}"
    a, b = one.problem, other.problem
    if a.name != b.name or _differing(a.parameters, b.parameters):
        return "not the same problem in both"
    if (a.primary, one.target) != (b.primary, other.target):
        return "not ranked by the same metric in both"
    return "" if dict(one.budget) == dict(other.budget) else "not under the same budget in both"


def _solver(problem: str, solver: str, runs: Sequence[Pair], *, timed: bool) -> dict[str, Any]:
    one, other = runs[0]
    metric = metric_of(one.problem.primary)
    sides = zip(*runs, strict=True)
    medians = (quantiles([final(run, metric) for run in side], 0.5) for side in sides)
    base, head = (number(m) if math.isfinite(m) else "failed" for m in medians)
    found = {
        "result": _quantity(runs, run_pairs.compare_results),
        "work": _quantity(runs, run_pairs.compare_work),
    }
    if timed:
        found["seconds"] = _quantity(runs, _compare_seconds)
    values = _differing(one.solver.parameters, other.solver.parameters).items()
    parameters = clean(", ".join(f"{name}={short(a)} → {short(b)}" for name, (a, b) in values))
    return {
        "problem": clean(problem), "solver": clean(solver),
        "metric": clean(one.problem.primary.replace("_", " ")), "parameters": parameters,
        "base": base, "head": head, "quantities": found,
    }  # fmt: skip


def _quantity(
    runs: Sequence[Pair], compare: Callable[[Run, Run, float], Finding]
) -> dict[str, Any]:
    """Return what changed over the seeds, as `orthobench.stats.run_pairs` finds it on each."""
    found = [compare(base, head, 0.0) for base, head in runs]
    higher = sum(f.change in (Change.WORSE, Change.MIXED) for f in found)
    lower = sum(f.change in (Change.BETTER, Change.MIXED) for f in found)
    compared = any(f.change is not Change.NONE for f in found)
    ways = {(True, True): "mixed", (True, False): "higher", (False, True): "lower"}
    change = ways.get((higher > 0, lower > 0), "same" if compared else "not compared")
    ratios = [f.ratio for f in found if not math.isnan(f.ratio)]
    factor = float(quantiles(ratios, 0.5)) if ratios else math.nan
    return {
        "change": change, "higher": higher, "lower": lower, "seeds": len(runs), "factor": factor,
    }  # fmt: skip


def _compare_seconds(base: Run, head: Run, tolerance: float) -> Finding:
    old, new = (final(run, COSTS["seconds"]) for run in (base, head))
    if not (math.isfinite(old) and math.isfinite(new) and old > 0):
        return Finding(Change.NONE)
    if ToleranceRule(REORDERED.rtol + tolerance).same(old, new):
        return Finding(Change.SAME, 1.0)
    return Finding(Change.WORSE if new > old else Change.BETTER, new / old)


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (a[name], b[name]) for name in a if name in b and a[name] != b[name]}


def _machines(a: Results, b: Results) -> str:
    first, second = (dict(side.session()["environment"]) for side in (a, b))
    if not any(first.get(name) and second.get(name) for name in ("cpu", "platform")):
        return "a store does not say on which machine it was run"
    different = [
        f"{name} {first.get(key)} → {second.get(key)}" if key != "blas" else name
        for key, name in MACHINE.items()
        if first.get(key) != second.get(key)
    ]
    if different:
        return clean(f"the machines are not the same ({'; '.join(different)})")
    before, after = ((side.get("run") or {}).get("workers") for side in (first, second))
    return "" if before == after else f"{before} runs at once in BASE, {after} in HEAD"


def _side(results: Results) -> str:
    started = str(results.session()["started"])[:16].replace("T", " ")
    return clean(f"{results.suite} of {started} UTC, {hide_home(str(results.path))}")


def show(changes: Mapping[str, Any], console: Console | None = None) -> None:
    """Print a table for each problem, with what is not compared below them."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    for name, side in zip(SIDES, changes["sides"], strict=True):
        console.print(Text(f"{name}: {side}"))
    for problem, solvers in grouped(changes["solvers"], lambda s: s["problem"]).items():
        console.print()
        about = f"  final {solvers[0]['metric']}"
        console.print(Text.assemble((problem, "bold"), (about, "dim")))
        console.print(_table(solvers))
    console.print()
    for line in (*changes["only"], *changes["notes"]):
        console.print(Text(line))


def _table(solvers: Sequence[Mapping[str, Any]]) -> Table:
    from rich.text import Text

    table = bare_table()
    table.add_column("solver", overflow="fold")
    titles = [{"seconds": "time"}.get(name, name) for name in solvers[0]["quantities"]]
    for title in (*SIDES, *titles):
        table.add_column(title, justify="right", overflow="fold")
    for row in solvers:
        cells = map(_cell, row["quantities"].values())
        name = "{solver} {parameters}".format(**row).strip()
        table.add_row(*(Text(text) for text in (name, row["base"], row["head"], *cells)))
    return table


def _cell(quantity: Mapping[str, Any]) -> str:
    """Return a change as text: ``"0.86x lower 9/9"``."""
    if quantity["change"] in ("same", "not compared"):
        return str(quantity["change"])
    factor = "" if math.isnan(quantity["factor"]) else f"{factor_text(quantity['factor'])}x "
    ways = [way for way in ("higher", "lower") if quantity[way]]
    return factor + " ".join(f"{way} {quantity[way]}/{quantity['seeds']}" for way in ways)
