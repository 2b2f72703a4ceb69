"""Reads gene expression: from the RData file of an R package, and from tables in CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data.data_files import csv_text

from orthobench.contract import Array, DataError, UsageError


def read_rdata(path: Path, name: str) -> Array:
    """Return the matrix ``x`` of a list in an RData file of the R package datamicroarray.

    Parameters
    ----------
    path : Path
    name : str
        The name of the list in R.

    Returns
    -------
    ndarray, shape (samples, genes)

    Raises
    ------
    UsageError
        Where the package rdata is not installed.
    DataError
        Where the file is missing, damaged, or holds no such matrix of numbers.
    """
    try:
        import rdata
    except ImportError as error:
        raise UsageError(
            f"reading {path} needs the package rdata ({error}): pip install 'orthobench[data]'"
        ) from error
    try:
        # R may leave the encoding of strings open: those here are names in ASCII
        found = rdata.read_rda(path, default_encoding="ascii")
    except Exception as error:  # a damaged file may raise anything in rdata's parser
        raise DataError(f"{path} cannot be read as an RData file: {error}") from error
    entry = found.get(name)
    if not isinstance(entry, dict) or "x" not in entry:
        have = ", ".join(map(str, found)) or "nothing"
        raise DataError(f"{path} holds no list {name!r} with a matrix x in it, but {have}")
    return _numbers(entry["x"], f"x of {name!r} in {path}")


def _numbers(x: Any, what: str) -> Array:
    """Return a matrix or a data frame as float64; refuse entries that are not numbers."""
    values: NDArray[Any] = np.asarray(x)
    if values.ndim != 2 or 0 in values.shape:
        raise DataError(f"{what} must be a matrix (samples, genes), not of shape {values.shape}")
    # a data frame of integer and real columns is an array of objects
    wrong = [kind for kind in {type(v) for v in values.flat} if not issubclass(kind, Real)]
    if wrong:
        row, column = next(at for at, v in np.ndenumerate(values) if type(v) in wrong)
        raise DataError(
            f"{what} must be numbers: sample {row}, gene {column} (counted from 0) is "
            f"{str(values[row, column])!r}"
        )
    return values.astype(np.float64, order="C")


def read_csv(path: Path) -> Array:
    """Return the samples in a CSV file that has genes in lines and samples in columns.

    The first line names the samples, the first column the genes; all else are numbers.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ndarray, shape (samples, genes)
        Transposed: samples in rows.

    Raises
    ------
    DataError
        Names the line, and what is wrong with it.
    """
    with csv_text(path) as stream:
        lines = csv.reader(stream)
        header = next(lines, [])
        _check_header(path, header)
        genes = list(_genes(path, lines, len(header)))
    if not genes:
        raise DataError(f"{path} has no line of numbers after the first")
    return np.array(genes).T.copy()


def _check_header(path: Path, header: list[str]) -> None:
    if len(header) < 2:
        raise DataError(
            f"{path}, line 1 must name the samples, separated by commas, but has "
            f"{len(header)} field{'' if len(header) == 1 else 's'}"
        )
    if all(map(_finite, header)):
        raise DataError(
            f"{path}, line 1 must name the samples, and the first column the genes, but holds "
            "numbers only"
        )


def _genes(path: Path, lines: Iterable[list[str]], fields: int) -> Iterator[Array]:
    """Yield the numbers of each line that is not empty."""
    for at, line in enumerate(lines, start=2):
        if not line:
            continue
        if len(line) != fields:
            raise DataError(f"{path}, line {at} has {len(line)} fields, the first line {fields}")
        try:
            numbers = np.array(line[1:], dtype=np.float64)
        except ValueError:
            numbers = np.full(fields - 1, np.nan)
        if not np.isfinite(numbers).all():
            column = next(i for i, field in enumerate(line[1:], 2) if not _finite(field))
            raise DataError(
                f"{path}, line {at}, column {column} is not a finite number: {line[column - 1]!r}"
            )
        yield numbers


def _finite(field: str) -> bool:
    try:
        return isfinite(float(field))
    except ValueError:
        return False
