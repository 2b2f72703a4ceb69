"""Your own data: a matrix in a .npy file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.data import npy

from orthobench.contract import DataError, Instance, UsageError, parameter
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.problems.parts import (
    SCALING_HELP,
    SCALINGS,
    Parts,
    SplitProblem,
    check_components,
    split_parts,
)

NAMED = 5
"""Most features that a message names."""


@dataclass(frozen=True)
class NpySparse(SplitProblem):
    """Your own matrix in a .npy file, with samples in rows as for `npy-stochastic-pca`.

    Its transpose is the family's A, features by samples. It is read into memory as a whole, split
    at random where a test part is asked for, and scaled by the training part. Features that do
    not vary there are refused: dropping them would renumber the others.
    """

    name = "npy-sparse"

    path: str = parameter(help="the .npy file: a matrix (samples, features) of real numbers")
    m: int = parameter(5, help="components sought", low=1)
    scaling: str = parameter(
        "standardized", help=f"{SCALING_HELP}, or none", choices=(*SCALINGS, "none")
    )
    test: float = parameter(
        0.0, help="share of the samples held out for the judge", low=0.0, below=1.0
    )

    @property
    def samples(self) -> int | None:
        """The number of training samples, from the file's header; None where it cannot be read."""
        try:
            n = len(npy.mapped(self.path))
        except DataError:
            return None
        return n - self._held_out(n)

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        """Return the instance; `rng` draws the split, and the order for streaming methods.

        Raises
        ------
        DataError
            Where the file is missing, or holds no matrix of finite real numbers; where a feature
            does not vary in the training part; names it.
        UsageError
            On more components than features or training samples.
        """
        rows = npy.mapped(self.path)
        n, d = rows.shape
        held_out = self._held_out(n)
        if self.test and not held_out:
            raise UsageError(f"test = {self.test:g} of {n} samples is less than one sample")
        check_components(self.m, d, n - held_out)
        try:
            parts = split_parts(rows, held_out, self.scaling, rng)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None
        _refuse_dropped(parts, d, self.path)
        return self.instance(parts, rng)

    def checksum(self) -> str:
        """Return `orthobench_kit.data.npy.checksum` of the file, which does not read every byte."""
        return npy.checksum(self.path)

    def _held_out(self, n: int) -> int:
        return round(n * self.test)


def _refuse_dropped(parts: Parts, d: int, path: str) -> None:
    dropped = np.setdiff1d(np.arange(d), parts.features)
    if not len(dropped):
        return
    names = ", ".join(map(str, dropped[:NAMED]))
    more = f" and {len(dropped) - NAMED} more" if len(dropped) > NAMED else ""
    raise DataError(
        f"{path}: features {names}{more} (columns counted from 0) have the same value in all "
        f"{len(parts.train)} training samples; save the matrix without these columns"
    )
