"""Results as tables in files: CSV, JSON lines, Parquet; and in the formats of other programs.

Exhibits are not exported; `Results.exhibits` has them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from orthobench.errors import UsageError, unknown
from orthobench.results import ioh
from orthobench.results.results import Results
from orthobench.tools.collections import plain
from orthobench.tools.files import atomic_write, write_csv

if TYPE_CHECKING:
    import pandas as pd

PARAMETERS = {"problem.": "p_dataset_", "solver.": "p_solver_"}
"""How the names of columns of parameters begin, here and there."""

WORK = ("steps", "samples", "flops")


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
        ".parquet": _parquet,
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


def _parquet(results: Results, file: BinaryIO) -> None:
    _write_frame(results.to_pandas, file)


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
        Where pandas or pyarrow is not installed.
    """
    try:
        frame = make()
        mixed = [name for name in frame if _is_mixed(frame[name])]
        texts = {name: frame[name].map(str, na_action="ignore").astype("string") for name in mixed}
        frame.assign(**texts).to_parquet(file, index=False)
    except ImportError as error:
        message = f"Parquet needs more packages: pip install 'orthobench[export]' ({error})"
        raise UsageError(message) from None


def _is_mixed(column: pd.Series) -> bool:
    return column.dtype == object and len(set(map(type, column.dropna()))) > 1


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
    import pandas as pd

    return pd.DataFrame([*_benchopt_rows(results)]).assign(**_benchopt_environment(results))


def _benchopt_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Yield a row for each checkpoint of each run of each entry; a failed run ends infinite."""
    of_run: dict[str, list[dict[str, Any]]] = {}
    for row in results.rows():
        if "number" in row:
            of_run.setdefault(row["key"], []).append(row)
    for entry in results.entries:
        names = {
            "objective_name": entry.problem_info.family,
            "data_name": entry.problem,
            "solver_name": entry.solver,
            "sampling_strategy": "Callback",
        }
        for record in () if entry.refused else entry.records:
            repetition = names | {"idx_rep": entry.seeds.index(record.seed), "seed": record.seed}
            for row in of_run.get(record.key, ()):
                value = float("inf") if record.failed else row.get(entry.problem_info.primary)
                yield {**repetition, **_benchopt_renamed(row), "objective_value": value}


def _benchopt_renamed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table of results with the names of benchopt."""
    metrics = [*row][[*row].index("readout_seconds") + 1 :]
    return {
        "stop_val": row["steps"],
        "time": row["seconds"] + row["readout_seconds"],
        "status": row["status"],
        **{name: row[name] for name in WORK},
        **{
            there + name.removeprefix(here): value
            for here, there in PARAMETERS.items()
            for name, value in row.items()
            if name.startswith(here)
        },
        **{f"objective_{name}": row[name] for name in metrics},
    }


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


FORMATS: dict[str, Callable[[Results, Path], None]] = {"ioh": ioh.write, "benchopt": write_benchopt}
"""The formats of other programs, with what writes them: a folder, or a file."""
