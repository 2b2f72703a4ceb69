"""Results as tables in files: CSV, JSON lines, Parquet; and in the formats of other programs.

One of these is that of IOHprofiler, which IOHanalyzer and iohinspector read: one folder a solver,
with a JSON file and a data file for each problem, as IOHexperimenter writes them:
https://iohprofiler.github.io/IOHanalyzer/data (de Nobel et al. 2024, *Evolutionary Computation*
32). Problems that differ in their dimension alone are one function.

Exhibits are not exported; `Results.exhibits` has them.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from orthobench._version import __version__
from orthobench.errors import UsageError, unknown
from orthobench.harness.identity import canonical
from orthobench.results.results import TIMES, Results
from orthobench.results.runs import Run
from orthobench.results.traces import COUNTS as WORK
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped, plain
from orthobench.tools.files import atomic_write, make_folder, safe_join, write_csv

if TYPE_CHECKING:
    import pandas as pd

HERE = ("problem", "family", "solver", "reason", "chosen", "number")
"""Columns of a table of results that one for benchopt does not have, or calls otherwise."""

IOH_VERSION = "0.3.5"
"""The version of the format of IOHprofiler, that of the IOHexperimenter that writes it so."""

DIMENSIONS = ("n", "d", "vocabulary")
"""Parameters of problems that say how many rows a solution has."""

EVALUATIONS = ("samples", "flops", "steps")
"""What may be counted as evaluations, the most telling first."""

ATTRIBUTES = ("evaluations", "raw_y", "seconds", *WORK)
"""The columns of a data file of IOHprofiler."""

FORMAT_OF_ROW = "%.0f %.17g %.9f %.0f %.0f %.0f"
"""How they are written."""


def write(results: Results, path: Path) -> None:
    """Write one row a checkpoint, in the format that the suffix says; all of it or nothing.

    Parameters
    ----------
    results : Results
    path : Path
        With suffix ``.csv``, ``.jsonl`` (null stands for a number that is not finite) or
        ``.parquet`` (which needs ``orthobench[export]``).

    Raises
    ------
    UsageError
        On another suffix, a missing package, or a file that cannot be written.
    """
    formats: dict[str, Callable[[Results, BinaryIO], None]] = {
        ".csv": to_csv,
        ".jsonl": _json_lines,
        ".parquet": lambda results, file: _write_frame(results.to_pandas, file),
    }
    if path.suffix not in formats:
        raise unknown("suffix", path.suffix, formats)
    with atomic_write(path) as file:
        formats[path.suffix](results, file)


def to_csv(results: Results, file: BinaryIO) -> None:
    """Write CSV with one row a checkpoint; with the columns of `Results.to_pandas`."""
    columns = results.columns()
    rows = ([row.get(name, "") for name in columns] for row in results.rows())
    write_csv(itertools.chain([columns], rows), file, "\n")


def _json_lines(results: Results, file: BinaryIO) -> None:
    for row in results.rows():
        text = json.dumps(plain(row))
        file.write(f"{text}\n".encode())


def _write_frame(make: Callable[[], pd.DataFrame], file: BinaryIO) -> None:
    """Write a data frame; a column of values of several types as text, since Parquet has one.

    Parameters
    ----------
    make : callable
        Makes the frame, with pandas.
    file : file

    Raises
    ------
    UsageError
        If pandas is not installed.
    """
    try:
        frame = make()
        columns = {name: frame[name] for name in frame if frame[name].dtype == object}
        mixed = [name for name, own in columns.items() if len(set(map(type, own.dropna()))) > 1]
        texts = {name: frame[name].map(str, na_action="ignore").astype("string") for name in mixed}
        frame.assign(**texts).to_parquet(file, index=False)
    except ImportError as error:
        message = f"Parquet needs more packages: pip install 'orthobench[export]' ({error})"
        raise UsageError(message) from None


def write_benchopt(results: Results, path: Path) -> None:
    """Write the runs that reports show, as benchopt 1.10 keeps its own: one row a checkpoint.

    Its plots and result pages read the file (https://benchopt.github.io).

    Parameters
    ----------
    results : Results
    path : Path
        With suffix ``.parquet``.

    Raises
    ------
    UsageError
        On another suffix, a missing package, or a file that cannot be written.
    """
    if path.suffix != ".parquet":
        raise UsageError(f"benchopt reads Parquet, not {path.name}: name a file .parquet")
    with atomic_write(path) as file:
        _write_frame(lambda: _benchopt_frame(results), file)


def _benchopt_frame(results: Results) -> pd.DataFrame:
    """Return a row for each checkpoint of each run of each entry; a failed run ends infinite."""
    import pandas as pd

    frame = results.to_pandas().dropna(subset=["number"])
    metrics = [*frame][[*frame].index("readout_seconds") + 1 :]
    runs = pd.DataFrame(
        {
            "objective_name": entry.problem_info.family,
            "data_name": entry.problem,
            "solver_name": entry.solver,
            "sampling_strategy": "Callback",
            "idx_rep": entry.seeds.index(run.seed),
            "primary": entry.problem_info.primary,
            "failed": run.failed,
            "key": run.key,
        }
        for entry in results.entries
        for run in (() if entry.refused else entry.records)
    )
    found = runs.merge(frame, on="key")
    values = [row[row["primary"]] for row in found.to_dict("records")]
    found = found.assign(
        objective_value=np.where(found.failed, math.inf, values),
        stop_val=found.steps,
        time=found.seconds + found.readout_seconds,
        **_benchopt_environment(results),
    )
    left_out = ["key", "primary", "failed", *HERE, *TIMES]
    return found.drop(columns=left_out).rename(
        columns=lambda name: f"objective_{name}" if name in metrics else _parameter_name(name)
    )


def _parameter_name(name: str) -> str:
    """Return what benchopt calls the column of a parameter; other names stay as they are."""
    kind, dot, parameter = name.partition(".")
    begins = {"problem": "p_dataset_", "solver": "p_solver_"}
    return begins[kind] + parameter if dot and kind in begins else name


def _benchopt_environment(results: Results) -> dict[str, Any]:
    session = results.session()
    ran_on = session["environment"]
    packages = ran_on.get("packages", {})
    return {
        "system-processor": ran_on.get("cpu"),
        "system-cpus": ran_on.get("cores"),
        **{f"version-{name}": packages.get(name) for name in ("numpy", "scipy")},
        "version-orthobench": ran_on.get("orthobench"),
        "run_date": session["started"],
    }


def write_ioh(results: Results, folder: Path) -> None:
    """Write the runs that reports show for IOHprofiler, in a folder for each solver.

    Parameters
    ----------
    results : Results
    folder : Path

    Raises
    ------
    UsageError
        Where the folder or a file in it cannot be written, or is a link.
    """
    functions = grouped(results.entries, _function).values()
    solvers = dict.fromkeys(entry.solver for entry in results.entries)
    for number, solver in enumerate(solvers, 1):
        # the labels of strangers may hold anything
        name = re.sub(r"[^A-Za-z0-9=]+", "-", solver)[:60].strip("-")
        for identifier, entries in enumerate(functions, 1):
            if own := [e for e in entries if e.solver == solver and e.takes_part]:
                folder_of_solver = safe_join(folder, f"{number}-{name}")
                _write_function(results.suite, folder_of_solver, identifier, entries, own)


def _size(entry: SolverResult) -> tuple[str, Any]:
    """Return the parameter that is the dimension of a problem, and its value; empty without one."""
    parameters = entry.problem_info.parameters
    return next(((name, parameters[name]) for name in DIMENSIONS if name in parameters), ("", 1))


def _dimension(entry: SolverResult) -> int:
    _, value = _size(entry)
    return value if isinstance(value, int) and value > 0 else 1


def _function(entry: SolverResult) -> tuple[str, str, str]:
    """Return a problem without its dimension: its name, other parameters, and level."""
    problem, (sized, _) = entry.problem_info, _size(entry)
    rest = {k: v for k, v in problem.parameters.items() if k != sized}
    return problem.name, canonical(rest), str(entry.level or "")


def _write_function(
    suite: str, folder: Path, identifier: int, everyone: Sequence[SolverResult],
    own: Sequence[SolverResult],
) -> None:  # fmt: skip
    """Write the runs of one solver on one function.

    Parameters
    ----------
    suite : str
    folder : Path
    identifier : int
        The number of the function.
    everyone : sequence of SolverResult
        Those of all solvers on the function.
    own : sequence of SolverResult
        Those of the solver, one for each dimension.
    """
    cost, data, first = _cost(everyone), f"data_f{identifier}", everyone[0]
    make_folder(safe_join(folder, data), "the runs", "name another folder with --out")
    scenarios = []
    for dimension, entries in grouped(own, _dimension).items():
        name = f"{data}/IOHprofiler_f{identifier}_DIM{dimension}.dat"
        tables = [(r.seed, _evaluations(r, cost, everyone)) for e in entries for r in e.finished]
        tables = [(seed, table) for seed, table in tables if len(table)]
        with atomic_write(folder / name) as file:
            for _, table in tables:
                np.savetxt(file, table, FORMAT_OF_ROW, header=" ".join(ATTRIBUTES), comments="")
        facts = [_about(seed, table) for seed, table in tables]
        scenarios.append({"dimension": dimension, "path": name, "runs": facts})
    sized, _ = _size(first)
    words = [w for w in first.problem.split() if not (sized and w.startswith(f"{sized}="))]
    problem = first.problem_info
    about = {
        "version": IOH_VERSION, "suite": suite, "function_id": identifier,
        "function_name": " ".join(words), "maximization": False,
        "algorithm": {"name": own[0].solver, "info": f"orthobench {__version__}"},
        "experiment_attributes": [
            {"cost": cost}, {"metric": problem.primary}, {"family": problem.family}
        ],
        "attributes": list(ATTRIBUTES), "scenarios": scenarios,
    }  # fmt: skip
    with atomic_write(folder / f"IOHprofiler_f{identifier}.json") as file:
        file.write(json.dumps(about).encode())


def _cost(entries: Iterable[SolverResult]) -> str:
    """Return the first of `EVALUATIONS` that all runs have spent; steps where there is none."""
    ends = [r.trace[-1] for e in entries if e.takes_part for r in e.finished if len(r.trace) > 1]
    spent = (cost for cost in EVALUATIONS if all(getattr(end.work, cost) > 0 for end in ends))
    return next(spent, "steps")


def _evaluations(run: Run, cost: str, everyone: Iterable[SolverResult]) -> Array:
    """Return `ATTRIBUTES` where a run got lower, its start before and its end after them.

    The value is the smallest so far. The start counts as the first evaluation. A run that does some
    work before its first checkpoint has the start of the others: the largest on its seed. A run
    that failed never gets below the start. Without any start there is nothing to say of a run.
    """
    start, metric = _start(run, cost, everyone), run.problem.primary
    if not math.isfinite(start):
        return np.empty((0, len(ATTRIBUTES)))
    rows = {1.0: [1.0, start, 0.0, 0.0, 0.0, 0.0]}
    if run.trace:
        values = read(run.trace, lambda mark: mark.metrics.get(metric, math.nan))
        lowest = np.minimum.accumulate(np.fmin(np.where(run.failed, start, values), start))
        work = {name: read(run.trace, attrgetter(f"work.{name}")) for name in WORK}
        seconds = read(run.trace, lambda mark: mark.seconds + mark.readout_seconds)
        table = np.column_stack([1 + work[cost], lowest, seconds, *work.values()])
        rows |= {row[0]: row for row in table.tolist()}
    table = np.array([*rows.values()])
    lower = np.flatnonzero(np.diff(table[:-1, 1]) < 0) + 1
    return table[[0, *lower, *([len(table) - 1] if len(table) > 1 else [])]]


def _start(run: Run, cost: str, everyone: Iterable[SolverResult]) -> float:
    if run.trace and not getattr(run.trace[0].work, cost) and math.isfinite(run.start):
        return run.start
    same = (r for e in everyone for r in e.records if r.seed == run.seed)
    starts = [r.start for r in same if r.problem.label == run.problem.label]
    return max(filter(math.isfinite, starts), default=math.nan)


def _about(seed: int, table: Array) -> Mapping[str, Any]:
    evaluations, value = table[table[:, 1].argmin(), :2].tolist()
    best = {"evals": int(evaluations), "y": value, "x": []}
    return {"instance": seed, "evals": int(table[-1, 0]), "best": best}


FORMATS: dict[str, Callable[[Results, Path], None]] = {"ioh": write_ioh, "benchopt": write_benchopt}
"""The formats of other programs, with what writes them: a folder, or a file."""
