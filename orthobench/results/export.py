"""Results as tables in files: CSV, JSON lines and Parquet, with one row a checkpoint."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import BinaryIO

from orthobench.errors import UsageError, unknown
from orthobench.results.results import Results
from orthobench.tools.collections import plain
from orthobench.tools.files import atomic_write, write_csv


def write(results: Results, path: Path) -> None:
    """Write one row a checkpoint, in the format that the suffix names.

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
    formats = {".csv": to_csv, ".jsonl": _to_json_lines, ".parquet": _to_parquet}
    if path.suffix not in formats:
        raise unknown("suffix", path.suffix, formats)
    with atomic_write(path) as file:
        formats[path.suffix](results, file)


def to_csv(results: Results, file: BinaryIO) -> None:
    """Write CSV with the columns of `Results.to_pandas`."""
    columns = results.columns()
    rows = ([row.get(name, "") for name in columns] for row in results.rows())
    write_csv(itertools.chain([columns], rows), file, "\n")


def _to_json_lines(results: Results, file: BinaryIO) -> None:
    for row in results.rows():
        text = json.dumps(plain(row))
        file.write(f"{text}\n".encode())


def _to_parquet(results: Results, file: BinaryIO) -> None:
    """Write Parquet; a column of several types becomes text, since a column has one there."""
    try:
        frame = results.to_pandas()
        for name in frame.select_dtypes(object):
            if frame[name].dropna().map(type).nunique() > 1:
                frame[name] = frame[name].map(str, na_action="ignore").astype("string")
        frame.to_parquet(file, index=False)
    except ImportError as error:
        message = f"Parquet needs more packages: pip install 'orthobench[export]' ({error})"
        raise UsageError(message) from None
