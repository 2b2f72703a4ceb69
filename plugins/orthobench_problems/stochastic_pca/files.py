"""Your own data: a matrix in a .npy file, which may be larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    ArraySource,
    DataError,
    Instance,
    SampleOracle,
    UsageError,
    parameter,
)
from orthobench.families.stochastic_pca import StochasticPCA, stochastic_pca
from orthobench_problems import npy
from orthobench_problems.normalization import (
    NORMALIZATION_HELP,
    NORMALIZATIONS,
    normalization_of,
)
from orthobench_problems.stochastic_pca.parts import Rows, check_dimension


@dataclass(frozen=True)
class NpyPCA(StochasticPCA):
    """Your own matrix (samples, features) in a .npy file, which may be larger than memory.

    Centred and scaled so that E|x|² = 1 over all rows, unless `normalization` says "none": step
    sizes that suit one data set then suit others. All rows are checked and measured first, which
    reads the file once more, or twice.

    The first rows are for training, the next for validation, the last for the test, each read
    in file order, which suits a file larger than memory whose rows are in no order; with
    `shuffle` the rows are drawn into the parts, and read, at random. A pass keeps a few blocks
    of rows in memory; the judge reads its part once, block by block, and keeps min(rows of the
    part, d) times d numbers.
    """

    name = "npy-pca"

    path: str = parameter(help="the .npy file: a matrix (samples, features) of real numbers")
    k: int = parameter(1, help="dimension of the subspace", low=1)
    validation: float = parameter(0.2, help="share of the rows to tune on", low=0.0, below=1.0)
    test: float = parameter(0.4, help="share of the rows for the judge", above=0.0, below=1.0)
    normalization: str = parameter(
        "common", help=f"{NORMALIZATION_HELP}, or none", choices=(*NORMALIZATIONS, "none")
    )
    shuffle: bool = parameter(False, help="draw the parts at random rather than in file order")
    passes: int = parameter(1, help="how often the training part is gone through", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation + self.test >= 1:
            share = self.validation + self.test
            raise UsageError(
                f"validation and test take {share:g} of the rows: nothing is left to train on"
            )

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        """Return the instance; `rng` draws the parts where they are shuffled.

        Raises
        ------
        DataError
            Where the file is missing, or no matrix of real numbers in C order.
        UsageError
            On k > d.
        """
        rows = npy.ordered(Path(self.path).expanduser())
        check_dimension(self.k, rows.shape[1])
        order = rng.permutation(len(rows)) if self.shuffle else range(len(rows))
        train, validation, test = self._parts(rows, order)
        return stochastic_pca(train, self.k, validation=validation, test=test)

    def checksum(self) -> str:
        """Return `orthobench_problems.npy.checksum` of the file, which does not read every byte."""
        return npy.checksum(Path(self.path).expanduser())

    def _parts(
        self, rows: NDArray[np.generic], order: Rows | range
    ) -> tuple[ArraySource, ArraySource | None, ArraySource]:
        n = len(rows)
        centre, scale = _normalization(self.path, self.checksum(), self.normalization)
        test, validation = round(n * self.test), round(n * self.validation)
        train = n - test - validation
        if min(train, test) < 1 or (self.validation and not validation):
            raise DataError(f"{self.path} has {n} rows: too few for the parts asked for")

        def part(which: Rows | range, passes: int = 1) -> ArraySource:
            return ArraySource(rows, which, passes, scale, centre)

        held_out = part(order[train : n - test]) if validation else None
        return part(order[:train], self.passes), held_out, part(order[n - test :])


@lru_cache(maxsize=4)
def _normalization(
    path: str, checksum: str, normalization: str
) -> tuple[float | Array, float | Array]:
    """Return the centre and the scale; refuse rows that are not finite. Once for each file."""
    del checksum
    rows = npy.ordered(Path(path).expanduser())
    if normalization != "none":
        return normalization_of(rows, normalization)
    for _ in ArraySource(rows).checked_pass():
        pass
    return 0.0, 1.0
