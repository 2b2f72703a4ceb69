"""Checks, random splits, and independent generators."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data.normalization import normalization_of
from orthobench_kit.sources import ArraySource

from orthobench.contract import DataError, Instance, SampleOracle, UsageError
from orthobench_stochastic_pca import stochastic_pca

Rows: TypeAlias = NDArray[np.intp]
"""Indices of rows."""

PASSES_HELP = "passes over the training part"


def check_dimension(k: int, d: int) -> None:
    """Raise `UsageError` if a subspace has more dimensions than its space, k > d."""
    if k > d:
        raise UsageError(f"k = {k} is more than the data's dimension d = {d}")


def independent(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator seeded from `rng` that is independent of its next numbers.

    The harness may draw samples from a generator that is seeded like `rng`.
    """
    return np.random.default_rng(rng.integers(2**32, size=8))


def split(n: int, rng: np.random.Generator) -> tuple[Rows, Rows, Rows]:
    """Return the rows of a random 40/20/40 split: training, validation, test.

    Raises
    ------
    DataError
        On fewer than 5 rows.
    """
    if n < 5:
        raise DataError(f"{n} rows are too few for a 40/20/40 split: 5 are needed")
    order = rng.permutation(n)
    train, validation = 2 * n // 5, n // 5
    return order[:train], order[train : train + validation], order[train + validation :]


def normalized_split(
    X: NDArray[np.generic], k: int, normalization: str, passes: int, rng: np.random.Generator
) -> Instance[SampleOracle]:
    """Return the instance of a data set X (n, d): normalized over all rows, then split 40/20/40.

    As in section 6 of Arora, Cotter and Srebro (2013). X keeps its dtype.
    """
    centre, scale = normalization_of(X, normalization)
    train, validation, test = split(len(X), rng)
    return stochastic_pca(
        ArraySource(X, train, passes, scale, centre),
        k,
        validation=ArraySource(X, validation, scale=scale, centre=centre),
        test=ArraySource(X, test, scale=scale, centre=centre),
    )
