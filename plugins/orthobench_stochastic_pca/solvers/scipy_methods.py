"""Leading singular vectors by scipy's iterative solvers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arpack import restarting_with
from orthobench_kit.rerun import Batch, BatchState

from orthobench.contract import Array, flops, orthonormalize, parameter

NULL = 1e-13
"""Singular value that is rounding, relative to the largest."""


@dataclass(frozen=True)
class ScipySVDS(Batch):
    """scipy's svds of all samples so far: ARPACK, to machine precision, from a fixed vector.

    ARPACK finds fewer vectors than rows and columns; for all of them it is LAPACK's decomposition.

    Notes
    -----
    4nd flops for each product with X'X or XX': at least max(2k + 1, 20), if the dimension is as
    large. ARPACK's other work is not counted. Memory: the samples, and as many vectors.

    References
    ----------
    Lehoucq, Sorensen and Yang 1998, *ARPACK users' guide*.
    """

    name: ClassVar[str] = "scipy-svds"
    source: ClassVar[str] = "scipy: scipy.sparse.linalg.svds"
    doi: ClassVar[str] = "10.1038/s41592-019-0686-2"
    packages: ClassVar[tuple[str, ...]] = ("scipy",)

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        from scipy.sparse.linalg import svds

        if k >= min(X.shape):
            _, values, right = np.linalg.svd(X, full_matrices=False)
            rank = np.count_nonzero(values > NULL * values.max(initial=0.0))
            return right[:rank].T, flops.svd(*X.shape)
        rng = np.random.default_rng(state.seed)
        v0 = rng.standard_normal(min(X.shape))
        counted = _CountedMatrix(X)
        with restarting_with(rng):
            _, values, right = svds(counted.operator(), k, v0=v0, solver="arpack")
        kept = np.argsort(-values)[: np.count_nonzero(values > NULL * values.max())]
        return orthonormalize(right[kept].T), flops.gemm(len(X), counted.products, X.shape[1])


@dataclass(frozen=True)
class ScipyLOBPCG(Batch):
    """scipy's lobpcg on the second moment of all samples so far, from the common start.

    The moment X'X is formed, or XX' if there are fewer samples than features, and scaled to trace
    one, since tolerances are absolute. If d < 5k scipy uses LAPACK instead.

    Notes
    -----
    2nd² flops for the moment; for an iteration 2d²k + 36dk² + 9(3k)³; n and d change places if n <
    d, and 4ndk is added.

    References
    ----------
    Knyazev 2001, "Toward the optimal preconditioned eigensolver: locally optimal block
    preconditioned conjugate gradient method", Algorithm 5.1.
    """

    tolerance: float = parameter(1e-12, help="relative residual to end at", above=0.0)
    iterations: int = parameter(200, help="maximum number of iterations", low=1)

    name: ClassVar[str] = "scipy-lobpcg"
    source: ClassVar[str] = "scipy: scipy.sparse.linalg.lobpcg"
    doi: ClassVar[str] = "10.1038/s41592-019-0686-2"
    packages: ClassVar[tuple[str, ...]] = ("scipy",)

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        from scipy.sparse.linalg import lobpcg

        X, wide = X / np.linalg.norm(X), len(X) < X.shape[1]
        rows = X.T if wide else X
        start = X @ state.start[:, :k] if wide else state.start[:, :k].copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it did not converge, or used LAPACK
            _, vectors, *residuals = lobpcg(
                rows.T @ rows, start, tol=self.tolerance, maxiter=self.iterations, largest=True,
                retResidualNormsHistory=True,
            )  # fmt: skip
        n, d = rows.shape
        each = flops.gemm(d, k, d) + 36 * d * k**2 + flops.eigh(3 * k)
        count = len(residuals[0]) * each if residuals else flops.eigh(d)
        count += flops.gemm(d, d, n) + 2 * flops.gemm(n, k, d) * wide
        return orthonormalize(X.T @ vectors if wide else np.asarray(vectors)), count


class _CountedMatrix:
    """A matrix that counts its products with vectors."""

    def __init__(self, X: Array) -> None:
        self.X, self.products = X, 0

    def operator(self) -> Any:
        """Return the linear operator for scipy."""
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(self.X.shape, self._times, self._transposed, dtype=self.X.dtype)

    def _times(self, v: Array) -> Array:
        self.products += 1
        return self.X @ v

    def _transposed(self, v: Array) -> Array:
        self.products += 1
        return self.X.T @ v
