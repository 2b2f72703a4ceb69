"""Results in the format of IOHprofiler, which IOHanalyzer and iohinspector read.

One folder a solver, with a JSON file and a data file for each problem, as IOHexperimenter writes
them: https://iohprofiler.github.io/IOHanalyzer/data (de Nobel et al. 2024, *Evolutionary
Computation* 32). Problems that differ in their dimension alone are one function.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from orthobench._version import __version__
from orthobench.harness.identity import canonical
from orthobench.harness.trace import Checkpoint
from orthobench.results.results import Results
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.tools.files import atomic_write, make_folder, safe_join

VERSION = "0.3.5"
"""The version of the format, which is that of the IOHexperimenter that writes it so."""

DIMENSIONS = ("n", "d", "vocabulary")
"""Parameters of problems that say how many rows a solution has."""

COSTS = ("samples", "flops", "steps")
"""What may be counted as evaluations, the most telling first."""

ATTRIBUTES = ("evaluations", "raw_y", "seconds", "steps", "samples", "flops")
"""The columns of a data file."""

Function: TypeAlias = tuple[str, str, str]
"""A problem without its dimension: its name, its other parameters, and its level."""

Row: TypeAlias = tuple[float, ...]


def write(results: Results, folder: Path) -> None:
    """Write the runs that reports show, in a folder for each solver.

    Parameters
    ----------
    results : Results
    folder : Path

    Raises
    ------
    UsageError
        Where the folder or a file in it cannot be written, or is a link.
    """
    functions = _grouped(results.entries)
    solvers = dict.fromkeys(entry.solver for entry in results.entries)
    for number, solver in enumerate(solvers, 1):
        own = safe_join(folder, f"{number}-{_file_name(solver)}")
        for identifier, entries in enumerate(functions.values(), 1):
            runs = {e.problem: e for e in entries if e.solver == solver and _shown(e)}
            if runs:
                _write_function(results.suite, own, identifier, solver, entries, runs.values())


def _grouped(entries: Iterable[SolverResult]) -> dict[Function, list[SolverResult]]:
    groups: dict[Function, list[SolverResult]] = {}
    for entry in entries:
        rest = {k: v for k, v in entry.problem_info.parameters.items() if k != _sized_by(entry)}
        function = entry.problem_info.name, canonical(rest), str(entry.level or "")
        groups.setdefault(function, []).append(entry)
    return groups


def _sized_by(entry: SolverResult) -> str:
    """Return the parameter that is the dimension of a problem; empty where none is."""
    return next((name for name in DIMENSIONS if name in entry.problem_info.parameters), "")


def _shown(entry: SolverResult) -> bool:
    return bool(entry.finished) and not entry.refused


def _file_name(label: str) -> str:
    """Return a label as a part of a file name: those of strangers may hold anything."""
    return re.sub(r"[^A-Za-z0-9=]+", "-", label)[:60].strip("-")


def _write_function(
    suite: str, folder: Path, identifier: int, solver: str, everyone: Sequence[SolverResult],
    own: Iterable[SolverResult],
) -> None:  # fmt: skip
    """Write the runs of one solver on one function.

    Parameters
    ----------
    suite : str
    folder : Path
    identifier : int
        The number of the function.
    solver : str
    everyone : sequence of SolverResult
        Those of all solvers on the function.
    own : iterable of SolverResult
        Those of the solver, one for each dimension.
    """
    cost = _cost(everyone)
    data = f"data_f{identifier}"
    make_folder(safe_join(folder, data), "the runs", "name another folder with --out")
    by_dimension: dict[int, list[SolverResult]] = {}
    for entry in own:
        by_dimension.setdefault(_dimension(entry), []).append(entry)
    scenarios = []
    for dimension, entries in by_dimension.items():
        name = f"{data}/IOHprofiler_f{identifier}_DIM{dimension}.dat"
        runs = [(r.seed, _rows(r, cost, everyone)) for e in entries for r in e.finished]
        runs = [(seed, rows) for seed, rows in runs if rows]
        with atomic_write(folder / name) as file:
            file.write("".join(_lines(rows for _, rows in runs)).encode())
        facts = [_run(seed, rows) for seed, rows in runs]
        scenarios.append({"dimension": dimension, "path": name, "runs": facts})
    head = _head(suite, identifier, solver, everyone[0], cost)
    with atomic_write(folder / f"IOHprofiler_f{identifier}.json") as file:
        file.write(json.dumps(head | {"scenarios": scenarios}).encode())


def _head(
    suite: str, identifier: int, solver: str, entry: SolverResult, cost: str
) -> dict[str, Any]:
    sized = f"{_sized_by(entry)}="
    words = [word for word in entry.problem.split() if sized == "=" or not word.startswith(sized)]
    attributes = {
        "cost": cost,
        "metric": entry.problem_info.primary,
        "family": entry.problem_info.family,
    }
    return {
        "version": VERSION,
        "suite": suite,
        "function_id": identifier,
        "function_name": " ".join(words),
        "maximization": False,
        "algorithm": {"name": solver, "info": f"orthobench {__version__}"},
        "experiment_attributes": [{name: value} for name, value in attributes.items()],
        "attributes": list(ATTRIBUTES),
    }


def _dimension(entry: SolverResult) -> int:
    value = entry.problem_info.parameters.get(_sized_by(entry))
    return value if isinstance(value, int) and value > 0 else 1


def _cost(entries: Iterable[SolverResult]) -> str:
    """Return the first of `COSTS` that all runs have spent; steps where there is none."""
    marks = [r.trace[-1] for e in entries if _shown(e) for r in e.finished if len(r.trace) > 1]
    spent = (cost for cost in COSTS if all(_work(cost)(mark) > 0 for mark in marks))
    return next(spent, "steps")


def _work(cost: str) -> Any:
    return lambda mark: getattr(mark.work, cost)


def _rows(record: Run, cost: str, everyone: Iterable[SolverResult]) -> list[Row]:
    """Return the checkpoints at which a run got lower, its start before and its end after them.

    The start counts as the first evaluation. A run that does some work before its first checkpoint
    has the start of the others: the largest on its seed. A run that failed never gets below the
    start. Without any start there is nothing to say of a run.
    """
    start = _start(record, cost, everyone)
    if not math.isfinite(start):
        return []
    table: dict[float, Row] = {1.0: (1.0, start, 0.0, 0.0, 0.0, 0.0)}
    if record.trace:
        for row in _columns(record, cost, start).T.tolist():
            table[row[0]] = tuple(row)
    rows = list(table.values())
    lower = [b for a, b in itertools.pairwise(rows[:-1]) if b[1] < a[1]]
    return [rows[0], *lower, *rows[1:][-1:]]


def _start(record: Run, cost: str, everyone: Iterable[SolverResult]) -> float:
    if record.trace and _work(cost)(record.trace[0]) == 0 and math.isfinite(record.start):
        return record.start
    problem = record.problem.label
    starts = [r.start for e in everyone for r in e.records
              if r.seed == record.seed and r.problem.label == problem]  # fmt: skip
    return max((value for value in starts if math.isfinite(value)), default=math.nan)


def _columns(record: Run, cost: str, start: float) -> Any:
    """Return `ATTRIBUTES` at all checkpoints, the value being the smallest up to there."""
    metric = record.problem.primary
    values = read(record.trace, lambda mark: mark.metrics.get(metric, math.nan))
    if record.failed:
        values = np.full(len(values), start)
    values = np.minimum.accumulate(np.fmin(values, start))
    work = [read(record.trace, _work(name)) for name in ("steps", "samples", "flops")]
    seconds = read(record.trace, _seconds)
    return np.array([1 + read(record.trace, _work(cost)), values, seconds, *work])


def _seconds(mark: Checkpoint) -> float:
    return mark.seconds + mark.readout_seconds


def _lines(runs: Iterable[Sequence[Row]]) -> Iterator[str]:
    for rows in runs:
        yield " ".join(ATTRIBUTES) + "\n"
        for evaluations, value, seconds, *work in rows:
            counts = " ".join(f"{count:.0f}" for count in work)
            yield f"{evaluations:.0f} {value!r} {seconds:.9f} {counts}\n"


def _run(seed: int, rows: Sequence[Row]) -> Mapping[str, Any]:
    evaluations, value, *_ = min(rows, key=lambda row: row[1])
    best = {"evals": int(evaluations), "y": value, "x": []}
    return {"instance": seed, "evals": int(rows[-1][0]), "best": best}
