"""Samples in Parquet files, a column for each feature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError, UsageError
from orthobench.tools.arrays import matrix
from orthobench.tools.files import opened
from orthobench_kit.data import npy
from orthobench_kit.rows import LARGEST_CHUNK, Rows, refuse_unwritten


class ParquetRows(Rows):
    """The rows of a Parquet file of numeric columns, read a row group at a time.

    Raises
    ------
    DataError
        If it cannot be read, is empty, has other columns, or row groups too large for memory.
    UsageError
        If pyarrow is not installed.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        metadata, schema = self._header()
        kinds = {str(field.type) for field in schema}
        self.dtype = np.dtype(np.float32 if kinds == {"float"} else np.float64)
        self.shape = (metadata.num_rows, len(schema))
        matrix(self, f"the samples in {file}")
        refuse_unwritten(self.shape, file.stat().st_size, f"the samples in {file}")
        groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self.borders = np.cumsum([0, *filter(None, groups)]).astype(np.intp)
        if max(groups) * 8 * len(schema) > LARGEST_CHUNK:
            raise DataError(
                f"{file} has row groups of {max(groups)} rows, too many to read at once: write it "
                f"with row_group_size={max(1, LARGEST_CHUNK // (8 * len(schema)))} at most"
            )

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        groups = np.searchsorted(self.borders, [begin, end - 1], side="right") - 1
        first, last = int(groups[0]), int(groups[1])
        try:
            with opened(self.file) as stream:
                table = _parquet().ParquetFile(stream).read_row_groups([*range(first, last + 1)])
            rows = np.empty((table.num_rows, self.shape[1]), self.dtype)
            for number, column in enumerate(table.columns):
                rows[:, number] = column.to_numpy()
        except Exception as error:
            raise npy.unreadable(self.file, error, "a Parquet file") from error
        offset = int(self.borders[first])
        return rows[begin - offset : end - offset]

    def place(self, row: int) -> tuple[str, int]:
        return str(self.file), row

    def _header(self) -> tuple[Any, Any]:
        parquet = _parquet()
        try:
            with opened(self.file) as stream:
                file = parquet.ParquetFile(stream)
                metadata, schema = file.metadata, file.schema_arrow
        except Exception as error:
            raise npy.unreadable(self.file, error, "a Parquet file") from error
        numeric = ("bool", "int", "uint", "float", "halffloat", "double")
        for field in schema:
            if str(field.type).rstrip("0123456789") not in numeric:
                raise DataError(
                    f"column {field.name!r} of {self.file} holds {field.type}, not real numbers"
                )
        return metadata, schema


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError("Parquet files need pyarrow: pip install 'orthobench[export]'") from error
    return parquet
