"""The table of an atlas: one row a run, in a small Parquet file.

A row has what answers are made of, and no curve: where the run began and ended, and what it cost.
Numbers have the 7 digits of float32.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from orthobench.errors import DataError
from orthobench.tools.collections import grouped
from orthobench.tools.files import atomic_write, opened

COSTS = ("seconds", "samples", "flops")
"""What a run costs."""

FORMAT = "orthobench atlas 3"
"""What the file says that it is."""

MOST_ROWS = 2_000_000
"""A file with more rows, or with `MOST_BYTES` once it is unpacked, is not read."""

MOST_BYTES = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class AtlasRow:
    """One run of a solver, with its chosen parameters, on a problem.

    Attributes
    ----------
    suite, family : str
        Solvers are compared within a problem of a suite.
    problem, name, parameters : str
        The problem: its label, its name in the catalogue, and its parameters as JSON.
    rows, d, k : int
        Rows of data (samples, where they are drawn), dimension and number of columns sought; 0
        if unknown.
    decay, noise, sparsity : float
        Features of the data; NaN if unknown.
    solver, solver_name, solver_parameters : str
        Its label, its name in the catalogue, and all of its parameters as JSON, those that tuning
        chose among them.
    on : str
        Library, device and precision it computed with.
    seed : int
    metric : str
        The metric that is compared; smaller is better.
    start, value, lowest : float
        Its value at the start and at the end of the run (infinite if that failed), and the
        smallest that any solver reached on this problem and seed. NaN if unknown.
    seconds, samples, flops : float
        The costs of the whole run.
    ending, reason : str
        How and why it ended; `orthobench.harness.stopping.RunStatus` has the endings.
    failed : bool
        Whether it counts as a failure.
    memory : float
        Bytes that the solver's calls took at most beside the data, where a run measured it; NaN
        elsewhere.
    machine : str
        The processor.
    code : str
        A digest of the solver's own code; empty if unknown.
    """

    suite: str
    family: str
    problem: str
    name: str
    parameters: str = "{}"
    rows: int = 0
    d: int = 0
    k: int = 0
    decay: float = math.nan
    noise: float = math.nan
    sparsity: float = math.nan
    solver: str
    solver_name: str
    solver_parameters: str = "{}"
    on: str = "numpy"
    seed: int
    metric: str
    start: float = math.nan
    value: float = math.inf
    lowest: float = math.nan
    seconds: float = math.nan
    samples: float = math.nan
    flops: float = math.nan
    ending: str
    reason: str = ""
    failed: bool = False
    memory: float = math.nan
    machine: str = ""
    code: str = ""

    @property
    def problem_id(self) -> tuple[str, str]:
        """The suite and the problem: rows that share it are compared."""
        return self.suite, self.problem


@dataclass(frozen=True)
class Atlas:
    """The rows of an atlas, and where they come from.

    Attributes
    ----------
    rows : tuple of AtlasRow
    about : mapping
        Plain values: ``date``, ``machine``, ``versions``, ``suites``; in a file also ``records``,
        how each solver did, in a sentence, and ``order``, in which to try those of each kind of
        problems.
    """

    rows: tuple[AtlasRow, ...]
    about: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> dict[str, list[AtlasRow]]:
        """The rows of each kind of problems, a family and a metric, in the order of their names."""
        return kinds(self.rows)


def kinds(rows: Sequence[AtlasRow]) -> dict[str, list[AtlasRow]]:
    """Return the rows of each kind of problems: a family, and the metric that is compared.

    A kind is called as its family. If a family has several metrics, only the one with the most
    problems is; the others are called ``"stochastic PCA by subspace error"``.
    """
    by_kind: dict[str, list[AtlasRow]] = {}
    for family, own in grouped(rows, lambda row: row.family).items():
        metrics = grouped(own, lambda row: row.metric)
        problems = {name: len({row.problem_id for row in some}) for name, some in metrics.items()}
        first = min(metrics, key=lambda name: (-problems[name], name))
        for metric, some in metrics.items():
            name = family if metric == first else f"{family} by {metric.replace('_', ' ')}"
            by_kind.setdefault(name, []).extend(some)
    return {name: by_kind[name] for name in sorted(by_kind)}


def settings(text: str) -> dict[str, Any]:
    """Return the parameters that a row has as JSON; none if the text is something else."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


KINDS = {one.name: str(one.type) for one in fields(AtlasRow)}
"""The type of each attribute of a row, which is a column of the file."""


def write(atlas: Atlas, path: Path) -> None:
    """Write an atlas as Parquet; all of it or nothing, and equal atlases as equal bytes.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema = _schema()
    columns = []
    for name, kind in KINDS.items():
        values = [getattr(row, name) for row in atlas.rows]
        if kind == "float":  # counts beyond 2^24 are no whole numbers of 32 bits
            values = [*map(float, values)]
        columns.append(pa.array(values).cast(schema.field(name).type))
    about = json.dumps({**atlas.about, "format": FORMAT}, sort_keys=True)
    table = pa.table(columns, schema=schema.with_metadata({"orthobench": about}))
    with atomic_write(path) as file:
        parquet.write_table(
            table, file, compression="zstd", compression_level=19, write_statistics=False,
            write_page_checksum=True,
        )  # fmt: skip


def read(path: Path, rows: bool = True) -> Atlas:
    """Read an atlas.

    Parameters
    ----------
    path : Path
    rows : bool
        Whether its rows are wanted, too, or only what it says of itself.

    Raises
    ------
    DataError
        If the file cannot be read, or is no atlas.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with opened(path) as file:
            parquet_file = parquet.ParquetFile(file, page_checksum_verification=True)
            about = _about(parquet_file, path)
            if not rows:
                return Atlas((), about)
            _refuse_huge(parquet_file, path)
            table = parquet_file.read(columns=[*KINDS])
            _check_types(table, path)
            columns = [column.to_pylist() for column in table.columns]
    except OSError as error:
        raise DataError(f"cannot read the atlas {path}: {error.strerror or error}") from None
    except (pa.ArrowException, ValueError, KeyError, RecursionError, MemoryError) as error:
        if isinstance(error, DataError):
            raise
        why = " ".join(str(error).split())[:200]
        raise DataError(f"the atlas {path} is damaged: make it again ({why})") from None
    names = table.column_names
    made = (AtlasRow(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True))
    return Atlas(tuple(made), about)


def _schema() -> Any:
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {"str": text, "int": pa.int64(), "bool": pa.bool_(), "float": pa.float32()}
    return pa.schema([(name, kinds[kind]) for name, kind in KINDS.items()])


def _about(file: Any, path: Path) -> dict[str, Any]:
    """Return what a Parquet file says of itself, if that is an atlas."""
    text = (file.schema_arrow.metadata or {}).get(b"orthobench", b"{}")
    about = json.loads(text)
    if not isinstance(about, dict) or about.pop("format", "") != FORMAT:
        raise DataError(
            f"{path} is no atlas of this version: it does not say that it is {FORMAT!r}; "
            "`orthobench atlas` writes one"
        )
    missing = KINDS.keys() - set(file.schema_arrow.names)
    if missing:
        raise DataError(f"the atlas {path} is damaged: it has no column {min(missing)!r}")
    return about


def _refuse_huge(file: Any, path: Path) -> None:
    footer = file.metadata
    groups = map(footer.row_group, range(footer.num_row_groups))
    if footer.num_rows > MOST_ROWS or sum(g.total_byte_size for g in groups) > MOST_BYTES:
        raise DataError(f"the atlas {path} has {footer.num_rows} rows, more than are read")


def _check_types(table: Any, path: Path) -> None:
    """Refuse columns that have other types than ours, or lack a value."""
    for field_, column in zip(_schema(), table.select([*KINDS]).columns, strict=True):
        if column.type != field_.type or column.null_count:
            kind = KINDS[field_.name]
            raise DataError(f"the atlas {path} is damaged: {field_.name!r} is not always {kind}")
