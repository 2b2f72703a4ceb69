"""Principal components by the smaller Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, flops
from orthobench_pca.base import DirectSolver, Found
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.scatter import (
    inner_products,
    leading,
    refuse_large,
    right_vectors,
    scatter,
)


@dataclass(frozen=True)
class GramPCA(DirectSolver):
    """Leading eigenvectors of Z'Z, or of ZZ' if rows are fewer than columns.

    Singular values below 1e-8 of the first (3e-4 in float32) are lost.

    Notes
    -----
    Flops: rd² for the symmetric product of r rows and d columns, d the smaller, and 9d³, nominal:
    Lanczos iterations find few eigenvectors of a large matrix. Memory: 2d² numbers. One pass; two
    if X is sparse or rows are fewer than columns.
    """

    name: ClassVar[str] = "gram-pca"
    source: ClassVar[str] = "Golub and Van Loan 2013, section 8.6"

    def check(self, oracle: PCAOracle) -> None:
        refuse_large(oracle)

    def components(self, oracle: PCAOracle, rng: np.random.Generator) -> Found:
        rows, d, k = oracle.rows, oracle.n, oracle.k
        if d <= rows:
            return Found(leading(scatter(oracle), k)[1], rows * d * d + flops.eigh(d), 0.0)
        values, left = leading(inner_products(oracle), k)
        found = right_vectors(oracle, left[:, : _rank(values, rows)])
        spent = rows * rows * d + flops.eigh(rows) + flops.gemm(d, k, rows)
        return Found(found, spent, 0.0)


def _rank(values: Array, rows: int) -> int:
    floor = rows * float(np.finfo(values.dtype).eps) * float(values[0])
    return int(np.count_nonzero(values > floor))
