"""Results as benchopt keeps its own: a Parquet file that its plots and its result pages read.

The columns are those of benchopt 1.10 (https://benchopt.github.io): one row a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.errors import UsageError
from orthobench.results.parquet import write_frame
from orthobench.results.results import Results
from orthobench.tools.files import replacing

if TYPE_CHECKING:
    import pandas as pd

PARAMETERS = {"problem.": "p_dataset_", "solver.": "p_solver_"}
"""How the names of columns of parameters begin, here and there."""

WORK = ("steps", "samples", "flops")


def write(results: Results, path: Path) -> None:
    """Write the runs that reports show.

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
    with replacing(path) as file:
        write_frame(lambda: _frame(results), file)


def _frame(results: Results) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([*_rows(results)]).assign(**_environment(results))


def _rows(results: Results) -> Iterator[dict[str, Any]]:
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
                yield {**repetition, **_renamed(row), "objective_value": value}


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
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


def _environment(results: Results) -> dict[str, Any]:
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
