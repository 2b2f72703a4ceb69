"""Your own data: a matrix in a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.columns import warn_of_constant
from orthobench_kit.data import row_files
from orthobench_kit.data.row_files import PATH_HELP, rows_at
from orthobench_kit.rows import Rows

from orthobench.contract import Array, DataError, Instance, UsageError, parameter
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.problems.parts import (
    SCALING_HELP,
    SCALINGS,
    Parts,
    SplitProblem,
    check_components,
    split_parts,
)


@dataclass(frozen=True)
class NpySparse(SplitProblem):
    """Your own matrix in files, with samples in rows, see `npy-stochastic-pca`.

    It is read into memory, split at random if a test part is asked for, and scaled by the training
    part. A feature that is constant there has loading 0.
    """

    name = "npy-sparse"

    path: str = parameter(help=PATH_HELP)
    m: int = parameter(5, help="components sought", low=1)
    scaling: str = parameter(
        "standardized", help=f"{SCALING_HELP}, or none", choices=(*SCALINGS, "none")
    )
    test: float = parameter(
        0.0, help="share of the samples held out for the judge", low=0.0, below=1.0
    )

    @property
    def samples(self) -> int | None:
        try:
            n = len(rows_at(self.path, in_order=False))
        except (DataError, UsageError):
            return None
        return n - self._held_out(n)

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        found = rows_at(self.path, in_order=False)
        rows = found.read(0, len(found)) if isinstance(found, Rows) else found
        n, d = rows.shape
        held_out = self._held_out(n)
        if self.test and not held_out:
            raise UsageError(f"test = {self.test:g} of {n} samples is less than one sample")
        check_components(self.m, d, n - held_out)
        try:
            parts = split_parts(rows, held_out, self.scaling, rng)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None
        constant = np.ones(d, dtype=bool)
        constant[parts.features] = False
        warn_of_constant(constant, self.path)
        return self.instance(_in_place(parts, d), rng)

    def checksum(self) -> str:
        return row_files.checksum(self.path)

    def _held_out(self, n: int) -> int:
        return round(n * self.test)


def _in_place(parts: Parts, d: int) -> Parts:
    def whole(part: Array) -> Array:
        found = np.zeros((len(part), d))
        found[:, parts.features] = part
        return found

    test = None if parts.test is None else whole(parts.test)
    return Parts(whole(parts.train), test, np.arange(d))
