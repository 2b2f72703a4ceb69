"""Your own matrix in files, which may be larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from orthobench_kit.data import row_files
from orthobench_kit.data.normalization import NORMALIZATION_HELP, NORMALIZATIONS, normalization_of
from orthobench_kit.data.row_files import IO, IO_HELP, PATH_HELP, AnyRows, rows_at
from orthobench_kit.data.shares import check_shares, part_sizes
from orthobench_kit.sources import ArraySource

from orthobench.contract import Array, DataError, Instance, SampleOracle, parameter
from orthobench_stochastic_pca import StochasticPCA, stochastic_pca
from orthobench_stochastic_pca.problems.parts import PASSES_HELP, Rows, check_dimension


@dataclass(frozen=True)
class NpyPCA(StochasticPCA):
    """Streaming PCA of your own matrix (samples, features) in files, larger than memory or not.

    One .npy file; ``parts/*.npy`` or ``parts/*.parquet``, files in the order of their names,
    numbers in them compared as numbers; a data set ``X.h5/NAME`` of an HDF5 file; or an array
    ``X.zarr/NAME`` of a Zarr store.

    Rows are centred and scaled so that E|x|² = 1 over all of them, unless `normalization` is
    "none". All rows are checked first, which reads the file once or twice more. The rows of .npy
    files are drawn into the parts at random, and read so, which is slow for a file larger than
    memory. For other files, and with ``shuffle=false``, the parts are cut and read in file order. A
    pass keeps some blocks of rows in memory. The judge reads each of its parts once, and keeps
    min(rows of the part, d) times d numbers.
    """

    name = "npy-stochastic-pca"

    path: str = parameter(help=PATH_HELP)
    k: int = parameter(1, help="dimension of the subspace", low=1)
    validation: float = parameter(0.2, help="share of the rows to tune on", low=0.0, below=1.0)
    test: float = parameter(0.4, help="share of the rows for the judge", above=0.0, below=1.0)
    normalization: str = parameter(
        "common", help=f"{NORMALIZATION_HELP}, or none", choices=(*NORMALIZATIONS, "none")
    )
    shuffle: bool | None = parameter(
        None, help="draw the parts at random rather than in file order; by default of .npy files"
    )
    passes: int = parameter(1, help=PASSES_HELP, low=1)
    io: str = parameter("untimed", help=IO_HELP, choices=IO)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self.validation, self.test)

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        """Return the instance; `rng` draws the parts if they are shuffled.

        Raises
        ------
        DataError
            If a file is missing, has no matrix of real numbers in C order, or differs from the
            others, or there are too few rows for the parts.
        UsageError
            If k > d.
        """
        rows = rows_at(self.path)
        check_dimension(self.k, rows.shape[1])
        able = isinstance(rows, np.ndarray) or rows.random
        shuffle = able if self.shuffle is None else self.shuffle
        order = rng.permutation(len(rows)) if shuffle else range(len(rows))
        train, validation, test = self._parts(rows, order)
        return stochastic_pca(train, self.k, validation=validation, test=test)

    def checksum(self) -> str:
        return row_files.checksum(self.path)

    def _parts(
        self, rows: AnyRows, order: Rows | range
    ) -> tuple[ArraySource, ArraySource | None, ArraySource]:
        centre, scale = _normalization(self.path, self.checksum(), self.normalization)
        train, validation, _ = part_sizes(len(rows), self.validation, self.test, self.path)

        def part(which: Rows | range, passes: int = 1) -> ArraySource:
            return ArraySource(rows, which, passes, scale, centre)

        end = train + validation
        held_out = part(order[train:end]) if validation else None
        seen = part(order[:train], self.passes)
        seen.timed = self.io == "timed"
        return seen, held_out, part(order[end:])


@lru_cache(maxsize=4)
def _normalization(
    path: str, checksum: str, normalization: str
) -> tuple[float | Array, float | Array]:
    """Return centre and scale; refuse rows that are not finite."""
    del checksum
    rows = rows_at(path)
    if normalization != "none":
        try:
            return normalization_of(rows, normalization)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
    for _ in ArraySource(rows).checked_pass():
        pass
    return 0.0, 1.0
