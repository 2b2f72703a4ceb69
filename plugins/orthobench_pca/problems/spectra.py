"""Matrices with given singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array, Instance, UsageError, parameter
from orthobench_pca.maker import pca
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.problems.matrices import (
    PrincipalComponents,
    columns_parameter,
    components_parameter,
    precision_parameter,
    rows_parameter,
)

CLUSTER, SPREAD = 5, 1e-6
"""Number of singular values in a cluster, and their relative distance."""


@dataclass(frozen=True)
class SpectrumSVD(PrincipalComponents):
    """X = `unit` USV' with random orthonormal U and V, and singular values s, i from 0.

    - ``power``: 1 / (i + 1).

    - ``flat``: from 1 to 0.5.

    - ``clustered``: clusters of five up to 1e-6 apart, each .8 of the one before.

    - ``low-rank``: .7^i for the first k // 2 (at least one); the others are zero.
    """

    name = "spectrum-svd"

    n: int = rows_parameter(1000)
    d: int = columns_parameter(300)
    k: int = components_parameter(10)
    spectrum: str = parameter(
        "power", help="singular values", choices=("power", "flat", "clustered", "low-rank")
    )
    unit: float = parameter(1.0, help="the first singular value", above=0.0)
    dtype: str = precision_parameter()
    center: bool = parameter(False, help="whether means are subtracted")

    def build(self, rng: np.random.Generator) -> Instance[PCAOracle]:
        side = min(self.n, self.d)
        if self.k > side:
            raise UsageError(f"k = {self.k} components of {self.n} rows, {self.d} columns")
        U, V = (np.linalg.qr(rng.standard_normal((m, side)))[0] for m in (self.n, self.d))
        X = (U * (self.unit * singular_values(self.spectrum, side, self.k))) @ V.T
        return pca(X.astype(self.dtype), self.k, self.center, self.scale)


def singular_values(spectrum: str, count: int, k: int) -> Array:
    """Return the singular values of a spectrum (count,), descending, the first 1."""
    i = np.arange(count)
    if spectrum == "power":
        return np.asarray(1 / (i + 1.0))
    if spectrum == "clustered":
        return np.asarray(0.8 ** (i // CLUSTER) * (1 - SPREAD * (i % CLUSTER)))
    if spectrum == "low-rank":
        return np.where(i < max(1, k // 2), 0.7**i, 0.0)
    return np.linspace(1, 0.5, count)


@dataclass(frozen=True)
class SparseSVD(PrincipalComponents):
    """Sparse matrices in CSR format.

    - ``random``: n x d standard normal numbers, of a given density.
    - ``survey``: n x d, five entries a row in neighbouring columns, columns in units from 1 to
      1e-3, as in surveying.

    - ``difference``: d x d second differences with singular values 2 - 2 cos(i pi / (d + 1)), the
      largest close together.
    """

    name = "sparse-svd"

    n: int = rows_parameter(5000)
    d: int = columns_parameter(1000)
    k: int = components_parameter(10)
    kind: str = parameter(
        "random", help="places of the entries", choices=("random", "survey", "difference")
    )
    density: float = parameter(0.005, help="share of nonzeros if random", above=0.0, high=1.0)
    center: bool = parameter(False, help="whether means are subtracted")

    def build(self, rng: np.random.Generator) -> Instance[PCAOracle]:
        from scipy import sparse

        n, d = self.n, self.d
        if self.kind == "difference":
            n = d
            X = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(d, d), format="csr")
        elif self.kind == "random":
            X = sparse.random(n, d, self.density, format="csr", random_state=rng)
            X.data = rng.standard_normal(X.nnz)
        else:
            columns = (rng.integers(d, size=(n, 1)) + np.arange(5)) % d
            entries = rng.standard_normal((n, 5)) * (10 ** -(3 * rng.random(d)))[columns]
            rows = np.repeat(np.arange(n), 5)
            X = sparse.csr_matrix((entries.ravel(), (rows, columns.ravel())), shape=(n, d))
        if self.k > min(n, d):
            raise UsageError(f"k = {self.k} components of {n} rows, {d} columns")
        return pca(X, self.k, self.center, self.scale)
