"""Results as tables in files: CSV, JSON lines, Parquet; and in the formats of other programs.

Exhibits are not exported; `Results.exhibits` has them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from orthobench.errors import unknown
from orthobench.results import benchopt, ioh
from orthobench.results.parquet import write_frame
from orthobench.results.results import Results
from orthobench.tools.collections import plain
from orthobench.tools.files import replacing, write_csv

FORMATS: dict[str, Callable[[Results, Path], None]] = {"ioh": ioh.write, "benchopt": benchopt.write}
"""The formats of other programs, with what writes them: a folder, or a file."""


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
    with replacing(path) as file:
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
    write_frame(results.to_pandas, file)
