"""The table of an atlas: one row a run, in a small Parquet file.

A row has the start, the end and the costs of a run, and no curve.
Numbers have the 7 digits of float32.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from orthobench.errors import DataError
from orthobench.tools.collections import grouped
from orthobench.tools.files import atomic_write, opened

COSTS = ("seconds", "samples", "flops")
"""The costs of a run."""

FORMAT = "orthobench atlas 5"
"""The format, in the metadata of the file."""

MOST_ROWS = 2_000_000
"""Maximum number of rows of a file."""

MOST_BYTES = 2**30
"""Maximum size of an unpacked file, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtlasRow:
    """One run of a solver, with its chosen parameters, on a problem.

    Attributes
    ----------
    suite, family : str
        Solvers are compared within a problem of a suite.
    problem, name, parameters : str
        The problem: its label, its name in the catalogue, and its parameters as JSON.
    rows, d, k, decay, noise, sparsity, ordered
        Its `Features`; 0, NaN or False if unknown.
    solver, solver_name, solver_parameters : str
        Its label, its name in the catalogue, and all of its parameters as JSON.
    seed : int
    metric : str
        The metric that is compared; smaller is better.
    start, value, lowest : float
        The metric at the start and at the end of the run (infinite for a failed run), and the
        lowest end of all solvers on this problem and seed. NaN if unknown.
    seconds, samples, flops : float
        The costs of the whole run.
    steps, enough : int
        Number of steps of the run, and the smallest number after which calls of it end within
        1 % of the gap; 0 without any.
    spent : float
        Seconds up to there.
    ending : str
        A value of `orthobench.harness.stopping.RunStatus`.
    failed : bool
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
    ordered: bool = False
    solver: str
    solver_name: str
    solver_parameters: str = "{}"
    seed: int
    metric: str
    start: float = math.nan
    value: float = math.inf
    lowest: float = math.nan
    seconds: float = math.nan
    samples: float = math.nan
    flops: float = math.nan
    steps: int = 0
    enough: int = 0
    spent: float = math.nan
    ending: str
    failed: bool = False
    machine: str = ""
    code: str = ""

    @property
    def problem_id(self) -> tuple[str, str]:
        """The suite and the problem: rows that share it are compared."""
        return self.suite, self.problem


@dataclass(frozen=True)
class Atlas:
    """The rows of an atlas, and their origin.

    Attributes
    ----------
    rows : tuple of AtlasRow
    about : mapping
        Plain values: ``date``, ``machines``, ``versions``; in a file also ``records``, a sentence
        about each solver, and ``order``, the solvers to try on each kind of problems.
    """

    rows: tuple[AtlasRow, ...]
    about: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> dict[str, list[AtlasRow]]:
        """The rows of each kind of problems (a family and a metric), sorted by name.

        The metric with the largest number of problems has the name of the family; others are called
        ``"stochastic PCA by subspace error"``.
        """
        by_kind: dict[str, list[AtlasRow]] = {}
        for family, own in grouped(self.rows, lambda row: row.family).items():
            metrics = grouped(own, lambda row: row.metric)
            counts = {name: len({row.problem_id for row in some}) for name, some in metrics.items()}
            first = min(metrics, key=lambda name: (-counts[name], name))
            for metric, some in metrics.items():
                name = family if metric == first else f"{family} by {metric.replace('_', ' ')}"
                by_kind.setdefault(name, []).extend(some)
        return dict(sorted(by_kind.items()))


def settings(text: str) -> dict[str, Any]:
    """Return the parameters in a JSON object; none if the text is not one."""
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

    about = json.dumps({**atlas.about, "format": FORMAT}, sort_keys=True)
    schema = _schema().with_metadata({"orthobench": about})
    columns = ([getattr(row, name) for row in atlas.rows] for name in KINDS)
    table = pa.table(
        [pa.array(c, kind) for c, kind in zip(columns, schema.types, strict=True)], schema=schema
    )
    with atomic_write(path) as file:
        parquet.write_table(
            table, file, compression="zstd", compression_level=19, write_statistics=False,
            write_page_checksum=True,
        )  # fmt: skip


def read(path: Path, rows: bool = True, family: str = "") -> Atlas:
    """Read an atlas; without ``rows`` only its description, with a family only its rows.

    Raises
    ------
    DataError
        If the file cannot be read, or is not an atlas.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with opened(path) as file:
            parquet_file = parquet.ParquetFile(file, page_checksum_verification=True)
            about = _about(parquet_file, path)
            found = _rows(parquet_file, path, family) if rows else ()
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"cannot read the atlas {path}: {error.strerror or error}") from None
    except (pa.ArrowException, ValueError, KeyError, RecursionError, MemoryError) as error:
        why = " ".join(str(error).split())[:200]
        raise DataError(f"the atlas {path} is damaged: make it again ({why})") from None
    return Atlas(found, about)


def _schema() -> Any:
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {"str": text, "int": pa.int64(), "bool": pa.bool_(), "float": pa.float32()}
    return pa.schema([pa.field(name, kinds[kind], nullable=False) for name, kind in KINDS.items()])


def _about(file: Any, path: Path) -> dict[str, Any]:
    about = json.loads((file.schema_arrow.metadata or {}).get(b"orthobench", b"{}"))
    if not isinstance(about, dict) or about.pop("format", "") != FORMAT:
        raise DataError(
            f"{path} is not an atlas of this version (its format is not {FORMAT!r}); "
            "`orthobench atlas` writes one"
        )
    return about


def _rows(file: Any, path: Path, family: str) -> tuple[AtlasRow, ...]:
    """Return the rows of a file."""
    from pyarrow.compute import equal

    footer = file.metadata
    size = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    if footer.num_rows > MOST_ROWS or size > MOST_BYTES:
        raise DataError(f"the atlas {path} has {footer.num_rows} rows, which is too many")
    table = file.read(columns=[*KINDS]).cast(_schema())  # which refuses missing values
    if family:
        table = table.filter(equal(table["family"], family))
    return tuple(AtlasRow(**row) for row in table.to_pylist())
