"""Your own samples: the moments of a matrix in a .npy file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, ArraySource, DataError, UsageError, parameter
from orthobench.families.symmetric_tucker import SymmetricTucker, TuckerInstance, symmetric_tucker
from orthobench.tools.memory import refusal_of
from orthobench_problems import npy
from orthobench_problems.normalization import NORMALIZATIONS, normalization_of

Rows: TypeAlias = "NDArray[np.intp] | range"


@dataclass(frozen=True)
class NpyMoment(SymmetricTucker):
    """The moments of your own samples, a matrix (samples, features) in a .npy file.

    Samples are rows, as `npy-pca` has them: save ``X.T`` of the paper's X (n, p). They are
    centred over all rows, so that the moments are those about the mean (``centre=false``: about
    the origin), and scaled: by one factor that makes the mean variance of a feature 1, which
    changes no basis but lets step sizes that suit one data set suit others; or each feature to
    variance 1 (``normalization="per-feature"``: coskewness, cokurtosis); or not at all
    (``"none"``). All rows are checked and measured first, which reads the file twice.

    The rows are drawn into the parts at random, or with ``shuffle=false`` cut in file order:
    training, validation, test. They are read into memory, 8 bytes a number; with ``stream=true``
    those of the training part are not, and may be larger than memory, but only streaming solvers
    can take the problem then.
    """

    name = "npy-moment"
    tuned_by: ClassVar[str] = "validation_relative_error"

    path: str = parameter(help="the .npy file: a matrix (samples, features) of real numbers")
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
        "common",
        help="one common factor, or every feature by its standard deviation, or none",
        choices=(*NORMALIZATIONS, "none"),
    )
    shuffle: bool = parameter(True, help="draw the parts at random rather than in file order")
    stream: bool = parameter(False, help="leave the training rows in the file: they only stream")
    passes: int = parameter(1, help="how often a stream goes through the training part", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation + self.test >= 1:
            share = self.validation + self.test
            raise UsageError(
                f"validation and test take {share:g} of the rows: nothing is left to train on"
            )
        if self.stream and not self.test:
            raise UsageError("stream = true and test = 0: a stream needs a test part")

    @property
    def tensor_shape(self) -> tuple[int, ...] | None:
        """(n,) * order, from the file's header; None where it cannot be read."""
        try:
            return (npy.mapped(self._file).shape[1],) * self.order
        except DataError:
            return None

    @property
    def streamed(self) -> bool:
        """Whether the training part only streams."""
        return self.stream

    def build(self, rng: np.random.Generator) -> TuckerInstance:
        """Return the instance; `rng` draws the parts where they are shuffled.

        Raises
        ------
        DataError
            Where the file is missing, or no matrix of finite real numbers, or is to stream and
            not in C order; where it has too few rows for its parts, or their moment is zero.
        UsageError
            On a rank larger than the number of features, or rows that do not fit into memory.
        """
        rows = npy.ordered(self._file) if self.stream else _rows(self._file)
        if self.rank > rows.shape[1]:
            raise UsageError(
                f"rank = {self.rank} is more than the {rows.shape[1]} features in {self.path}"
            )
        train, held = self._sizes(len(rows))
        self._check_memory(held + (0 if self.stream else train), rows.shape[1])
        order = rng.permutation(len(rows)) if self.shuffle else range(len(rows))
        try:
            return self._instance(rows, order[:train], order[train:])
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    def checksum(self) -> str:
        """Return `orthobench_problems.npy.checksum` of the file, which does not read every byte."""
        return npy.checksum(self._file)

    @property
    def _file(self) -> Path:
        return Path(self.path).expanduser()

    def _sizes(self, count: int) -> tuple[int, int]:
        """Return how many rows are to train on, and how many are held out."""
        test, validation = round(count * self.test), round(count * self.validation)
        train = count - test - validation
        if train < 1 or not validation or (self.test and not test):
            raise DataError(f"{self.path} has {count} rows: too few for the parts asked for")
        return train, test + validation

    def _check_memory(self, rows: int, n: int) -> None:
        refusal = refusal_of(8 * rows * n, f"{self.path}: {rows:,} rows of {n} numbers")
        if refusal is not None:
            advice = "hold out less" if self.stream else "set stream = true, or hold out less"
            raise UsageError(f"{refusal}; {advice}")

    def _instance(self, rows: NDArray[np.generic], train: Rows, held: Rows) -> TuckerInstance:
        centre, scale = _normalization(self.path, self.checksum(), self.normalization, self.centre)

        def part(which: Rows, passes: int = 1) -> ArraySource:
            return ArraySource(rows, which, passes, scale, centre)

        validation = round(len(rows) * self.validation)
        test = _columns(part(held[validation:])) if self.test else None
        return symmetric_tucker(
            samples=part(train, self.passes) if self.stream else _columns(part(train)),
            order=self.order,
            rank=self.rank,
            test=test,
            validation=_columns(part(held[:validation])),
            passes=1 if self.stream else self.passes,
        )


def _rows(path: Path) -> NDArray[np.generic]:
    """Return the matrix in a file: as a memory map, or read where its order is Fortran's."""
    rows = npy.mapped(path)
    return rows if rows.flags.c_contiguous else np.ascontiguousarray(rows)


def _columns(source: ArraySource) -> Array:
    """Return the rows of a source as columns, in Fortran order."""
    X = np.empty((source.length, source.d))
    begin = 0
    for block in source.one_pass():
        X[begin : begin + len(block)] = block
        begin += len(block)
    return X.T


@lru_cache(maxsize=4)
def _normalization(
    path: str, checksum: str, normalization: str, centred: bool
) -> tuple[Array, Array]:
    """Return the centre and the scale; refuse rows that are not finite. Once for each file."""
    del checksum
    rows = _rows(Path(path).expanduser())
    centre, scale = normalization_of(rows, normalization, centred)
    return centre, scale if normalization == "none" else scale * sqrt(len(scale))
