"""Prostate cancer: the gene expression data of Singh et al. (2002)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data import data_files

from orthobench.contract import Array, DataError, Instance, UsageError, parameter
from orthobench.tools.datasets import DataFile
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.problems.parts import (
    SCALING_HELP,
    SCALINGS,
    SplitProblem,
    check_components,
    split_parts,
)

_REPOSITORY = "https://raw.githubusercontent.com/ramhiser/datamicroarray"

SINGH = DataFile(
    "singh.RData",
    "5197cdae41c6e25b9a59cfda23fd9434c25b7406ed1942c5ca074e140e5c2cff",
    (
        f"{_REPOSITORY}/052005822fa6ed5e9342e174fa6032388d5400c1/data/singh.RData",
        f"{_REPOSITORY}/master/data/singh.RData",
    ),
    "Singh et al. 2002, Cancer Cell 1, as the R package datamicroarray has it (ramhiser; MIT)",
)

GENES, SAMPLES = 12600, 102


@dataclass(frozen=True)
class Prostate(SplitProblem):
    """Expression of 12,600 genes in 52 prostate tumours and 50 normal samples (Singh et al. 2002).

    These are the data of Figure 1 of Shalit and Chechik (2014, section 4.3), judged on all 102
    samples. With ``test=20`` the setting, though not the data, is that of their Figure 2: samples
    held out at random, with mean and scale from the training part. Genes that are constant there
    are dropped. Reading needs the package rdata (the extra ``data``).

    Your own CSV file (`path`) has genes in lines and samples in columns, with names in the first
    line and column.
    """

    name = "prostate"
    source = "gene expression (Singh et al. 2002)"

    m: int = parameter(5, help="components sought", low=1)
    scaling: str = parameter("standardized", help=SCALING_HELP, choices=SCALINGS)
    test: int = parameter(0, help="samples held out for the judge; 0: none", low=0)
    path: str | None = parameter(
        None, help="your own download instead: a CSV file, genes in lines, samples in columns"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples is not None:
            check_components(self.m, GENES, self.samples)

    @property
    def samples(self) -> int | None:
        return SAMPLES - self.test if self.path is None else None

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        X = self._read()
        check_components(self.m, X.shape[1], len(X) - self.test)
        parts = split_parts(X, self.test, self.scaling, rng)
        return self.instance(parts, rng)

    def checksum(self) -> str:
        return data_files.checksum(self.path, SINGH)

    def _read(self) -> Array:
        return _samples(*data_files.located(self.path, SINGH), self.path is None)


@lru_cache(maxsize=2)
def _samples(file: Path, checksum: str, published: bool) -> Array:
    del checksum
    X = read_rdata(file, "singh") if published else read_csv(file)
    X.flags.writeable = False
    return X


def read_rdata(path: Path, name: str) -> Array:
    """Return the matrix ``x`` (samples, genes) of the R list `name` in an RData file.

    UsageError without the package rdata; DataError if the file is missing, damaged, or has no such
    matrix of numbers.
    """
    try:
        import rdata
    except ImportError as error:
        raise UsageError(
            f"reading {path} needs the package rdata ({error}): pip install 'orthobench[data]'"
        ) from error
    try:
        # R may leave the encoding of strings open: names here are ASCII
        found = rdata.read_rda(path, default_encoding="ascii")
    except Exception as error:  # a damaged file may raise anything in rdata's parser
        raise DataError(f"{path} cannot be read as an RData file: {error}") from error
    entry = found.get(name)
    if not isinstance(entry, dict) or "x" not in entry:
        have = ", ".join(map(str, found)) or "nothing"
        raise DataError(f"{path} holds no list {name!r} with a matrix x in it, but {have}")
    return _numbers(entry["x"], f"x of {name!r} in {path}")


def _numbers(x: Any, what: str) -> Array:
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
    """Return the samples (samples, genes) of a CSV file, as `Prostate` describes it.

    DataError if a line is wrong.
    """
    with data_files.csv_text(path) as stream:
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
    for at, line in enumerate(lines, start=2):
        if not line:
            continue
        if len(line) != fields:
            raise DataError(f"{path}, line {at} has {len(line)} fields, the first line {fields}")
        for column, field in enumerate(line[1:], start=2):
            if not _finite(field):
                raise DataError(
                    f"{path}, line {at}, column {column} is not a finite number: {field!r}"
                )
        yield np.array(line[1:], dtype=np.float64)


def _finite(field: str) -> bool:
    try:
        return isfinite(float(field))
    except ValueError:
        return False
