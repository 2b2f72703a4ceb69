"""Base of the problems of sparse PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, DataError, Instance, UsageError, parameter
from orthobench.tools.arrays import check_rows
from orthobench_sparse_pca import SparsePCA, SparsePCAOracle, sparse_pca

SCALINGS = ("standardized", "centred")
"""Values of the parameter ``scaling``: see `scaled`."""

SCALING_HELP = "every feature to mean 0 and variance 1, or to mean 0 only"
CARDINALITY_HELP = "number of non-zero loadings; none: by the penalty of each solver"

Rows: TypeAlias = NDArray[np.intp]
"""Indices of rows or columns."""


@dataclass(frozen=True)
class Parts:
    """The scaled training samples (N, d) and test samples (M, d) of an instance.

    `features` are the columns of the data that vary in the training part.
    """

    train: Array
    test: Array | None
    features: Rows


@dataclass(frozen=True, kw_only=True)
class SplitProblem(SparsePCA):
    """Base of problems with a training part and an optional test part."""

    passes: int = parameter(1, help="passes of streaming methods over the training samples", low=1)
    cardinality: int | None = parameter(None, help=CARDINALITY_HELP, low=1)
    each: bool = parameter(True, help="whether cardinality is that of each component, or in all")

    def instance(self, parts: Parts, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        """Return the instance."""
        return sparse_pca(
            parts.train, self.m, parts.test, center=False,
            passes=self.passes, order=rng.permutation(len(parts.train)),
            cardinality=self.cardinality, each=self.each,
        )  # fmt: skip


def check_components(m: int, d: int, samples: int) -> None:
    """Refuse more components than features or training samples: UsageError."""
    if samples < 1:
        raise UsageError("the test part takes all samples: nothing is left to train on")
    if m > min(d, samples):
        raise UsageError(
            f"m = {m} is too many components: there are {d} features and {samples} training "
            f"samples, so m is at most {min(d, samples)}"
        )


def split(n: int, held_out: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return the rows of a random training part and test part."""
    order = rng.permutation(n)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def split_parts(
    X: NDArray[np.generic], held_out: int, scaling: str, rng: np.random.Generator
) -> Parts:
    """Split samples X (n, d) at random, and scale both parts: see `scaled`.

    DataError if a sample is not finite, or no feature varies.
    """
    check_rows(X.astype(np.float64, copy=False))
    train, test = split(len(X), held_out, rng)
    held = X[test].astype(np.float64) if held_out else None
    return scaled(X[train].astype(np.float64), held, scaling)


def scaled(train: Array, test: Array | None, scaling: str) -> Parts:
    """Centre and scale both parts by the training part, and drop features constant there.

    ``standardized``: every feature of the training part (N, d) to mean 0 and variance 1 (the mean
    of N squares); ``centred``: to mean 0; ``none``: unchanged.
    """
    centre = train.mean(axis=0)
    deviation = np.sqrt(np.mean((train - centre) ** 2, axis=0))
    # a rounded mean gives a constant a deviation
    features = np.flatnonzero((train.min(axis=0) < train.max(axis=0)) & (deviation > 0))
    if not len(features):
        raise DataError(f"no feature varies over the {len(train)} training samples")
    shift = np.zeros_like(centre) if scaling == "none" else centre
    unit = deviation if scaling == "standardized" else np.ones_like(deviation)

    def applied(part: Array) -> Array:
        moved: Array = (part[:, features] - shift[features]) / unit[features]
        return moved

    return Parts(applied(train), None if test is None else applied(test), features)
