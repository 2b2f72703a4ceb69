"""Moments of your own samples, in one file or many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data import row_files
from orthobench_kit.data.normalization import NORMALIZATION_HELP, NORMALIZATIONS, normalization_of
from orthobench_kit.data.row_files import IO, IO_HELP, PATH_HELP, AnyRows, rows_at
from orthobench_kit.data.shares import check_shares, part_sizes
from orthobench_kit.memory import refusal_of
from orthobench_kit.sources import ArraySource

from orthobench.contract import Array, DataError, Instance, UsageError, parameter
from orthobench.errors import OrthobenchError
from orthobench_tucker import SymmetricTucker, TuckerOracle, symmetric_tucker

Rows: TypeAlias = "NDArray[np.intp] | range"
"""Indices of rows."""


@dataclass(frozen=True)
class NpyMoment(SymmetricTucker):
    """The moments of your own samples, a matrix (samples, features) in files.

    Samples are centred over all rows (``centre=false``: moments about the origin), and scaled by
    one factor that makes the mean variance of a feature 1 (``normalization="per-feature"``: each
    variance; ``"none"``: no scaling). All rows are checked first, which reads the file twice.

    The rows are drawn into the parts at random, or with ``shuffle=false`` cut in file order:
    training, validation, test. They are read into memory, 8 bytes a number. With ``stream=true``
    the training rows stay in the file, and only streaming solvers take the problem.
    """

    name = "npy-moment"
    tuned_by: ClassVar[str] = "validation_relative_error"

    path: str = parameter(help=PATH_HELP)
    order: int = parameter(3, help="order d of the moment", low=2)
    rank: int = parameter(5, help="columns of the basis sought", low=1)
    validation: float = parameter(0.2, help="share of the rows to tune on", above=0.0, below=1.0)
    test: float = parameter(
        0.2,
        help="share of the rows for the judge; 0: it measures on those that solvers see",
        low=0.0,
        below=1.0,
    )
    centre: bool = parameter(True, help="moments about the mean rather than about the origin")
    normalization: str = parameter(
        "common", help=f"{NORMALIZATION_HELP}, or none", choices=(*NORMALIZATIONS, "none")
    )
    shuffle: bool = parameter(True, help="draw the parts at random rather than in file order")
    stream: bool = parameter(False, help="leave the training rows in the file: they only stream")
    passes: int = parameter(1, help="how often a stream goes through the training part", low=1)
    io: str = parameter("untimed", help=IO_HELP, choices=IO)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self.validation, self.test)
        if self.stream and not self.test:
            raise UsageError("stream = true and test = 0: a stream needs a test part")

    @property
    def tensor_shape(self) -> tuple[int, ...] | None:
        try:
            return (rows_at(self.path, in_order=False).shape[1],) * self.order
        except OrthobenchError:
            return None

    @property
    def streamed(self) -> bool:
        return self.stream

    def build(self, rng: np.random.Generator) -> Instance[TuckerOracle]:
        """Return the instance; `rng` draws the parts if they are shuffled.

        Raises
        ------
        DataError
            If the file is missing, has no matrix of finite real numbers, or too few rows for its
            parts; if a file to stream is not in C order; if the moment is zero.
        UsageError
            If the rank exceeds the number of features, or the rows do not fit into memory.
        """
        rows = rows_at(self.path) if self.stream else _rows(self.path)
        if self.rank > rows.shape[1]:
            raise UsageError(
                f"rank = {self.rank} is more than the {rows.shape[1]} features in {self.path}"
            )
        train, *held = part_sizes(len(rows), self.validation, self.test, self.path)
        self._check_memory(sum(held) + (0 if self.stream else train), rows.shape[1])
        order = rng.permutation(len(rows)) if self.shuffle else range(len(rows))
        try:
            return self._instance(rows, order[:train], order[train:])
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    def checksum(self) -> str:
        return row_files.checksum(self.path)

    def _check_memory(self, rows: int, n: int) -> None:
        refusal = refusal_of(8 * rows * n, f"{self.path}: {rows:,} rows of {n} numbers")
        if refusal is not None:
            advice = "hold out less" if self.stream else "set stream = true, or hold out less"
            raise UsageError(f"{refusal}; {advice}")

    def _instance(self, rows: AnyRows, train: Rows, held: Rows) -> Instance[TuckerOracle]:
        centre, scale = _normalization(self.path, self.checksum(), self.normalization, self.centre)

        def part(which: Rows, passes: int = 1) -> ArraySource:
            return ArraySource(rows, which, passes, scale, centre)

        validation = round(len(rows) * self.validation)
        test = _in_memory(part(held[validation:])) if self.test else None
        seen = part(train, self.passes)
        seen.timed = self.io == "timed"
        return symmetric_tucker(
            seen if self.stream else _in_memory(seen),
            order=self.order,
            rank=self.rank,
            test=test,
            validation=_in_memory(part(held[:validation])),
            passes=1 if self.stream else self.passes,
        )


def _rows(path: str) -> AnyRows:
    """Return `rows_at`, read into memory from Fortran order."""
    rows = rows_at(path, in_order=False)
    if not isinstance(rows, np.ndarray) or rows.flags.c_contiguous:
        return rows
    return np.ascontiguousarray(rows)


def _in_memory(source: ArraySource) -> Array:
    X = np.empty((source.length, source.d))
    begin = 0
    for block in source.one_pass():
        X[begin : begin + len(block)] = block
        begin += len(block)
    return X


@lru_cache(maxsize=4)
def _normalization(
    path: str, checksum: str, normalization: str, centred: bool
) -> tuple[Array, Array]:
    """Return centre and scale; refuse rows that are not finite."""
    del checksum
    rows = _rows(path)
    centre, scale = normalization_of(rows, normalization, centred)
    return centre, scale if normalization == "none" else scale * sqrt(len(scale))
