"""Tables of other harnesses: long ones in CSV, TSV and Parquet, and those of benchopt."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from typing import Any

from orthobench.errors import DataError, quoted
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import listed
from orthobench_bridges.curves import LARGEST, Curve, Point, checked

NEEDED = ("problem", "solver", "seed", "cost", "value")
"""The columns that a long table needs; `start` and `unit` are optional."""

BENCHOPT = (
    "objective_name", "data_name", "dataset_name", "solver_name", "idx_rep", "time",
    "objective_value", "stop_val", "sampling_strategy",
)  # fmt: skip
"""The columns of benchopt that are read; `dataset_name` is `data_name` before version 1.7."""

Rows = Iterator[tuple[int, Mapping[str, Any]]]
"""Rows with their numbers in the file."""


def curves(files: Mapping[str, bytes], name: str) -> list[Curve]:
    """Return the curves of a table.

    Raises
    ------
    DataError
        If it is damaged; names the row.
    """
    read = next(reader for ending, reader in READERS.items() if name.endswith(ending))
    parts = [_row(row, f"{name} row {number}") for number, row in read(files[name], name)]
    found = []
    for own in grouped(parts, lambda part: (part.problem, part.solver, part.seed)).values():
        first = own[0]
        starts = {part.start for part in own if not math.isnan(part.start)}
        if len(starts) > 1 or len({part.unit for part in own}) > 1:
            raise DataError(f"{name}: {first.label} has several starts or units: each run has one")
        points = [point for part in own for point in part.points]
        start = next(iter(starts), math.nan)
        found.append(Curve(first.problem, first.solver, first.seed, points, first.unit, start))
    return found


def _delimited(content: bytes, name: str) -> Rows:
    try:
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        separator = "\t" if name.endswith(".tsv") else ","
        reader = csv.DictReader(lines, delimiter=separator, strict=True)
        reader.fieldnames = [title.strip() for title in reader.fieldnames or []]
        for row in reader:
            if None in row:
                raise DataError(f"{name} row {reader.line_num} is longer than the head: mend it")
            yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8 at byte {error.start}: save it as such") from None
    except csv.Error as error:
        raise DataError(f"{name} is no CSV ({error}): mend it") from None


def _parquet(content: bytes, name: str) -> Rows:
    import pyarrow as pa
    from pyarrow.parquet import read_table

    try:
        table = read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name} is no Parquet file ({error!s:.100}): write it anew") from None
    wanted = {*NEEDED, "start", "unit", *BENCHOPT}
    known = [column for column in table.column_names if column in wanted]
    for number, row in enumerate(table.select(known).to_pylist(), 1):
        yield number, _of_benchopt(row) if "objective_name" in row else row


READERS = {".csv": _delimited, ".tsv": _delimited, ".parquet": _parquet}
"""The readers of tables by the ending of a file."""


def _of_benchopt(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of benchopt under the names of a long table."""
    data = row.get("data_name", row.get("dataset_name"))
    by_steps = str(row.get("sampling_strategy")).lower() in ("iteration", "callback")
    return {
        "problem": f"{row['objective_name']} on {data}", "solver": row.get("solver_name"),
        "seed": row.get("idx_rep"), "cost": row.get("time"), "value": row.get("objective_value"),
        "unit": "seconds", "steps": row.get("stop_val") if by_steps else None,
    }  # fmt: skip


def _row(row: Mapping[str, Any], place: str) -> Curve:
    """Return a row as the curve of one point."""
    if missing := [column for column in NEEDED if row.get(column) is None]:
        raise DataError(f"{place} has no {listed(missing, 5)}: every row needs {', '.join(NEEDED)}")

    def number(column: str) -> float:
        try:
            return float(row[column])
        except (TypeError, ValueError):
            raise DataError(
                f"{place} has the {column} {quoted(row[column])}: a number is needed"
            ) from None

    def optional(column: str) -> float:
        return math.nan if row.get(column) in (None, "") else number(column)

    problem, solver = (str(row[name]).strip() for name in NEEDED[:2])
    seed, start, steps = number("seed"), optional("start"), optional("steps")
    point = Point(number("cost"), number("value"), int(steps) if 0 <= steps < LARGEST else -1)
    unit = str(row.get("unit") or "cost").strip()
    return checked(Curve(problem, solver, seed, [point], unit, start), place)
