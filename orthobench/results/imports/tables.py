"""Tables of other harnesses: long ones in CSV, TSV and Parquet, and those of benchopt."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from orthobench.errors import DataError, UsageError, quoted
from orthobench.results.imports.curves import Curve, Point
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import listed

NEEDED = ("problem", "solver", "seed", "cost", "value")
"""The columns of a long table; `start` and `unit` may be there too."""

BENCHOPT = ("objective_name", "data_name", "solver_name", "idx_rep", "time", "objective_value")
"""Columns by which a table of benchopt is recognised. Before version 1.7 the data had another."""

Rows = Iterable[tuple[int, Mapping[str, Any]]]
"""Rows with their numbers in the file."""


def delimited(content: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a CSV or TSV file, with the numbers of their lines.

    Raises
    ------
    DataError
        If it is no such text, or a row is longer or shorter than the head; says the row.
    """
    try:
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        reader = csv.reader(lines, delimiter="\t" if name.endswith(".tsv") else ",", strict=True)
        head = [title.strip() for title in next(reader, [])]
        for row in filter(None, reader):
            if len(row) != len(head):
                raise DataError(
                    f"{name} row {reader.line_num} has {len(row)} fields, and the head has "
                    f"{len(head)}: mend the row"
                )
            yield reader.line_num, dict(zip(head, row, strict=True))
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8 at byte {error.start}: save it as such") from None
    except csv.Error as error:
        raise DataError(f"{name} row {reader.line_num} is no CSV ({error}): mend it") from None


def parquet(content: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a Parquet file, the first of which is 1.

    Raises
    ------
    UsageError
        If pandas or pyarrow is not installed.
    DataError
        If it is no such file.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import read_table
    except ImportError as error:
        message = f"Parquet needs more packages: pip install 'orthobench[export]' ({error})"
        raise UsageError(message) from None
    try:
        table = read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError) as error:
        said = " ".join(str(error).split())
        raise DataError(f"{name} is no Parquet file ({said:.100}): write it anew") from None
    wanted = [c for c in table.column_names if c in {*NEEDED, "start", "unit", *_OF_BENCHOPT}]
    batches = table.select(wanted).to_batches(10_000)
    yield from enumerate((row for batch in batches for row in batch.to_pylist()), 1)


def curves(rows: Rows, name: str) -> list[Curve]:
    """Return the curves of a table, whichever of the two it is.

    Raises
    ------
    DataError
        If a column is missing, or a cell is not what its column needs; says the row.
    """
    parts = [
        (_row(_of_benchopt(row) if _is_benchopt(row) else row, f"{name} row {number}"), number)
        for number, row in rows
    ]
    found = []
    for own in grouped(parts, lambda p: (p[0].problem, p[0].solver, p[0].seed)).values():
        first = own[0][0]
        start = next((one.start for one, _ in own if not math.isnan(one.start)), math.nan)
        for one, number in own:
            if one.unit != first.unit or not (math.isnan(one.start) or one.start == start):
                raise DataError(
                    f"{name} row {number} has another start or unit than a row of {first.label} "
                    "before: each run has one"
                )
        found.append(replace(first, points=[one.points[0] for one, _ in own], start=start))
    return found


def _is_benchopt(row: Mapping[str, Any]) -> bool:
    return "objective_name" in row and "solver_name" in row


_OF_BENCHOPT = (*BENCHOPT, "dataset_name", "stop_val", "sampling_strategy")


def _of_benchopt(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of benchopt under the names of a long table."""
    data, steps = row.get("data_name", row.get("dataset_name")), row.get("stop_val")
    by_steps = str(row.get("sampling_strategy", "")).lower() in ("iteration", "callback")
    return {
        "problem": f"{row.get('objective_name')} on {data}", "solver": row.get("solver_name"),
        "seed": row.get("idx_rep"), "cost": row.get("time"), "value": row.get("objective_value"),
        "unit": "seconds", "steps": steps if by_steps else None,
    }  # fmt: skip


def _row(row: Mapping[str, Any], place: str) -> Curve:
    """Return a row as the curve of one point."""
    if missing := [column for column in NEEDED if row.get(column) is None]:
        raise DataError(f"{place} has no {listed(missing, 5)}: every row needs {', '.join(NEEDED)}")
    problem, solver = (str(row[name]).strip() for name in NEEDED[:2])
    if not (problem and solver):
        raise DataError(f"{place} names no problem or no solver: name both")
    seed, cost = _number(row, "seed", place), _number(row, "cost", place)
    if not (seed.is_integer() and 0 <= seed < 2**53):
        raise DataError(f"{place} has the seed {quoted(row['seed'])}: a whole number is needed")
    if not 0 <= cost < math.inf:
        raise DataError(f"{place} has the cost {quoted(row['cost'])}: a number from 0 is needed")
    steps = -1.0 if row.get("steps") is None else _number(row, "steps", place)
    point = Point(cost, _number(row, "value", place), int(steps) if 0 <= steps < 2**53 else -1)
    start = _number(row, "start", place) if row.get("start") not in (None, "") else math.nan
    unit = str(row.get("unit") or "cost").strip()
    return Curve(problem, solver, int(seed), (point,), unit, start)


def _number(row: Mapping[str, Any], column: str, place: str) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError):
        raise DataError(
            f"{place} has the {column} {quoted(row[column])}: a number is needed"
        ) from None
