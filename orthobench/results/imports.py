"""Tables of other harnesses, read into a store, with a row a checkpoint."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orthobench._version import __version__
from orthobench.contract.solver import Work
from orthobench.errors import DataError, UsageError, quoted
from orthobench.harness.identity import Identity, canonical
from orthobench.harness.run import RATIO, checkpoints
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import LONGEST_CLOCK, Checkpoint
from orthobench.results.runs import IMPORTED, Imported, ProblemInfo, Run, SolverInfo, run_label
from orthobench.results.store import Store
from orthobench.tools.collections import grouped
from orthobench.tools.files import hide_home, opened
from orthobench.tools.formatting import listed

VALUE = "value"
"""The metric of imported runs; smaller is better."""

NEEDED = ("problem", "solver", "seed", "cost", "value")
"""The columns that a table needs; `start` and `unit` are optional."""

SECONDS = ("s", "sec", "second", "seconds", "time")
"""Names of the unit that is seconds here."""

WHOLE = ("steps", "samples", "flops")
"""Units that the harness counts, in whole numbers."""

LARGEST = 2.0**53
"""Maximum cost and seed: larger floats are not distinct whole numbers."""


@dataclass(frozen=True)
class Row:
    """A row of a table; `start` is NaN if it is empty."""

    problem: str
    solver: str
    seed: int
    cost: float
    value: float
    start: float
    unit: str


def import_results(
    paths: Sequence[Path], store: Path, suite: str = "imported", command: str = ""
) -> int:
    """Read tables of another harness into a store, as one suite, in place of its last import.

    Parameters
    ----------
    paths : sequence of Path
        Tables with the columns `NEEDED`.
    store : Path
    suite : str
    command : str
        The command line that the store keeps.

    Returns
    -------
    int
        Number of runs.

    Raises
    ------
    DataError, UsageError
        If a table cannot be read; nothing is written then.
    """
    source = ", ".join(path.name for path in paths)
    runs = _runs([row for path in paths for row in _rows(path)], source)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    session = {
        "suite": suite, "text": f"description = {json.dumps(f'imported from {source}')}\n",
        "command": hide_home(command), "environment": {"orthobench": __version__},
        "started": now, "ended": now,
    }  # fmt: skip
    with Store(store, write=True) as kept:
        kept.take(session, runs)
    return len(runs)


def _rows(path: Path) -> Iterator[Row]:
    readers = {".csv": _delimited, ".tsv": _delimited, ".parquet": _parquet}
    if path.suffix not in readers:
        raise DataError(f"{path} is no table: name files that end in {', '.join(readers)}")
    try:
        with opened(path) as file:
            content = file.read()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    for number, row in readers[path.suffix](content, path.name):
        yield _row(row, f"{path.name} row {number}")


def _delimited(content: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
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


def _parquet(content: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    import pyarrow as pa
    from pyarrow.parquet import read_table

    try:
        table = read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name} is no Parquet file ({error!s:.100}): write it anew") from None
    known = [column for column in table.column_names if column in {*NEEDED, "start", "unit"}]
    yield from enumerate(table.select(known).to_pylist(), 1)


def _row(row: Mapping[str, Any], place: str) -> Row:
    if missing := [column for column in NEEDED if row.get(column) is None]:
        raise DataError(f"{place} has no {listed(missing, 5)}: every row needs {', '.join(NEEDED)}")

    def number(column: str) -> float:
        try:
            return float(row[column])
        except (TypeError, ValueError):
            raise DataError(
                f"{place} has the {column} {quoted(row[column])}: a number is needed"
            ) from None

    problem, solver = (str(row[name]).strip() for name in NEEDED[:2])
    if not (problem and solver):
        raise DataError(f"{place} names no problem or no solver: name both")
    unit = str(row.get("unit") or "cost").strip()
    unit = "seconds" if unit.lower() in SECONDS else unit
    seed, cost = number("seed"), number("cost")
    most = LONGEST_CLOCK if unit == "seconds" else LARGEST
    if not (seed.is_integer() and 0 <= seed < LARGEST):
        raise DataError(f"{place} has the seed {quoted(row['seed'])}: a whole number is needed")
    if not 0 <= cost <= most:
        raise DataError(f"{place} has the cost {quoted(row['cost'])}: 0 to {most:g} is possible")
    start = number("start") if row.get("start") not in (None, "") else math.nan
    return Row(problem, solver, int(seed), cost, number("value"), start, unit)


def _runs(rows: Sequence[Row], source: str) -> list[Run]:
    """Return the runs of all rows, problem by problem."""
    if not rows:
        raise DataError(f"{source} has no runs: it needs at least one row of data")
    unit, *others = dict.fromkeys(row.unit for row in rows)
    if others:
        raise UsageError(
            f"{source} has costs in {' and in '.join([unit, *others])}: import them apart"
        )
    broken = {row.solver for row in rows if not row.cost.is_integer()}
    if broken and unit in WHOLE:
        raise DataError(f"{source} has {unit} that are not whole numbers: mend them")
    found = []
    for of_problem in grouped(rows, lambda r: r.problem).values():
        for of_seed in grouped(of_problem, lambda r: r.seed).values():
            worst = max((r.value for r in of_seed if math.isfinite(r.value)), default=0.0)
            for solver, own in grouped(of_seed, lambda r: r.solver).items():
                stops = "" if unit == "seconds" or solver in broken else unit
                found.append(_run(own, worst, Imported(source, unit, stops)))
    return found


def _run(rows: Sequence[Row], worst: float, about: Imported) -> Run:
    """Return the run of some rows from their start, or else from the worst value."""
    problem, solver, seed = rows[0].problem, rows[0].solver, rows[0].seed
    starts = {row.start for row in rows if not math.isnan(row.start)}
    if len(starts) > 1:
        label = run_label(solver, problem, seed)
        raise DataError(f"{about.source}: {label} has several starts: each run has one")
    start = next((one for one in starts if math.isfinite(one)), worst)
    values = {0.0: start, **{r.cost: r.value for r in sorted(rows, key=lambda r: r.cost)}}
    points = _on_grid([*values.items()]) if about.stops else [*values.items()]
    sound = [*itertools.takewhile(lambda point: math.isfinite(point[1]), points)]
    stop = Termination(RunStatus.DONE, "it ended here in the harness that made it")
    if len(sound) < len(points):
        cost, value = points[len(sound)]
        stop = Termination(RunStatus.DIVERGED, f"its value is {value} at {cost:g} {about.unit}")
    facts = asdict(about) | {"digest": hashlib.sha256(repr(points).encode()).hexdigest()}
    settings = {"budget": {}, "until": None, "versions": {}, "imported": facts}
    named = {name: canonical({"name": name, "parameters": {}}) for name in (problem, solver)}
    identity = Identity(named[problem], named[solver], seed, canonical(settings))
    return Run(
        identity.key, ProblemInfo(problem, problem, {}, IMPORTED, VALUE, VALUE),
        SolverInfo(solver, name=solver), seed, stop,
        tuple(_checkpoint(cost, value, about) for cost, value in sound),
        imported=Imported(**facts), identity=identity,
    )  # fmt: skip


def _on_grid(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points at the costs at which runs are recorded here, and the end."""
    costs, last = [cost for cost, _ in points], points[-1]
    numbers = itertools.takewhile(lambda n: n < last[0], checkpoints(RATIO))
    found = [(float(n), points[bisect_right(costs, n) - 1][1]) for n in numbers]
    return [points[0], *found, last] if len(points) > 1 else [*points]


def _checkpoint(cost: float, value: float, about: Imported) -> Checkpoint:
    unit, counts = about.unit, {"steps": int(cost) if about.stops else 0}
    metrics = {VALUE: value}
    if unit in WHOLE:
        counts[unit] = int(cost)
    elif unit != "seconds":
        metrics["peak_bytes" if unit == "memory" else unit] = cost
    return Checkpoint(cost if unit == "seconds" else 0.0, 0.0, Work(**counts), metrics)
