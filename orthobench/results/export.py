"""Results as tables in files: CSV, JSON lines, Parquet.

Exhibits are not exported; `Results.exhibits` has them.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from orthobench.errors import UsageError, unknown
from orthobench.results.results import Results
from orthobench.tools.files import replacing


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
    formats: dict[str, Callable[[Results, Path], None]] = {
        ".csv": _csv,
        ".jsonl": _json_lines,
        ".parquet": _parquet,
    }
    if path.suffix not in formats:
        raise unknown("suffix", path.suffix, formats)
    with replacing(path) as part:
        formats[path.suffix](results, part)


def write_csv(results: Results, file: TextIO) -> None:
    """Write CSV with one row a checkpoint; with the columns of `Results.to_pandas`."""
    writer = csv.DictWriter(file, results.columns(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.rows())


def _csv(results: Results, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        write_csv(results, file)


def _json_lines(results: Results, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in results.rows():
            file.write(json.dumps({name: _finite(value) for name, value in row.items()}) + "\n")


def _finite(value: Any) -> Any:
    """Return what JSON can say of a value: None stands for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _parquet(results: Results, path: Path) -> None:
    try:
        results.to_pandas().to_parquet(path)
    except ImportError as error:
        message = f"Parquet needs more packages: pip install 'orthobench[export]' ({error})"
        raise UsageError(message) from None
